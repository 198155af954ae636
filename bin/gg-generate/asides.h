/* asides.h - what records want of the model other than texts: which choice is
 * likeliest, how likely a prompt is, embeddings. With --unordered it is done a
 * piece at a time, between the steps of texts */
#ifndef GENERATE_ASIDES_H
#define GENERATE_ASIDES_H

#include "gg-generate/run.h"

/* Does a piece of the first one, and ends its record where that was all. */
void
asides_step(struct records *w);

/* Frees an aside that is not wanted any more. */
void
asides_close(struct aside *a);

#endif
