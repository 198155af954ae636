/* attention.c - keys and values of a layer, and what queries find in them */
#include <assert.h>

#include "graph/arch.h"
#include "tensor/sparse.h"

/* Rows that the layer reads: its own, or another's. */
static const struct cache_layer *
cache_of(const struct graph *g, int32_t layer)
{
    return &g->cache->layers[g->model->hp.layers[layer].kv_layer];
}

struct ggml_tensor *
graph_kept_rows(struct graph *g, const struct graph_segment *s, int32_t layer,
                enum cache_tensor of, const struct cache_range *keys)
{
    const struct cache_layer *l = cache_of(g, layer);
    struct ggml_tensor *t = l->t[of];
    size_t first = (size_t)s->slot * (size_t)g->cache->parts[l->kind].n_rows +
                   (size_t)keys->row;

    assert(!graph_shares_rows(g, l->kind));
    return ggml_view_3d(g->ctx, t, t->ne[0], keys->n, t->ne[2], t->nb[1],
                        t->nb[2], first * t->nb[1]);
}

struct ggml_tensor *
graph_rotate(struct graph *g, int32_t layer, enum cache_tensor of,
             struct ggml_tensor *x)
{
    const struct cache_layer *l = cache_of(g, layer);
    const struct cache_home *home = &g->cache->homes[l->home];
    struct ggml_tensor *m = home->rotations[graph_rotation_of(x->ne[0])], *y;

    if (!graph_is_rotated(g->cache, l, of))
        return x;
    if (!ggml_is_contiguous(x))
        x = ggml_cont(g->ctx, x);
    y = ggml_reshape_2d(g->ctx, x, m->ne[0], ggml_nelements(x) / m->ne[0]);
    y = ggml_mul_mat(g->ctx, m, y);
    return ggml_reshape_3d(g->ctx, y, x->ne[0], x->ne[1], x->ne[2]);
}

struct ggml_tensor *
graph_segment_columns(struct graph *g, const struct graph_segment *s,
                      struct ggml_tensor *x)
{
    if (g->n_segments == 1)
        return x;
    return ggml_view_3d(g->ctx, x, x->ne[0], x->ne[1], s->n, x->nb[1], x->nb[2],
                        (size_t)s->first * x->nb[2]);
}

struct ggml_tensor *
graph_values_in(struct graph *g, struct ggml_tensor *k, int32_t d_value)
{
    return ggml_view_3d(g->ctx, k, d_value, k->ne[1], k->ne[2], k->nb[1],
                        k->nb[2], 0);
}

/* By the keys alone that an indexer has chosen. */
static struct ggml_tensor *
attend_chosen(struct graph *g, const struct graph_segment *s, int32_t layer,
              struct ggml_tensor *q, struct ggml_tensor *k,
              struct ggml_tensor *v)
{
    struct tensor_rows rows = { k, v, graph_chosen(g, s) };

    return tensor_attend_rows(g->ctx, q, &rows, NULL,
                              g->model->layers[layer].attn_sinks,
                              graph_attention_scale(g->model, layer));
}

struct ggml_tensor *
graph_mask_of(const struct graph *g, const struct graph_segment *s,
              int32_t layer)
{
    return g->model->hp.layers[layer].narrow
               ? s->narrow
               : s->masks[cache_of(g, layer)->kind];
}

/* Result: d_value x n_head x s->n. Queries find the rows of their own sequence,
 * or, across, those of its encoder. */
static struct ggml_tensor *
attend(struct graph *g, const struct graph_segment *s, int32_t layer,
       struct ggml_tensor *q, bool across)
{
    const struct model_hparams *hp = &g->model->hp;
    const struct cache_layer *l = cache_of(g, layer);
    const struct cache_range *keys = across ? &s->crossed : &s->keys[l->kind];
    struct ggml_tensor *k = graph_kept_rows(g, s, layer, CACHE_K, keys);
    struct ggml_tensor *v =
        l->t[CACHE_V] ? graph_kept_rows(g, s, layer, CACHE_V, keys)
                      : graph_values_in(g, k, hp->layers[layer].d_value);
    struct ggml_tensor *r;

