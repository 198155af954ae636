/* indexer.c - what chooses the keys that attention reads (DeepSeek-AI 2025,
 * "DeepSeek-V3.2")
 *
 * q_h = Q_h c, of the latent query c, k = norm(K x), w = W x; the first values
 * of q_h and k are rotated. To the id at t the key of s is worth
 *
 *     sum over heads h of w_h max(0, q_h(t) . k(s))
 *
 * and of the keys that it sees it attends to those that are worth most.
 *
 * Pools (GLM 5.3): k(s) stands for some positions one after the other, and is
 * the sum of their k, of which each value is weighted by the softmax of gates
 * G x and of biases for the places in a pool. All positions of the best pools
 * are attended to, and those after the last whole pool.
 *
 * MiniMax M3 has no latent query and no weights: q_h = norm(Q_h x), and head h
 * of keys has a choice of its own, of whole blocks, by q_h(t) . k(s) of the
 * best key of each. */
#include <math.h>

#include "graph/compressed.h"
#include "tensor/sparse.h"

/* The angles are the layer's, whatever pairs they turn. */
static struct ggml_tensor *
turn_index(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    struct model_rope rope;

    if (!g->model->layers[layer].rope)
        return x;
    rope = *g->model->layers[layer].rope;
    rope.params.mode = g->model->hp.indexer.mode;
    x = graph_rope_by(g, &rope, x);
    return g->model->hp.indexer.last
               ? ggml_rope_set_offset(x, (int)x->ne[0] - rope.params.n_rot)
               : x;
}

/* Keys and gates k, d_key x n_tokens, of whole pools become a row each. */
static void
keep_pools(struct graph *g, int32_t layer, struct ggml_tensor *k,
           struct ggml_tensor *cur)
{
    static const struct model_norm none = { NULL, NULL };
    const struct model_layer *l = &g->model->layers[layer];
    struct graph_compressor c = { .d = g->model->hp.indexer.d_key,
                                  .bias = l->index_compressor.bias,
                                  .norm = &none };

    k = ggml_concat(g->ctx, k, graph_linear(g, cur, &l->index_compressor.gate),
                    0);
    k = graph_compress(g, layer, graph_block_columns(g, layer, k), &c);
    graph_keep_blocks(g, layer, CACHE_COMPRESSED_INDEX, k);
}

void
graph_keep_index(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_indexer *x = &g->model->hp.indexer;
    struct ggml_tensor *k;

    if (!graph_chooses(l->hp))
        return;
    k = ggml_norm(g->ctx, graph_linear(g, cur, &l->index_k), x->eps);
    k = graph_scale_norm(g, k, &l->index_norm);
    if (x->pool > 0) {
        keep_pools(g, layer, k, cur);
        return;
    }
    k = turn_index(g, layer, graph_heads(g, k, x->d_key, 1));
    graph_keep_rows(g, layer, CACHE_INDEX, k);
}

/* How much each head counts: n_head x n_tokens, scaled as products of d_key
 * values and sums of n_head are. */
static struct ggml_tensor *
head_weights(struct graph *g, const struct model_layer *l,
             struct ggml_tensor *cur)
{
    const struct model_indexer *x = &g->model->hp.indexer;
    float scale = 1 / sqrtf((float)x->d_key * (float)x->n_head);

    return ggml_scale(g->ctx, graph_linear(g, cur, &l->index_weights), scale);
}

/* The keys of a segment, or those of its pools, as the op wants them: d x 1 x
 * keys. */
static struct ggml_tensor *
index_keys(struct graph *g, const struct graph_segment *s, int32_t layer)
{
    enum cache_kind kind = g->cache->layers[layer].kind;
    struct ggml_tensor *k =
        g->model->hp.indexer.pool > 0
            ? graph_kept_blocks(g, s, layer, CACHE_COMPRESSED_INDEX)
            : graph_kept_rows(g, s, layer, CACHE_INDEX, &s->keys[kind]);

    return ggml_permute(g->ctx, k, 0, 2, 1, 3);
}

/* No more than a slot has rows. */
static struct tensor_choice
choice_of(const struct model_indexer *x, int32_t n_rows)
{
    int32_t each = x->pool > 0 ? x->pool : 1;
    int32_t n = x->n_best < n_rows ? x->n_best : n_rows;
    struct tensor_choice c = { .n_best = (n + each - 1) / each, .block = each };

    c.pooled = c.tail = x->pool > 0;
    return c;
}

/* Chooses among the rows that the segment sees; all segments have lists of one
 * length. */
