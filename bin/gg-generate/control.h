/* control.h - records that ask for no answer of the model: they are answered
 * at once */
#ifndef GENERATE_CONTROL_H
#define GENERATE_CONTROL_H

#include "common/json.h"
#include "gg-generate/inbox.h"

struct records;

/* True for an object with one of their members, and no prompt. *no_memory: it
 * cannot be read. */
bool
control_is(const char *text, size_t len, bool *no_memory);

/* Whether it cancels a record whose prompt is being evaluated. */
bool
control_is_urgent(const struct records *w, const struct inbox_item *item);

void
control_do(struct records *w, const struct inbox_item *item);

#ifdef HAVE_JANSSON
/* Adds the members `ids` and, where the value asks for these, `tokens`, of a
 * text, or of an object that has one. */
enum gg_status
control_tokenize(const struct gg_vocab *v, const json_t *value,
                 struct buffer *line, struct gg_error *err);
void
control_add_ids(struct buffer *line, const int32_t *ids, size_t n);
#endif

#endif
