/* source.h - records from a file of any form */
#ifndef LOGITS_SOURCE_H
#define LOGITS_SOURCE_H

#include "gg-logits/forms.h"

struct source;

/* What `fd` holds is told by its first bytes. `fd` and `name` stay the
 * caller's. */
enum gg_status
source_open(struct source **out, int fd, const char *name,
            struct gg_error *err);
void
source_close(struct source *s);

/* As gg_logit_read(). */
enum gg_status
source_read(struct source *s, struct gg_logit_record *record,
            struct gg_error *err);

enum form
source_form(const struct source *s);

#endif
