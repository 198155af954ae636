/* room.c - how much memory the slots' rows take, and giving it back */
#include "core/mem.h"
#include "session/impl.h"
#include "session/recurrent.h"
#include "session/session.h"

/* Bytes of what the layer keeps of a position. */
static size_t
row_of_layer(const struct cache_layer *l)
{
    size_t row = 0;

    for (int k = 0; k < CACHE_TENSORS; k++)
        row += l->t[k] ? session_cache_row_size(l->t[k]) : 0;
    return row;
}

size_t
session_growth(const struct gg_session *s, int32_t slot, int32_t n)
{
    const struct cache *c = &s->cache;
    bool fresh = c->recurrent.n_layer > 0 && !c->recurrent.written[slot];
    size_t size = fresh && n > 0 ? session_recurrent_row_size(c) : 0;

    for (int32_t i = 0; i < c->n_all; i++) {
        const struct cache_part *p = &c->parts[c->layers[i].kind];
        int32_t rows = n < p->n_rows ? n : p->n_rows;

        if (session_cache_is_here(c, i) && rows > p->used[slot])
            size +=
                (size_t)(rows - p->used[slot]) * row_of_layer(&c->layers[i]);
    }
    return size;
}

/* The rows of a tensor in which the slot's positions are. */
static void
discard_rows(const struct cache *c, const struct cache_layer *l,
             const struct ggml_tensor *t, int32_t slot)
{
    size_t n = (size_t)c->parts[l->kind].n_rows;

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
            discard_rows(c, l, l->t[k], slot);
}

void
session_release(struct gg_session *s, int32_t slot)
{
    struct cache *c = &s->cache;

    (void)gg_session_truncate(s, slot, 0);
    for (int32_t i = 0; i < c->n_all; i++)
        if (session_cache_is_here(c, i))
            discard_layer(c, i, slot);
    for (int i = 0; i < CACHE_KINDS; i++)
        c->parts[i].used[slot] = 0;
    if (c->recurrent.n_layer > 0)
        c->recurrent.written[slot] = false;
}
