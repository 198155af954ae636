/* pool.c - embeddings of chunks: sums of hidden vectors, and what follows */
#include <string.h>

#include "core/mem.h"
#include "graph/head.h"
#include "session/chunks.h"
#include "session/session.h"

size_t
session_n_pools(const struct gg_chunk *c)
{
    if (!c->embed.values)
        return 0;
    return session_pools_each(c) ? c->n : 1;
}

bool
session_start_pools(struct gg_session *s, const struct gg_chunk *chunks,
                    size_t n_chunks)
{
    size_t n = 0;

    for (size_t i = 0; i < n_chunks; i++)
        n += session_n_pools(&chunks[i]) * (size_t)s->model->hp.n_embd;
    if (n == 0)
        return true;
    if (!mem_grow(&s->pools, &s->cap_pools, n, sizeof(*s->pools)))
        return false;
    memset(s->pools, 0, n * sizeof(*s->pools));
    return true;
}

/* The head that follows the pooling of the chunk. */
static const struct model_head *
head_of(const struct gg_session *s, const struct gg_chunk *c)
{
    static const struct model_head none;

    if (c->embed.pooling == GG_POOL_NONE)
        return &none;
    return session_pools_scores(c) ? &s->model->rank : &s->model->dense;
}

/* Room for a vector and for two of the head's, which is longer at times. */
static bool
room_for_heads(struct gg_session *s)
{
    const struct model *m = s->model;
    int32_t a = graph_head_room(&m->dense, m->hp.n_embd);
    int32_t b = graph_head_room(&m->rank, m->hp.n_embd);
    size_t n = (size_t)(a > b ? a : b);

    return mem_grow(&s->head, &s->cap_head, 2 * n, sizeof(*s->head)) &&
           mem_grow(&s->head_row, &s->cap_head_row, n, sizeof(*s->head_row));
}

/* One vector: the mean, and what follows it. Returns its length. */
static size_t
finish_pool(struct gg_session *s, const struct gg_chunk *c, const double *pool,
            float *to)
{
    const struct model_hparams *hp = &s->model->hp;
    const struct model_head *head = head_of(s, c);
    bool mean =
        c->embed.pooling == GG_POOL_MEAN ||
        (c->embed.pooling == GG_POOL_RANK && hp->rank_pooling == GG_POOL_MEAN);
    int32_t n = graph_head_length(head, hp->n_embd);

    for (int32_t j = 0; j < hp->n_embd; j++)
        s->head[j] = pool[j] / (mean ? (double)c->n : 1);
    graph_head_apply(head, hp->eps, s->head, s->head + s->cap_head / 2,
                     s->head_row);
    for (int32_t j = 0; j < n; j++)
        to[j] = (float)s->head[j];
    return (size_t)n;
}

size_t
session_width(const struct gg_session *s)
{
    return (size_t)s->model->hp.n_embd;
}

bool
session_finish_mean(struct gg_session *s, const double *sum, size_t n,
                    float *to)
{
    struct gg_chunk all = { .n = n, .embed.pooling = GG_POOL_MEAN };

    if (!room_for_heads(s))
        return false;
    finish_pool(s, &all, sum, to);
    return true;
}

bool
session_finish_pools(struct gg_session *s, const struct gg_chunk *chunks,
                     size_t n_chunks)
{
    size_t n_embd = (size_t)s->model->hp.n_embd, at = 0;

    if (!room_for_heads(s))
        return false;
    for (size_t i = 0; i < n_chunks; i++) {
        float *to = chunks[i].embed.values;

        for (size_t j = 0; j < session_n_pools(&chunks[i]); j++, at += n_embd)
            to += finish_pool(s, &chunks[i], s->pools + at, to);
    }
    return true;
}
