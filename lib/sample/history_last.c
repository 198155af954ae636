/* history_last.c - the last ids of a history */
#include "sample/history.h"

/* -1: all */
size_t
sample_history_reach(int32_t last)
{
    return last < 0 ? SIZE_MAX : (size_t)last;
}

const int32_t *
sample_history_last(const struct gg_history *h, int32_t last, size_t *n)
{
    *n = h->n < sample_history_reach(last) ? h->n : sample_history_reach(last);
    return *n ? h->ids + (h->n - *n) : NULL;
}
