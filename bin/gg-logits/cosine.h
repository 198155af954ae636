/* cosine.h - how near vectors are to a few others */
#ifndef LOGITS_COSINE_H
#define LOGITS_COSINE_H

#include "gg-logits/record_source.h"

/* The cosine of the angle between two vectors; of what has no length with what
 * has none 1, else 0. NaN: some value is not finite. */
double
cosine(const float *a, const float *b, size_t n);

/* Writes a line for each record of `source`: its sequence, and the cosine of
 * its angle with each vector of `others`, in their order; or, with `top`, a
 * line for each of the `top` nearest. Names are for messages. Returns
 * the status to exit with. */
int
near_run(struct record_source *source, const char *name,
         struct record_source *others, const char *other_name, size_t top);

#endif
