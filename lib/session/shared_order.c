/* shared_order.c - chunks whose slots have rows in common, side by side: what
 * segments side by side have in common is read once */
#include <stdlib.h>

#include "core/mem.h"
#include "session/impl.h"
#include "session/shared_rows.h"

struct ordered {
    const int32_t *owners; /* of the slot's blocks */
    int32_t n;
    size_t at; /* among the chunks */
};

/* Slots that begin in the same way are neighbours; chunks of one slot stay in
 * order. */
static int
compare_owners(const void *a, const void *b)
{
    const struct ordered *x = a, *y = b;

    for (int32_t i = 0; i < x->n; i++)
        if (x->owners[i] != y->owners[i])
            return x->owners[i] < y->owners[i] ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

/* Whether one of the slots refers to a block of another. */
static bool
find_owners(const struct gg_session *s, const struct gg_chunk *chunks, size_t n,
            struct ordered *list)
{
    const struct cache_part *p = &s->cache.parts[CACHE_ALL];
    int32_t n_blocks = p->n_rows / CACHE_BLOCK;
    bool any = false;

    for (size_t i = 0; i < n; i++) {
        int32_t slot = chunks[i].slot;

        list[i] = (struct ordered){ p->owners + slot * n_blocks, n_blocks, i };
        any = any || list[i].owners[0] != slot;
    }
    return any;
}

struct gg_chunk *
session_shared_order(const struct gg_session *s, const struct gg_chunk *chunks,
                     size_t n)
{
    struct ordered *list = NULL;
    struct gg_chunk *out = NULL;

    if (n > 2 && s->cache.parts[CACHE_ALL].owners)
        list = mem_array(n, sizeof(*list));
    if (list && find_owners(s, chunks, n, list))
        out = mem_array(n, sizeof(*out));
    if (out) {
        qsort(list, n, sizeof(*list), compare_owners);
        for (size_t i = 0; i < n; i++)
            out[i] = chunks[list[i].at];
    }
    mem_free(list);
    return out;
}
