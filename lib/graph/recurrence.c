/* recurrence.c - layers with a recurrence: convolution and states of segments
 *
 * Each segment goes on from the row that its slot keeps, and leaves the row
 * after its last id there: the graph runs in the order of recording, so that
 * the row is read before it is written. */
#include <assert.h>
#include <math.h>

#include "graph/recurrence.h"

/* Results of segments from `first` to before `end`, of which there is one at
 * least: a graph without a session has none. Columns stand side by side; they
 * are put together in halves, so that none is copied often. */
static struct ggml_tensor *
each_segment(struct graph *g, int32_t first, int32_t end, int32_t layer,
             graph_segment_fn fn, const void *data)
{
    int32_t middle = first + (end - first) / 2;
    struct ggml_tensor *a, *b;

    assert(first < end);
    if (end - first == 1)
        return fn(g, &g->segments[first], layer, data);
    a = each_segment(g, first, middle, layer, fn, data);
    b = each_segment(g, middle, end, layer, fn, data);
    return ggml_concat(g->ctx, a, b, 1);
}

struct ggml_tensor *
graph_each_segment(struct graph *g, int32_t layer, graph_segment_fn fn,
                   const void *data)
{
    return each_segment(g, 0, g->n_segments, layer, fn, data);
}

static size_t
row_offset(const struct graph_segment *s, const struct ggml_tensor *rows)
{
    return (size_t)s->slot * rows->nb[1];
}

/* ---- convolution -------------------------------------------------------- */

static struct ggml_tensor *
segment_columns(struct graph *g, const struct graph_segment *s,
                struct ggml_tensor *x)
{
    return ggml_view_2d(g->ctx, x, x->ne[0], s->n, x->nb[1],
                        (size_t)s->first * x->nb[1]);
}

/* Some of a layer's channels. */
struct channels {
    struct ggml_tensor *x, *weight;
    int64_t first;
};

static struct ggml_tensor *
convolve(struct graph *g, const struct graph_segment *s, int32_t layer,
         const void *data)
{
    const struct channels *c = data;
    struct ggml_tensor *rows = g->cache->layers[layer].states[CACHE_CONV];
    int64_t before = g->model->hp.layers[layer].d_conv - 1, n = c->x->ne[0];
    size_t column = (size_t)before * rows->nb[0];
    struct ggml_tensor *kept, *columns, *x;

    kept = ggml_view_2d(g->ctx, rows, before, n, column,
                        row_offset(s, rows) + (size_t)c->first * column);
    x = ggml_transpose(g->ctx, segment_columns(g, s, c->x));
    columns = ggml_concat(g->ctx, kept, x, 0);
    ggml_build_forward_expand(
        g->cgraph,
        ggml_cpy(g->ctx,
                 ggml_view_2d(g->ctx, columns, before, n, columns->nb[1],
                              (size_t)s->n * columns->nb[0]),
                 kept));
    return ggml_ssm_conv(g->ctx, columns, c->weight);
}

struct ggml_tensor *
graph_short_conv_part(struct graph *g, int32_t layer, struct ggml_tensor *x,
                      struct ggml_tensor *weight, int64_t first)
{
    struct channels c = { x, weight, first };

    return graph_each_segment(g, layer, convolve, &c);
}

struct ggml_tensor *
graph_short_conv(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];

    x = graph_short_conv_part(g, layer, x, l->conv, 0);
    return l->conv_bias ? ggml_add(g->ctx, x, l->conv_bias) : x;
}

/* All channels, by columns that do not follow each other. */
struct apart {
    struct ggml_tensor *x, *weight;
    int64_t by;
};

static struct ggml_tensor *
convolve_apart(struct graph *g, const struct graph_segment *s, int32_t layer,
               const void *data)
{
    const struct apart *a = data;
    struct ggml_tensor *rows = g->cache->layers[layer].states[CACHE_APART];
    struct ggml_tensor *x = segment_columns(g, s, a->x), *sum = NULL, *one, *w;
    int64_t n = a->x->ne[0], before = (a->weight->ne[1] - 1) * a->by;

    if (before > 0) {
        one = ggml_view_2d(g->ctx, rows, n, before, (size_t)n * rows->nb[0],
                           row_offset(s, rows));
        x = ggml_concat(g->ctx, one, x, 1);
        w = ggml_view_2d(g->ctx, x, n, before, x->nb[1],
                         (size_t)s->n * x->nb[1]);
        ggml_build_forward_expand(g->cgraph, ggml_cpy(g->ctx, w, one));
    }
    for (int64_t k = 0; k < a->weight->ne[1]; k++) {
        one = ggml_view_2d(g->ctx, x, n, s->n, x->nb[1],
                           (size_t)(k * a->by) * x->nb[1]);
        w = ggml_view_1d(g->ctx, a->weight, n, (size_t)k * a->weight->nb[1]);
        one = ggml_mul(g->ctx, one, w);
        sum = sum ? ggml_add(g->ctx, sum, one) : one;
    }
    return sum;
}

