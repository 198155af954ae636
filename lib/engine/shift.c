/* shift.c - context shift: dropping the oldest ids of a full context */
#include "engine/shift.h"

#include <string.h>

size_t
engine_shift_kept(size_t n, int32_t first, int32_t bos)
{
    return n > 0 && bos >= 0 && first == bos;
}

size_t
engine_shift_count(size_t n, size_t kept, size_t more, size_t n_ctx)
{
    size_t rest = n - kept;

    if (more > n_ctx || kept > n_ctx - more)
        return 0;
    while (rest > n_ctx - more - kept)
        rest /= 2;
    return n - kept - rest;
}

void
engine_shift_ids(int32_t *ids, size_t n, size_t kept, size_t count)
{
    memmove(ids + kept, ids + kept + count, (n - kept - count) * sizeof(*ids));
}
