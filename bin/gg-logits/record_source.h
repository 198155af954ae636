/* record_source.h - records from a file of any form */
#ifndef LOGITS_RECORD_SOURCE_H
#define LOGITS_RECORD_SOURCE_H

#include "gg-logits/forms.h"

struct record_source;

/* The form of `fd` is told by its first bytes. `fd` and `name` stay the
 * caller's. */
enum gg_status
record_source_open(struct record_source **out, int fd, const char *name,
                   struct gg_error *err);
void
record_source_close(struct record_source *s);

/* As gg_logit_read(). */
enum gg_status
record_source_read(struct record_source *s, struct gg_logit_record *record,
                   struct gg_error *err);

enum form
record_source_form(const struct record_source *s);

#endif