struct ggml_tensor *
graph_apart_conv(struct graph *g, int32_t layer, struct ggml_tensor *x,
                 struct ggml_tensor *weight, int64_t by)
{
    struct apart a = { x, weight, by };

    return each_segment(g, 0, g->n_segments, layer, convolve_apart, &a);
}

/* ---- the gated delta rule ----------------------------------------------- */

struct ggml_tensor *
graph_unit(struct graph *g, struct ggml_tensor *x)
{
    float n = (float)x->ne[0];

    return ggml_scale(g->ctx, ggml_rms_norm(g->ctx, x, 1e-6f / n),
                      1 / sqrtf(n));
}

/* The segment's columns of x, d x heads x n_tokens. */
static struct ggml_tensor *
segment_heads(struct graph *g, const struct graph_segment *s,
              struct ggml_tensor *x)
{
    return ggml_view_4d(g->ctx, x, x->ne[0], x->ne[1], s->n, 1, x->nb[1],
                        x->nb[2], (size_t)s->n * x->nb[2],
                        (size_t)s->first * x->nb[2]);
}

/* The state after the segment, which follows what its tokens give, goes
 * to the slot's row; what they give is returned, n x s->n. */
static struct ggml_tensor *
split_result(struct graph *g, const struct graph_segment *s, int32_t layer,
             struct ggml_tensor *result, int64_t n)
{
    struct ggml_tensor *rows = g->cache->layers[layer].states[CACHE_STATE];
    size_t outs = (size_t)(n * s->n) * result->nb[0];
    struct ggml_tensor *row =
        ggml_view_1d(g->ctx, rows, rows->ne[0], row_offset(s, rows));

    ggml_build_forward_expand(
        g->cgraph,
        ggml_cpy(g->ctx, ggml_view_1d(g->ctx, result, rows->ne[0], outs), row));
    return ggml_view_2d(g->ctx, result, n, s->n, (size_t)n * result->nb[0], 0);
}

static struct ggml_tensor *
recur_delta(struct graph *g, const struct graph_segment *s, int32_t layer,
            const void *data)
{
    const struct graph_delta *d = data;
    struct ggml_tensor *rows = g->cache->layers[layer].states[CACHE_STATE];
    int64_t n = d->v->ne[0], heads = d->v->ne[1];
    size_t row = (size_t)n * rows->nb[0];
    struct ggml_tensor *state =
        ggml_view_4d(g->ctx, rows, n, n, heads, 1, row, (size_t)n * row,
                     rows->nb[1], row_offset(s, rows));
    struct ggml_tensor *r = ggml_gated_delta_net(
        g->ctx, segment_heads(g, s, d->q), segment_heads(g, s, d->k),
        segment_heads(g, s, d->v), segment_heads(g, s, d->gate),
        segment_heads(g, s, d->beta), state, 1);

    return split_result(g, s, layer, r, n * heads);
}

struct ggml_tensor *
graph_delta_net(struct graph *g, int32_t layer, const struct graph_delta *d)
{
    int64_t heads = d->v->ne[1];
    struct graph_delta parts = *d;

    parts.gate = ggml_reshape_3d(g->ctx, d->gate,
                                 ggml_nelements(d->gate) / heads / g->n_tokens,
                                 heads, g->n_tokens);
    parts.beta = ggml_reshape_3d(g->ctx, d->beta, 1, heads, g->n_tokens);
    return graph_each_segment(g, layer, recur_delta, &parts);
}

/* ---- the selective scan ------------------------------------------------- */

