/* room.c - how much memory the slots' rows take, and giving it back */
#include "core/mem.h"
#include "session/impl.h"
#include "session/large_pages.h"
#include "session/recurrent.h"
#include "session/session.h"
#include "session/shared_rows.h"

/* A slot that is to have n ids, and where it gets the first of them. */
struct growth {
    int32_t slot, n;
    int32_t from, n_shared; /* from: -1: nowhere */
};

/* Rows of the part that would be written first. */
static int32_t
growth_of_part(const struct cache *c, const struct cache_part *p,
               const struct growth *g)
{
    int32_t rows = g->n / p->ratio < p->n_rows ? g->n / p->ratio : p->n_rows;

    if (p->owners)
        return session_shared_growth(c, g->slot, rows, g->from, g->n_shared);
    return rows > p->used[g->slot] ? rows - p->used[g->slot] : 0;
}

/* Bytes of the layer's rows that would be. */
static size_t
growth_of_layer(const struct cache *c, const struct cache_layer *l,
                const struct growth *g)
{
    size_t size = 0;

    for (int k = 0; k < CACHE_TENSORS; k++)
        if (l->t[k])
            size +=
                (size_t)growth_of_part(c, &c->parts[graph_part_of(l, k)], g) *
                session_cache_row_size(l->t[k]);
    return size;
}

size_t
session_growth(const struct gg_session *s, int32_t slot, int32_t n,
               int32_t from, int32_t n_shared)
{
    struct growth g = { slot, n, from == slot ? -1 : from, n_shared };
    const struct cache *c = &s->cache;
    bool fresh = c->recurrent.n_layer > 0 && !c->recurrent.written[slot];
    size_t size = fresh && n > 0 ? session_recurrent_row_size(c) : 0;

    for (int32_t i = 0; i < c->n_all; i++)
        if (session_cache_is_here(c, i))
            size += growth_of_layer(c, &c->layers[i], &g);
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
discard_layer(const struct cache *c, int32_t layer, int32_t slot)
{
    const struct cache_layer *l = &c->layers[layer];

    for (int k = 0; k < CACHE_TENSORS; k++)
        if (l->t[k] && ggml_backend_buffer_is_host(l->t[k]->buffer))
            discard_rows(&c->parts[graph_part_of(l, k)], l->t[k], slot);
}

void
session_release(struct gg_session *s, int32_t slot)
{
    struct cache *c = &s->cache;

    (void)gg_session_truncate(s, slot, 0);
    session_shared_own(c, slot, 0, c->n_ctx);
    for (int32_t i = 0; i < c->n_all; i++)
        if (session_cache_is_here(c, i))
            discard_layer(c, i, slot);
    session_shared_discard(c, slot);
    for (int i = 0; i < CACHE_PARTS; i++) {
        if (!c->parts[i].owners)
            session_large_pages_remove(c, i, slot, 0, c->parts[i].used[slot]);
        c->parts[i].used[slot] = 0;
    }
    if (c->recurrent.n_layer > 0)
        c->recurrent.written[slot] = false;
}
