/* shift.h - making room in a context that is full: --shift
 *
 * A leading BOS stays; of the ids after it the older half is dropped, again if
 * need be, until the new ones fit. What is left is evaluated again from its
 * ids, as a context of its own: that is right for every family of models. */
#ifndef COMMON_SHIFT_H
#define COMMON_SHIFT_H

#include <stddef.h>
#include <stdint.h>

/* Of a context of `n` ids, the first of which is `first`: how many stay at the
 * front whatever is dropped. `bos` is the vocabulary's, or -1. */
size_t
shift_kept(size_t n, int32_t first, int32_t bos);

/* How many ids after the first `kept` of `n` must go, so that `more` fit
 * behind the rest. 0: they fit as it is, or cannot fit at all. */
size_t
shift_count(size_t n, size_t kept, size_t more, size_t n_ctx);

/* Takes `count` ids out of ids[0..n) after the first `kept`. */
void
shift_ids(int32_t *ids, size_t n, size_t kept, size_t count);

#endif