static struct ggml_tensor *
recur_scan(struct graph *g, const struct graph_segment *s, int32_t layer,
           const void *data)
{
    const struct graph_scan *p = data;
    struct ggml_tensor *rows = g->cache->layers[layer].states[CACHE_STATE];
    struct ggml_tensor *rates = g->model->layers[layer].ssm_a;
    int64_t n = p->b->ne[0], d = p->x->ne[0], heads = p->x->ne[1];
    struct ggml_tensor *states =
        ggml_reshape_4d(g->ctx, rows, n, d, heads, rows->ne[1]);
    struct ggml_tensor *slot = ggml_view_1d(
        g->ctx, g->slots, 1, (size_t)(s - g->segments) * g->slots->nb[0]);
    struct ggml_tensor *r;

    if (rates->ne[1] == 1) /* one a head, however files have them */
        rates = ggml_reshape_2d(g->ctx, rates, 1, rates->ne[0]);
    r = ggml_ssm_scan(
        g->ctx, states, segment_heads(g, s, p->x), segment_columns(g, s, p->dt),
        rates, segment_heads(g, s, p->b), segment_heads(g, s, p->c), slot, 1);
    return split_result(g, s, layer, r, d * heads);
}

struct ggml_tensor *
graph_scan(struct graph *g, int32_t layer, const struct graph_scan *p)
{
    return graph_each_segment(g, layer, recur_scan, p);
}

/* ---- RWKV --------------------------------------------------------------- */

/* x of the id before, and where the last one is kept. */
static struct ggml_tensor *
shift_segment(struct graph *g, const struct graph_segment *s, int32_t layer,
              const void *data)
{
    const struct channels *c = data;
    struct ggml_tensor *rows = g->cache->layers[layer].states[CACHE_CONV];
    int64_t n = c->x->ne[0];
    struct ggml_tensor *kept, *all, *last;

    kept = ggml_view_2d(g->ctx, rows, n, 1, rows->nb[1],
                        row_offset(s, rows) + (size_t)c->first * rows->nb[0]);
    all = ggml_concat(g->ctx, kept, segment_columns(g, s, c->x), 1);
    last =
        ggml_view_2d(g->ctx, all, n, 1, all->nb[1], (size_t)s->n * all->nb[1]);
    ggml_build_forward_expand(g->cgraph, ggml_cpy(g->ctx, last, kept));
    return ggml_view_2d(g->ctx, all, n, s->n, all->nb[1], 0);
}

struct ggml_tensor *
graph_shift(struct graph *g, int32_t layer, struct ggml_tensor *x,
            int64_t first)
{
    struct channels c = { x, NULL, first };

    return graph_each_segment(g, layer, shift_segment, &c);
}

static struct ggml_tensor *
heads_of(struct graph *g, const struct graph_segment *s, struct ggml_tensor *x)
{
    return ggml_view_3d(g->ctx, x, x->ne[0], x->ne[1], s->n, x->nb[1], x->nb[2],
                        (size_t)s->first * x->nb[2]);
}

static struct ggml_tensor *
recur_wkv(struct graph *g, const struct graph_segment *s, int32_t layer,
          const void *data)
{
    const struct graph_wkv *p = data;
    struct ggml_tensor *rows = g->cache->layers[layer].states[CACHE_STATE];
    struct ggml_tensor *first = g->model->layers[layer].rwkv.first;
    struct ggml_tensor *r = heads_of(g, s, p->r), *w = heads_of(g, s, p->w);
    struct ggml_tensor *k = heads_of(g, s, p->k), *v = heads_of(g, s, p->v);
    struct ggml_tensor *state = ggml_view_2d(g->ctx, rows, rows->ne[0], 1,
                                             rows->nb[1], row_offset(s, rows));
    int64_t d = p->k->ne[0];
    struct ggml_tensor *y =
        p->a    ? ggml_rwkv_wkv7(g->ctx, r, w, k, v, heads_of(g, s, p->a),
                                 heads_of(g, s, p->b), state)
        : first ? ggml_rwkv_wkv6(g->ctx, k, v, r, first, w, state)
                : ggml_gated_linear_attn(g->ctx, k, v, r, w, state,
                                         1 / sqrtf((float)d));

    return split_result(g, s, layer, y, p->v->ne[0] * p->v->ne[1]);
}

struct ggml_tensor *
graph_wkv(struct graph *g, int32_t layer, const struct graph_wkv *p)
{
    return graph_each_segment(g, layer, recur_wkv, p);
}
