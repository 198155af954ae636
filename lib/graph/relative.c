/* relative.c - attention with a bias by relative position (Raffel et al. 2020)
 *
 * softmax(q k + b(bucket(key - query))) v: a value a head for each bucket of
 * distances. All ids of an encoder's text are there at once, so that keys and
 * values come from the batch; a decoder's come from the cache. */
#include "graph/relative.h"

#include <math.h>
#include <stdlib.h>

#include "graph/graph.h"
#include "graph/loader.h"

/* Buckets are exact in the first half of n. */
static int32_t
bucket_of(int32_t d, int32_t n)
{
    int32_t exact = n / 2, bucket;
    float log_ratio;

    if (d < exact)
        return d;
    log_ratio = logf((float)d / (float)exact) /
                logf((float)MODEL_RELATIVE_FAR / (float)exact);
    bucket = exact + (int32_t)(log_ratio * (float)(n - exact));
    return bucket < n ? bucket : n - 1;
}

int32_t
graph_relative_bucket(int32_t distance, int32_t n_buckets)
{
    int32_t half = n_buckets / 2;

    return (distance > 0 ? half : 0) + bucket_of(abs(distance), half);
}

int32_t
graph_relative_bucket_before(int32_t distance, int32_t n_buckets)
{
    return distance < 0 ? bucket_of(-distance, n_buckets) : 0;
}

/* Ids of the segment, d x n_head x n -> d x n x n_head. */
static struct ggml_tensor *
part(struct graph *g, const struct graph_segment *s, struct ggml_tensor *x)
{
    x = ggml_view_3d(g->ctx, x, x->ne[0], x->ne[1], s->n, x->nb[1], x->nb[2],
                     (size_t)s->first * x->nb[2]);
    return ggml_cont(g->ctx, ggml_permute(g->ctx, x, 0, 2, 1, 3));
}

/* keys x queries x n_head */
static struct ggml_tensor *
biases(struct graph *g, const struct graph_segment *s,
       struct ggml_tensor *table)
{
    struct ggml_tensor *b = ggml_get_rows(g->ctx, table, s->buckets);

    b = ggml_reshape_3d(g->ctx, b, b->ne[0], s->buckets->ne[0] / s->n, s->n);
    return ggml_cont(g->ctx, ggml_permute(g->ctx, b, 2, 0, 1, 3));
}

/* d_value * n_head x s->n */
static struct ggml_tensor *
attend_relative(struct graph *g, const struct graph_segment *s,
                struct graph_heads h, struct ggml_tensor *table)
{
    struct ggml_tensor *v = part(g, s, h.v), *p;
    int64_t d = v->ne[0], n_head = h.q->ne[1];

    p = ggml_mul_mat(g->ctx, part(g, s, h.k), part(g, s, h.q));
    p = ggml_soft_max(g->ctx, ggml_add(g->ctx, p, biases(g, s, table)));
    v = ggml_cont(g->ctx, ggml_permute(g->ctx, v, 1, 0, 2, 3));
    p = ggml_mul_mat(g->ctx, v, p);
    p = ggml_cont(g->ctx, ggml_permute(g->ctx, p, 0, 2, 1, 3));
    return ggml_reshape_2d(g->ctx, p, d * n_head, s->n);
}

struct ggml_tensor *
graph_relative_attention(struct graph *g, struct graph_heads h,
                         struct ggml_tensor *table)
{
    struct ggml_tensor *all = NULL, *one;

    for (int32_t i = 0; i < g->n_segments; i++) {
        one = attend_relative(g, &g->segments[i], h, table);
        all = all ? ggml_concat(g->ctx, all, one, 1) : one;
    }
    return all;
}

/* In F32, whatever the cache has: a bias in half precision, as a mask is, would
 * cost more than that of keys. */
static struct ggml_tensor *
kept_floats(struct graph *g, const struct graph_segment *s, int32_t layer,
            enum cache_tensor of)
{
    return ggml_cast(g->ctx,
                     graph_kept_rows(g, s, layer, of, &s->keys[CACHE_ALL]),
                     GGML_TYPE_F32);
}

/* d_value * n_head x s->n */
static struct ggml_tensor *
decode_relative(struct graph *g, const struct graph_segment *s, int32_t layer,
                struct ggml_tensor *q, struct ggml_tensor *table)
{
    struct ggml_tensor *v = kept_floats(g, s, layer, CACHE_V), *p;
    int64_t d = v->ne[0], n_head = q->ne[1];

    p = ggml_mul_mat(g->ctx, kept_floats(g, s, layer, CACHE_K), part(g, s, q));
    p = ggml_add(g->ctx, p, biases(g, s, table));
    p = ggml_soft_max_ext(g->ctx, p, s->masks[CACHE_ALL], 1, 0);
    v = ggml_cont(g->ctx, ggml_permute(g->ctx, v, 1, 0, 2, 3));
    p = ggml_mul_mat(g->ctx, v, p);
    p = ggml_cont(g->ctx, ggml_permute(g->ctx, p, 0, 2, 1, 3));
    return ggml_reshape_3d(g->ctx, p, d, n_head, s->n);
}

struct ggml_tensor *
graph_relative_decoder(struct graph *g, int32_t layer, struct graph_heads h,
                       struct ggml_tensor *table)
{
    struct ggml_tensor *q = graph_rotate(g, layer, CACHE_K, h.q);
    struct ggml_tensor *all = NULL, *one;

    graph_keep(g, layer, h.k, h.v);
    for (int32_t i = 0; i < g->n_segments; i++) {
        one = decode_relative(g, &g->segments[i], layer, q, table);
        all = all ? ggml_concat(g->ctx, all, one, 2) : one;
    }
    all = graph_rotate(g, layer, CACHE_V, all);
    return ggml_reshape_2d(g->ctx, all, all->ne[0] * all->ne[1], g->n_tokens);
}

struct ggml_tensor *
graph_find_relative_bias(struct model_loader *l, int32_t first)
{
    int64_t n = l->hp->n_head, n_bucket = l->model->hp.n_bucket;
    struct ggml_tensor *own;

    l->for_all = l->layer == first;
    own = l->for_all ? graph_find_table(l, ".attn_rel_b", n, n_bucket)
                     : graph_find_table_or_none(l, ".attn_rel_b", n, n_bucket);
    l->for_all = false;
    return own ? own : l->model->layers[first].attn_bias;
}
