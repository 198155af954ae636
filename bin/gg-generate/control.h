/* control.h - records that ask for no answer of the model: they are answered
 * at once */
#ifndef GENERATE_CONTROL_H
#define GENERATE_CONTROL_H

#include "gg-generate/inbox.h"

struct records;

/* True for an object with one of their members, and no prompt. */
bool
control_is(const char *text, size_t len);

/* Whether it cancels a record whose prompt is being evaluated. */
bool
control_is_urgent(const struct records *w, const struct inbox_item *item);

void
control_do(struct records *w, const struct inbox_item *item);

#endif
