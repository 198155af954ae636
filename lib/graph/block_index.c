/* block_index.c - what chooses the blocks of keys that attention reads (Qwen's
 * QSA)
 *
 * q_h = norm(Q_h x), rotated as queries are. A block of positions has the key
 * norm(mean of K x), rotated by its first position. To an id it is worth
 *
 *     sum over heads h of max(0, q_h . k)
 *
 * and of the blocks that it sees whole the id attends to the best, and to the
 * positions after the last of them. */
#include "graph/block_index.h"

#include "graph/compressed.h"
#include "graph/keys.h"
#include "tensor/sparse.h"

/* ---- hyper-parameters and tensors ---------------------------------------- */

/* Positions of a block, of all layers that have some; 0: none has. The others
 * get 0. */
static int32_t
read_block_length(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "attention.compress_ratios";
    int32_t block = 0;

    graph_keys_layers(keys, name, MODEL_MAX_RATIO, 0,
                      &hp->layers[0].compression, sizeof(hp->layers[0]));
    for (int32_t i = 0; i < graph_all_layers(hp); i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        l->compression = l->recurs ? 0 : l->compression;
        if (l->compression == 0)
            continue;
        if (block > 0 && l->compression != block)
            graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                             "%d in layer %d, %d before: blocks have one "
                             "length here",
                             (int)l->compression, (int)i, (int)block);
        block = l->compression;
    }
    if (block == 1)
        graph_key_refuse(keys, GG_ERR_FORMAT, name, "blocks of 1 position");
    return block;
}

static void
read_block_indexer(struct model_keys *keys, struct model_hparams *hp,
                   int32_t block)
{
    graph_keys_indexer_sizes(keys, hp);
    if (keys->status == GG_OK && hp->indexer.n_best % block)
        graph_key_mismatch(keys, "attention.indexer.top_k",
                           "is no multiple of a block's", hp->indexer.n_best,
                           block);
}

/* Layers keep a row for each block, and columns of the unfinished one. */
void
graph_keys_block_index(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t block = read_block_length(keys, hp);

    if (keys->status != GG_OK || block == 0)
        return;
    read_block_indexer(keys, hp, block);
    hp->n_compression = 1;
    hp->compressions[0] = (struct model_compression){ .ratio = block };
    for (int32_t i = 0; i < graph_all_layers(hp); i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        if (l->compression == 0)
            continue;
        l->compression = 1;
        l->chosen = true;
        l->d_compressed_index = hp->indexer.d_key;
        l->d_conv = block;
        l->n_channels = hp->indexer.d_key;
    }
}

void
graph_find_block_index(struct model_loader *l, struct model_layer *layer)
{
    const struct model_indexer *x = &l->model->hp.indexer;
    int64_t e = l->model->hp.n_embd, d = x->d_key, n = x->n_head;
    enum model_need bias = MODEL_OPTIONAL;

    if (!l->hp->chosen) {
        graph_pass_over(l, ".indexer.q_proj");
        graph_pass_over(l, ".indexer.k_proj");
        graph_pass_over(l, ".indexer.q_norm");
        graph_pass_over(l, ".indexer.k_norm");
        return;
    }
    layer->index_q = graph_find_linear(l, ".indexer.q_proj", e, n * d, bias);
    layer->index_k = graph_find_linear(l, ".indexer.k_proj", e, d, bias);
    layer->index_q_norm = graph_find_norm(l, ".indexer.q_norm", d, bias);
    layer->index_norm = graph_find_norm(l, ".indexer.k_norm", d, bias);
}

/* ---- graph --------------------------------------------------------------- */

/* x: d x positions of a block x blocks -> d x blocks. */
static struct ggml_tensor *
mean_of_blocks(struct graph *g, struct ggml_tensor *x)
{
    int64_t d = x->ne[0], block = x->ne[1], n = x->ne[2];

    x = ggml_cont(g->ctx, ggml_permute(g->ctx, x, 1, 0, 2, 3));
    x = ggml_reshape_2d(g->ctx, ggml_sum_rows(g->ctx, x), d, n);
    return ggml_scale(g->ctx, x, 1 / (float)block);
}

void
graph_keep_block_index(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *k = graph_linear(g, cur, &l->index_k);

    k = mean_of_blocks(g, graph_block_columns(g, layer, k));
    k = graph_norm(g, k, &l->index_norm);
    k = ggml_reshape_3d(g->ctx, k, k->ne[0], 1, k->ne[1]);
    k = graph_rope_blocks(g, layer, k);
    graph_keep_blocks(g, layer, CACHE_COMPRESSED_INDEX,
                      ggml_reshape_2d(g->ctx, k, k->ne[0], k->ne[2]));
}

/* All heads count alike. */
static struct ggml_tensor *
equal_weights(struct graph *g, struct ggml_tensor *q)
{
    struct ggml_tensor *shape = ggml_view_2d(g->ctx, q, q->ne[1], q->ne[2],
                                             (size_t)q->ne[1] * q->nb[0], 0);

    return ggml_fill(g->ctx, shape, 1);
}

/* Chooses among the blocks that the segment sees; all segments have lists of
 * one length. */
static struct ggml_tensor *
choose_blocks(struct graph *g, const struct graph_segment *s, int32_t layer,
              const void *data)
{
    struct ggml_tensor *const *queries = data;
    enum cache_kind kind = g->cache->layers[layer].kind;
    int32_t block =
        g->model->hp.compressions[graph_compression_of(g, layer)].ratio;
    int32_t most = g->cache->parts[kind].n_rows / block;
    struct tensor_choice choice = { .n_best =
                                        g->model->hp.indexer.n_best / block,
                                    .block = block,
                                    .pooled = true,
                                    .tail = true };
    struct ggml_tensor *q = graph_segment_columns(g, s, *queries), *k, *scores;

    if (choice.n_best > most)
        choice.n_best = most;
    k = graph_kept_blocks(g, s, layer, CACHE_COMPRESSED_INDEX);
    scores =
        ggml_lightning_indexer(g->ctx, q, ggml_permute(g->ctx, k, 0, 2, 1, 3),
                               equal_weights(g, q), NULL);
    scores = ggml_reshape_3d(g->ctx, scores, scores->ne[0], 1, scores->ne[1]);
    return tensor_choose(g->ctx, scores, s->masks[kind], 0, &choice);
}

/* In halves, as results of attention are put together. */
static struct ggml_tensor *
choose_each(struct graph *g, int32_t first, int32_t end, int32_t layer,
            const void *data)
{
    int32_t middle = first + (end - first) / 2;
    struct ggml_tensor *a, *b;

    if (end - first == 1)
        return choose_blocks(g, &g->segments[first], layer, data);
    a = choose_each(g, first, middle, layer, data);
    b = choose_each(g, middle, end, layer, data);
    return ggml_concat(g->ctx, a, b, 2);
}

void
graph_choose_block_means(struct graph *g, int32_t layer,
                         struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_indexer *x = &g->model->hp.indexer;
    struct ggml_tensor *q =
        graph_heads(g, graph_linear(g, cur, &l->index_q), x->d_key, x->n_head);

    graph_keep_block_index(g, layer, cur);
    q = graph_rope(g, layer, graph_norm(g, q, &l->index_q_norm));
    q = graph_rotate(g, layer, CACHE_COMPRESSED_INDEX, q);
    g->chosen = choose_each(g, 0, g->n_segments, layer, &q);
}