    q = graph_segment_columns(g, s, q);
    if (hp->layers[layer].chosen)
        return attend_chosen(g, s, layer, q, k, v);
    r = ggml_flash_attn_ext(g->ctx, ggml_permute(g->ctx, q, 0, 2, 1, 3), k, v,
                            across ? s->cross_mask : graph_mask_of(g, s, layer),
                            graph_attention_scale(g->model, layer),
                            hp->attn_max_bias, hp->attn_softcap);
    if (g->model->layers[layer].attn_sinks)
        ggml_flash_attn_ext_add_sinks(r, g->model->layers[layer].attn_sinks);
    ggml_flash_attn_ext_set_prec(r, GGML_PREC_F32);
    return r;
}

/* Results of the segments from `first` to before `end`, one after the other.
 * They are put together in halves: a chain of segments would copy the first of
 * them as often as there are others. */
static struct ggml_tensor *
attend_each(struct graph *g, int32_t first, int32_t end, int32_t layer,
            struct ggml_tensor *q, bool across)
{
    int32_t middle = first + (end - first) / 2;
    struct ggml_tensor *a, *b;

    if (end - first == 1)
        return attend(g, &g->segments[first], layer, q, across);
    a = attend_each(g, first, middle, layer, q, across);
    b = attend_each(g, middle, end, layer, q, across);
    return ggml_concat(g->ctx, a, b, 2);
}

/* The graph runs in the order of recording: what attention reads after this,
 * it reads from the cache. */
void
graph_keep_rows(struct graph *g, int32_t layer, enum cache_tensor of,
                struct ggml_tensor *x)
{
    const struct cache_layer *l = &g->cache->layers[layer];
    struct ggml_tensor *rows = ggml_permute(g->ctx, x, 0, 2, 1, 3);

    ggml_build_forward_expand(
        g->cgraph, ggml_set_rows(g->ctx, l->t[of], rows, g->cells[l->kind]));
}

void
graph_keep(struct graph *g, int32_t layer, struct ggml_tensor *k,
           struct ggml_tensor *v)
{
    if (k)
        graph_keep_rows(g, layer, CACHE_K, graph_rotate(g, layer, CACHE_K, k));
    if (v)
        graph_keep_rows(g, layer, CACHE_V, graph_rotate(g, layer, CACHE_V, v));
}

/* Results of all segments: d_value * n_head x n_tokens. */
static struct ggml_tensor *
attend_all(struct graph *g, int32_t layer, struct ggml_tensor *q, bool across)
{
    const struct model_layer_hparams *hp = &g->model->hp.layers[layer];
    struct ggml_tensor *all;

    q = graph_rotate(g, layer, CACHE_K, q);
    all = !across && graph_shares_rows(g, cache_of(g, layer)->kind)
              ? graph_attend_shared(g, layer, q)
              : attend_each(g, 0, g->n_segments, layer, q, across);
    all = graph_rotate(g, layer, CACHE_V, all);
    return ggml_reshape_2d(g->ctx, all, (int64_t)hp->d_value * hp->n_head,
                           g->n_tokens);
}

struct ggml_tensor *
graph_attention(struct graph *g, int32_t layer, struct ggml_tensor *q,
                struct ggml_tensor *k, struct ggml_tensor *v)
{
    if (g->packing.n_rows > 0)
        return graph_packed_attention(g, layer,
                                      &(struct graph_heads){ q, k, v, NULL });
    graph_keep(g, layer, k, v);
    return attend_all(g, layer, q, false);
}

struct ggml_tensor *
graph_cross_attention(struct graph *g, int32_t layer, struct ggml_tensor *q)
{
    return attend_all(g, layer, q, true);
}
