/* compressed.c - rows that stand for blocks of positions
 *
 * Each segment goes on from the columns that its slot keeps, so that a block
 * may begin and end in different batches. Rows are written of as many blocks as
 * a segment of its length can complete: if it completes one less, the last is
 * unfinished, and is written anew before anybody sees it. */
#include "graph/compressed.h"

#include "graph/recurrence.h"

static struct ggml_tensor *
take_columns(struct graph *g, const struct graph_segment *s, int32_t layer,
             const void *data)
{
    struct ggml_tensor *x = *(struct ggml_tensor *const *)data;
    struct ggml_tensor *rows = g->cache->layers[layer].states[CACHE_CONV];
    int64_t before = g->model->hp.layers[layer].d_conv - 1, n = x->ne[0];
    struct ggml_tensor *kept, *own, *all, *last;

    kept = ggml_view_2d(g->ctx, rows, n, before, (size_t)n * rows->nb[0],
                        (size_t)s->slot * rows->nb[1]);
    own =
        ggml_view_2d(g->ctx, x, n, s->n, x->nb[1], (size_t)s->first * x->nb[1]);
    all = ggml_concat(g->ctx, kept, own, 1);
    last = ggml_view_2d(g->ctx, all, n, before, all->nb[1],
                        (size_t)s->n * all->nb[1]);
    ggml_build_forward_expand(g->cgraph, ggml_cpy(g->ctx, last, kept));
    return ggml_get_rows(g->ctx, all,
                         s->blocks[graph_compression_of(g, layer)].columns);
}

struct ggml_tensor *
graph_block_columns(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    int c = graph_compression_of(g, layer);
    int64_t wide = graph_compressed_columns(&g->model->hp.compressions[c]);

    x = graph_each_segment(g, layer, take_columns, &x);
    return ggml_reshape_3d(g->ctx, x, x->ne[0], wide, g->blocks[c].n);
}

/* Channels first .. first + d - 1 of n columns of each block. */
static struct ggml_tensor *
channels_of(struct graph *g, struct ggml_tensor *x, int64_t first, int64_t d,
            int64_t column, int64_t n)
{
    return ggml_view_3d(g->ctx, x, d, n, x->ne[2], x->nb[1], x->nb[2],
                        (size_t)first * x->nb[0] + (size_t)column * x->nb[1]);
}

/* With a bias, channels x ratio, or NULL. */
static struct ggml_tensor *
biased_part(struct graph *g, int32_t layer, struct ggml_tensor *columns,
            int64_t first, int64_t d, struct ggml_tensor *bias)
{
    const struct model_compression *how =
        &g->model->hp.compressions[graph_compression_of(g, layer)];
    struct ggml_tensor *halves[2];
    int n = how->overlaps ? 2 : 1;

    for (int i = 0; i < n; i++) {
        halves[i] = channels_of(g, columns, first + i * d, d,
                                (int64_t)i * how->ratio, how->ratio);
        if (bias)
            halves[i] =
                ggml_add(g->ctx, halves[i],
                         ggml_view_2d(g->ctx, bias, d, how->ratio, bias->nb[1],
                                      (size_t)(i * d) * bias->nb[0]));
    }
    return n == 1 ? halves[0] : ggml_concat(g->ctx, halves[0], halves[1], 1);
}

struct ggml_tensor *
graph_block_part(struct graph *g, int32_t layer, struct ggml_tensor *columns,
                 int64_t first, int64_t d)
{
    return biased_part(g, layer, columns, first, d, NULL);
}

/* A channel's columns side by side. */
static struct ggml_tensor *
by_channel(struct graph *g, struct ggml_tensor *x)
{
    return ggml_cont(g->ctx, ggml_permute(g->ctx, x, 1, 0, 2, 3));
}

struct ggml_tensor *
graph_compress(struct graph *g, int32_t layer, struct ggml_tensor *columns,
               const struct graph_compressor *c)
{
    int k = graph_compression_of(g, layer);
    struct ggml_tensor *absent = g->blocks[k].absent, *bias = c->bias, *x, *p;
    int64_t wide = absent ? 2 * c->d : c->d, n = columns->ne[2];

    if (bias->type != GGML_TYPE_F32)
        bias = ggml_cast(g->ctx, bias, GGML_TYPE_F32);
    x = by_channel(g, biased_part(g, layer, columns, c->first, c->d, NULL));
    p = by_channel(g,
                   biased_part(g, layer, columns, c->first + wide, c->d, bias));
    if (absent)
        p = ggml_add(g->ctx, p,
                     ggml_reshape_3d(g->ctx, absent, absent->ne[0], 1, n));
    x = ggml_mul(g->ctx, x, ggml_soft_max(g->ctx, p));
    x = ggml_reshape_2d(g->ctx, ggml_sum_rows(g->ctx, x), c->d, n);
    return graph_norm(g, x, c->norm);
}

struct ggml_tensor *
graph_rope_blocks(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_rope *r = g->model->layers[layer].rope;

    return r ? graph_rope_at(
                   g, r, x, g->blocks[graph_compression_of(g, layer)].positions)
             : x;
}

void
graph_keep_blocks(struct graph *g, int32_t layer, enum cache_tensor of,
                  struct ggml_tensor *x)
{
    struct ggml_tensor *to = g->cache->layers[layer].t[of];
    int64_t d = x->ne[0], n = x->ne[1];

    x = graph_rotate(g, layer, of, ggml_reshape_3d(g->ctx, x, d, 1, n));
    x = ggml_reshape_3d(g->ctx, x, d, n, 1);
    ggml_build_forward_expand(
        g->cgraph,
        ggml_set_rows(g->ctx, to, x,
                      g->blocks[graph_compression_of(g, layer)].cells));
}

struct ggml_tensor *
graph_kept_blocks(struct graph *g, const struct graph_segment *s, int32_t layer,
                  enum cache_tensor of)
{
    int c = graph_compression_of(g, layer);
    struct ggml_tensor *t = g->cache->layers[layer].t[of];
    const struct cache_part *p = &g->cache->parts[graph_compressed_part(c)];

    return ggml_view_3d(g->ctx, t, t->ne[0], s->blocks[c].n_rows, t->ne[2],
                        t->nb[1], t->nb[2],
                        (size_t)s->slot * (size_t)p->n_rows * t->nb[1]);
}