static struct ggml_tensor *
choose_of_segment(struct graph *g, const struct graph_segment *s, int32_t layer,
                  struct ggml_tensor *q, struct ggml_tensor *weights)
{
    enum cache_kind kind = g->cache->layers[layer].kind;
    struct tensor_choice choice =
        choice_of(&g->model->hp.indexer, g->cache->parts[kind].n_rows);
    struct ggml_tensor *scores;

    weights = ggml_view_2d(g->ctx, weights, weights->ne[0], s->n,
                           weights->nb[1], (size_t)s->first * weights->nb[1]);
    scores = ggml_lightning_indexer(g->ctx, graph_segment_columns(g, s, q),
                                    index_keys(g, s, layer), weights,
                                    choice.pooled ? NULL : s->masks[kind]);
    scores = ggml_reshape_3d(g->ctx, scores, scores->ne[0], 1, scores->ne[1]);
    return tensor_choose(g->ctx, scores, s->masks[kind], 0, &choice);
}

/* Chooses among blocks, for each head of keys. */
static struct ggml_tensor *
choose_blocks_of_segment(struct graph *g, const struct graph_segment *s,
                         int32_t layer, struct ggml_tensor *q)
{
    const struct model_indexer *x = &g->model->hp.indexer;
    enum cache_kind kind = g->cache->layers[layer].kind;
    int32_t most = (g->cache->parts[kind].n_rows + x->block - 1) / x->block;
    struct tensor_choice choice = { .n_best = x->n_best,
                                    .n_local = x->n_local,
                                    .block = x->block };
    struct ggml_tensor *scores;

    if (choice.n_best > most)
        choice.n_best = most;
    q = ggml_cont_2d(g->ctx, graph_segment_columns(g, s, q), x->d_key,
                     (int64_t)x->n_head * s->n);
    scores = ggml_mul_mat(
        g->ctx, graph_kept_rows(g, s, layer, CACHE_INDEX, &s->keys[kind]), q);
    ggml_mul_mat_set_prec(scores, GGML_PREC_F32);
    scores = ggml_reshape_3d(g->ctx, scores, scores->ne[0], x->n_head, s->n);
    return tensor_choose(g->ctx, scores, s->masks[kind], 0, &choice);
}

static struct ggml_tensor *
choose_one(struct graph *g, const struct graph_segment *s, int32_t layer,
           struct ggml_tensor *q, struct ggml_tensor *weights)
{
    return weights ? choose_of_segment(g, s, layer, q, weights)
                   : choose_blocks_of_segment(g, s, layer, q);
}

/* In halves, as results of attention are put together. */
static struct ggml_tensor *
choose_each(struct graph *g, int32_t first, int32_t end, int32_t layer,
            struct ggml_tensor *q, struct ggml_tensor *weights)
{
    int32_t middle = first + (end - first) / 2;
    struct ggml_tensor *a, *b;

    if (end - first == 1)
        return choose_one(g, &g->segments[first], layer, q, weights);
    a = choose_each(g, first, middle, layer, q, weights);
    b = choose_each(g, middle, end, layer, q, weights);
    return ggml_concat(g->ctx, a, b, 2);
}

void
graph_choose(struct graph *g, int32_t layer, struct ggml_tensor *queries,
             struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_indexer *x = &g->model->hp.indexer;
    struct ggml_tensor *q = graph_heads(
        g, graph_linear(g, queries, &l->index_q), x->d_key, x->n_head);

    graph_keep_index(g, layer, cur);
    g->chosen = choose_each(g, 0, g->n_segments, layer, turn_index(g, layer, q),
                            head_weights(g, l, cur));
}

void
graph_choose_blocks(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_indexer *x = &g->model->hp.indexer;
    struct ggml_tensor *q =
        graph_heads(g, graph_linear(g, cur, &l->index_q), x->d_key, x->n_head);
    struct ggml_tensor *k =
        graph_heads(g, graph_linear(g, cur, &l->index_k), x->d_key, 1);

    k = graph_rope(g, layer, graph_norm(g, k, &l->index_norm));
    graph_keep_rows(g, layer, CACHE_INDEX, k);
    q = graph_rope(g, layer, graph_norm(g, q, &l->index_q_norm));
    g->chosen = choose_each(g, 0, g->n_segments, layer, q, NULL);
}

struct ggml_tensor *
graph_chosen(struct graph *g, const struct graph_segment *s)
{
    return graph_segment_columns(g, s, g->chosen);
}
