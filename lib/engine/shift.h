/* shift.h - context shift: dropping the oldest ids of a full context */
#ifndef ENGINE_SHIFT_H
#define ENGINE_SHIFT_H

#include <stddef.h>
#include <stdint.h>

/* How many of the first ids of a context stay: BOS, if it begins with it. */
size_t
engine_shift_kept(size_t n, int32_t first, int32_t bos);

/* How many ids must go after the first `kept` of n, so that `more` have room in
 * n_ctx: half of the rest, and again. 0: nothing helps. */
size_t
engine_shift_count(size_t n, size_t kept, size_t more, size_t n_ctx);

/* Moves ids[0..n) over the `count` that go after the first `kept`. */
void
engine_shift_ids(int32_t *ids, size_t n, size_t kept, size_t count);

#endif
