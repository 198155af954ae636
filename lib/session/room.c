/* room.c - how much memory the slots' rows take, and giving it back */
#include "core/mem.h"
#include "session/impl.h"
#include "session/large_pages.h"
#include "session/recurrent.h"
#include "session/session.h"

/* Bytes of the layer's rows that would be written first, if the slot got n
 * ids. */
static size_t
growth_of_layer(const struct cache *c, const struct cache_layer *l,
                int32_t slot, int32_t n)
{
    size_t size = 0;

    for (int k = 0; k < CACHE_TENSORS; k++) {
        const struct cache_part *p = &c->parts[graph_part_of(l, k)];
        int32_t rows = n / p->ratio < p->n_rows ? n / p->ratio : p->n_rows;

        if (l->t[k] && rows > p->used[slot])
            size += (size_t)(rows - p->used[slot]) *
                    session_cache_row_size(l->t[k]);
    }
    return size;
}

size_t
session_growth(const struct gg_session *s, int32_t slot, int32_t n)
{
    const struct cache *c = &s->cache;
    bool fresh = c->recurrent.n_layer > 0 && !c->recurrent.written[slot];
    size_t size = fresh && n > 0 ? session_recurrent_row_size(c) : 0;

    for (int32_t i = 0; i < c->n_all; i++)
        if (session_cache_is_here(c, i))
            size += growth_of_layer(c, &c->layers[i], slot, n);
    return size;
}

/* The rows of a tensor of the part in which the slot's positions are. */
static void
discard_rows(const struct cache_part *p, const struct ggml_tensor *t,
             int32_t slot)
{
    size_t n = (size_t)p->n_rows;

    for (int64_t h = 0; h < t->ne[2]; h++)
        mem_discard((char *)t->data + (size_t)h * t->nb[2] +
                        (size_t)slot * n * t->nb[1],
                    n * t->nb[1]);
}

static void
discard_layer(struct cache *c, int32_t layer, int32_t slot)
{
    const struct cache_layer *l = &c->layers[layer];

    for (int k = 0; k < CACHE_TENSORS; k++) {
        int part = graph_part_of(l, k);

        if (!l->t[k] || !ggml_backend_buffer_is_host(l->t[k]->buffer))
            continue;
        discard_rows(&c->parts[part], l->t[k], slot);
        session_large_pages_remove(c, l->home, part, l->t[k], slot,
                                   c->parts[part].used[slot]);
    }
}

void
session_release(struct gg_session *s, int32_t slot)
{
    struct cache *c = &s->cache;

    (void)gg_session_truncate(s, slot, 0);
    for (int32_t i = 0; i < c->n_all; i++)
        if (session_cache_is_here(c, i))
            discard_layer(c, i, slot);
    for (int i = 0; i < CACHE_PARTS; i++)
        c->parts[i].used[slot] = 0;
    if (c->recurrent.n_layer > 0)
        c->recurrent.written[slot] = false;
}
