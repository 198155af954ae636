/* deepseek4.c - DeepSeek V4: a window of keys and, before it, rows that stand
 * for blocks of them; residual streams; experts by scores, or by the ids alone
 *
 * s = embed(ids), n_stream times
 * s = s + w attention(norm(c))                      c, w of s: streams.h
 * s = s + w (mixture(n) + shared(n)), n = norm(c)   c, w of s
 * logits = output(norm(c))
 *
 * attention(x): a = norm(A x); heads q = norm(Q a), and one k = norm(K x) for
 * all, which is their value as well. The last values of q and k are rotated,
 * and what is found rotated back, so that values count by their distance too. A
 * sink takes part of the softmax. Groups of heads are projected to a low rank
 * each, and these to the hidden vector.
 *
 * A layer's compression of r positions: 0, the window alone; 4, overlapping
 * blocks, of which an indexer chooses; 128, all blocks. compressed.h has how
 * rows are made. An indexer has blocks of its own, and a score a block: sum
 * over heads of w max(0, q . k). Layers with blocks turn by another base, and
 * by YaRN, which magnifies nothing. */
#include <math.h>

#include "graph/compressed.h"
#include "graph/streams.h"
#include "tensor/sparse.h"

enum {
    CHOSEN_RATIO = 4, /* of blocks that overlap, and of which some are chosen */
    WHOLE_RATIO = 128,
    MAX_GROUPS = 1 << 10,
    MAX_RANK = 1 << 16,
};

/* ---- hyper-parameters ---------------------------------------------------- */

/* Columns that blocks of the layer are made of. */
static void
set_blocks(const struct model_hparams *hp, struct model_layer_hparams *l,
           int32_t ratio)
{
    bool chosen = ratio == CHOSEN_RATIO;

    l->compression = chosen ? 1 : 2;
    l->d_compressed = l->d_key;
    l->d_compressed_index = chosen ? hp->indexer.d_key : 0;
    l->d_conv = graph_compressed_columns(&hp->compressions[l->compression - 1]);
    l->n_channels =
        chosen ? 4 * (l->d_key + l->d_compressed_index) : 2 * l->d_key;
}

/* Files without MTP layers may list theirs, too. */
static int32_t
n_listed(const struct model_keys *keys, const char *name)
{
    char key[MODEL_MAX_KEY];
    int64_t i = gguf_find_key(keys->gguf, graph_key_name(keys, name, key));
    size_t n = 0;

    if (i >= 0 && gguf_get_kv_type(keys->gguf, i) == GGUF_TYPE_ARRAY)
        n = gguf_get_arr_n(keys->gguf, i);
    return n > (size_t)keys->n_layer && n <= MODEL_MAX_LAYERS ? (int32_t)n
                                                              : keys->n_layer;
}

static void
read_ratios(struct model_keys *keys, struct model_hparams *hp, const char *name)
{
    int32_t all = keys->n_layer;

    keys->n_layer = n_listed(keys, name);
    graph_keys_layers(keys, name, MODEL_MAX_RATIO, -1,
                      &hp->layers[0].compression, sizeof(hp->layers[0]));
    keys->n_layer = all;
}

static void
read_compression(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "attention.compress_ratios";

    hp->n_compression = 2;
    hp->compressions[0] = (struct model_compression){ CHOSEN_RATIO, true };
    hp->compressions[1] = (struct model_compression){ WHOLE_RATIO, false };
    read_ratios(keys, hp, name);
    for (int32_t i = 0; i < MODEL_MAX_LAYERS; i++) {
        struct model_layer_hparams *l = &hp->layers[i];
        int32_t ratio = l->compression;
        bool known = ratio == CHOSEN_RATIO || ratio == WHOLE_RATIO;

        l->compression = 0;
        if (i < hp->n_layer && known)
            set_blocks(hp, l, ratio);
        else if (i < graph_all_layers(hp) && ratio != 0)
            graph_key_refuse(keys, GG_ERR_UNSUPPORTED, name,
                             "%d in layer %d is not 0, 4 or 128, or it is an "
                             "MTP layer's",
                             (int)ratio, (int)i);
    }
}

/* Layers with blocks have hp.rope, the others rope_local. */
static void
read_rope(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_rope_local(keys, hp, hp->rope.base);
    hp->rope_local.base = hp->rope.base;
    hp->rope.base =
        graph_key_float(keys, "attention.compress_rope_freq_base", 1, 1e12f, 0);
    hp->rope.magnitude = -1;
}

static void
check_heads(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "attention.value_length";

    for (int32_t i = 0; i < graph_all_layers(hp); i++) {
        struct model_layer_hparams *l = &hp->layers[i];

        if (l->d_value != l->d_key)
            graph_key_mismatch(keys, name, "is not key_length", l->d_value,
                               l->d_key);
        if (l->n_head_kv != 1)
            graph_key_mismatch(keys, "attention.head_count_kv",
                               "heads of keys, not", l->n_head_kv, 1);
        l->values_in_keys = true;
    }
}

static void
read_groups(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "attention.output_group_count";
    int32_t n = graph_key_int(keys, name, 1, MAX_GROUPS, 0);

    hp->n_output_group = n;
    hp->n_output_rank =
        graph_key_int(keys, "attention.output_lora_rank", 1, MAX_RANK, 0);
    for (int32_t i = 0; i < graph_all_layers(hp) && n > 0; i++)
        if (hp->layers[i].n_head % n)
            graph_key_mismatch(keys, name, "does not divide head_count", n,
                               hp->layers[i].n_head);
}

/* Limits of the expert of all ids are those of the others where the file does
 * not say them. */
static void
read_limits(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_layer_hparams *l = hp->layers;

    graph_keys_layer_floats(keys, "swiglu_clamp_exp", 0, 1e6f, &l->expert_limit,
                            sizeof(*l));
    graph_keys_layer_floats(keys, "swiglu_clamp_shexp", 0, 1e6f, &l->ff_limit,
                            sizeof(*l));
    for (int32_t i = 0; i < graph_all_layers(hp) &&
                        !graph_key_exists(keys, "swiglu_clamp_shexp");
         i++)
        l[i].ff_limit = l[i].expert_limit;
    hp->limit_before = true;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    hp->latent.n_query =
        graph_key_int(keys, "attention.q_lora_rank", 1, MAX_RANK, 0);
    check_heads(keys, hp);
    read_rope(keys, hp);
    graph_keys_window(keys, hp);
    if (keys->status == GG_OK && hp->window == 0)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "attention.sliding_window",
                         "0: layers have a window here");
    graph_keys_indexer_sizes(keys, hp);
    if (keys->status == GG_OK)
        read_compression(keys, hp);
    read_groups(keys, hp);
    graph_keys_streams(keys, hp, false);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SQRT_SOFTPLUS);
    hp->n_hash = graph_key_int(keys, "hash_layer_count", 0, hp->n_layer, 0);
    read_limits(keys, hp);
}

/* ---- tensors ------------------------------------------------------------- */

/* Files have groups apart, or one after the other. */
static void
find_output(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t n = hp->n_output_group, rank = hp->n_output_rank;
    int64_t d = (int64_t)l->hp->n_head * l->hp->d_value / n;
    const struct gguf_tensor *t = graph_peek(l, ".attn_output_a");

    layer->attn_output_a =
        t && t->ne[2] == 1
            ? graph_find_matrix(l, ".attn_output_a", d, rank * n,
                                MODEL_REQUIRED)
            : graph_find_matrices(l, ".attn_output_a", d, rank, n);
    layer->attn_output = graph_find_linear(l, ".attn_output_b", rank * n,
                                           hp->n_embd, MODEL_OPTIONAL);
}

/* Rows of d values. */
static void
find_compressor(struct model_loader *l, const char *const names[4], int64_t d,
                struct model_compressor *c)
{
    const struct model_hparams *hp = &l->model->hp;
    const struct model_compression *how =
        &hp->compressions[l->hp->compression - 1];
    int64_t n = how->overlaps ? 2 * d : d;

    c->value = graph_find_linear(l, names[0], hp->n_embd, n, MODEL_OPTIONAL);
    c->gate = graph_find_linear(l, names[1], hp->n_embd, n, MODEL_OPTIONAL);
    c->bias = graph_find_table(l, names[2], n, how->ratio);
    c->norm = graph_find_norm(l, names[3], d, MODEL_OPTIONAL);
}

static void
find_blocks(struct model_loader *l, struct model_layer *layer)
{
    static const char *const own[] = { ".attn_compressor_kv",
                                       ".attn_compressor_gate",
                                       ".attn_compressor_ape",
                                       ".attn_compressor_norm" };
    static const char *const index[] = { ".indexer_compressor_kv",
                                         ".indexer_compressor_gate",
                                         ".indexer_compressor_ape",
                                         ".indexer_compressor_norm" };
    const struct model_indexer *x = &l->model->hp.indexer;
    int64_t e = l->model->hp.n_embd, q = l->model->hp.latent.n_query;

    find_compressor(l, own, l->hp->d_key, &layer->compressor);
    if (l->hp->d_compressed_index == 0)
        return;
    find_compressor(l, index, x->d_key, &layer->index_compressor);
    layer->index_q =
        graph_find_linear(l, ".indexer.attn_q_b", q,
                          (int64_t)x->n_head * x->d_key, MODEL_OPTIONAL);
    layer->index_weights =
        graph_find_linear(l, ".indexer.proj", e, x->n_head, MODEL_OPTIONAL);
}

static void
find_heads(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, q = l->model->hp.latent.n_query;
    int64_t d = l->hp->d_key, n = l->hp->n_head;

    layer->attn_q_a = graph_find_linear(l, ".attn_q_a", e, q, MODEL_OPTIONAL);
    layer->attn_q_a_norm =
        graph_find_norm(l, ".attn_q_a_norm", q, MODEL_OPTIONAL);
    layer->attn_q = graph_find_linear(l, ".attn_q_b", q, d * n, MODEL_OPTIONAL);
    layer->attn_kv_a = graph_find_linear(l, ".attn_kv", e, d, MODEL_OPTIONAL);
    layer->attn_kv_a_norm =
        graph_find_norm(l, ".attn_kv_a_norm", d, MODEL_OPTIONAL);
    layer->attn_sinks = graph_find_vector(l, ".attn_sinks", n, MODEL_REQUIRED);
    find_output(l, layer);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->rope =
        l->hp->compression > 0 ? &l->model->rope : &l->model->rope_local;
    graph_find_streams(l, layer);
    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    find_heads(l, layer);
    if (l->hp->compression > 0)
        find_blocks(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture(l, layer, MODEL_OPTIONAL);
    graph_find_shared_expert(l, layer, false);
    if (l->layer < l->model->hp.n_hash)
        layer->router_ids = graph_find_expert_ids(l, ".ffn_gate_tid2eid");
    graph_find_choice(l, layer,
                      layer->router_ids ? MODEL_OPTIONAL : MODEL_REQUIRED);
    graph_find_bias(l, ".exp_probs_b_vl", l->model->hp.n_expert,
                    MODEL_OPTIONAL); /* of pictures */
}

/* ---- attention ----------------------------------------------------------- */

/* Values of a head before those that are rotated. */
static int
still_values(const struct graph *g, int32_t layer, const struct ggml_tensor *x)
{
    return (int)x->ne[0] - g->model->layers[layer].rope->params.n_rot;
}

static struct ggml_tensor *
turn_last(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    return ggml_rope_set_offset(graph_rope(g, layer, x),
                                still_values(g, layer, x));
}

static struct ggml_tensor *
turn_back(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_rope *r = g->model->layers[layer].rope;
    const struct rope_params *p = &r->params;

    return ggml_rope_set_offset(
        ggml_rope_ext_back(g->ctx, x, g->positions, r->divisors, p->n_rot,
                           p->mode, p->n_ctx_orig, p->base, r->scale, 0,
                           r->magnitude, 32, 1),
        still_values(g, layer, x));
}

/* Parts of a layer's attention that all segments share. */
struct sparse {
    int32_t layer;
    struct ggml_tensor *q;                       /* d_key x n_head x n_tokens */
    struct ggml_tensor *index_q, *index_weights; /* or NULL */
};

static void
keep_compressed(struct graph *g, int32_t layer, enum cache_tensor of,
                struct ggml_tensor *columns, const struct graph_compressor *c)
{
    struct ggml_tensor *x = graph_compress(g, layer, columns, c);

    x = ggml_reshape_3d(g->ctx, x, c->d, 1, x->ne[1]);
    x = ggml_rope_set_offset(graph_rope_blocks(g, layer, x),
                             still_values(g, layer, x));
    graph_keep_blocks(g, layer, of, ggml_reshape_2d(g->ctx, x, c->d, x->ne[2]));
}

/* Values and gates of cur's columns. */
static struct ggml_tensor *
columns_of(struct graph *g, const struct model_compressor *c,
           struct ggml_tensor *cur)
{
    return ggml_concat(g->ctx, graph_linear(g, cur, &c->value),
                       graph_linear(g, cur, &c->gate), 0);
}

static void
keep_rows(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_compressor *index = &l->index_compressor;
    struct ggml_tensor *own = columns_of(g, &l->compressor, cur), *all = own;
    int64_t first = own->ne[0];

    if (index->value.weight)
        all = ggml_concat(g->ctx, own, columns_of(g, index, cur), 0);
    all = graph_block_columns(g, layer, all);
    keep_compressed(g, layer, CACHE_COMPRESSED, all,
                    &(struct graph_compressor){ 0, l->hp->d_compressed,
                                                l->compressor.bias,
                                                &l->compressor.norm });
    if (index->value.weight)
        keep_compressed(
            g, layer, CACHE_COMPRESSED_INDEX, all,
            &(struct graph_compressor){ first, l->hp->d_compressed_index,
                                        index->bias, &index->norm });
}

/* Lists of the blocks that each id of the segment reads. */
static struct ggml_tensor *
choose_blocks(struct graph *g, const struct graph_segment *s,
              const struct sparse *x, struct ggml_tensor *seen)
{
    int32_t n = s->blocks[graph_compression_of(g, x->layer)].n_rows;
    struct tensor_choice choice = { .n_best = n, .each = WHOLE_RATIO };
    struct ggml_tensor *k, *w, *scores;

    if (!x->index_q)
        return tensor_choose(g->ctx, NULL, seen, n, &choice);
    choice.each = CHOSEN_RATIO;
    if (g->model->hp.indexer.n_best < n)
        choice.n_best = g->model->hp.indexer.n_best;
    k = graph_kept_blocks(g, s, x->layer, CACHE_COMPRESSED_INDEX);
    w = ggml_view_2d(g->ctx, x->index_weights, x->index_weights->ne[0], s->n,
                     x->index_weights->nb[1],
                     (size_t)s->first * x->index_weights->nb[1]);
    scores =
        ggml_lightning_indexer(g->ctx, graph_segment_columns(g, s, x->index_q),
                               ggml_permute(g->ctx, k, 0, 2, 1, 3), w, NULL);
    scores = ggml_reshape_3d(g->ctx, scores, scores->ne[0], 1, scores->ne[1]);
    return tensor_choose(g->ctx, scores, seen, 0, &choice);
}

/* The window's keys and those of blocks, in one softmax: d_value * n_head x
 * s->n. */
static struct ggml_tensor *
attend_segment(struct graph *g, const struct graph_segment *s, int32_t layer,
               const void *data)
{
    const struct sparse *x = data;
    const struct cache_layer *l = &g->cache->layers[layer];
    const struct cache_range *keys = &s->keys[l->kind];
    struct tensor_choice choice = { .n_best = g->model->hp.window,
                                    .start = keys->start };
    struct ggml_tensor *seen = ggml_view_1d(
        g->ctx, g->positions, s->n, (size_t)s->first * g->positions->nb[0]);
    struct tensor_rows window, blocks;
    struct ggml_tensor *y;

    window.k = window.v = graph_kept_rows(g, s, layer, CACHE_K, keys);
    if (keys->n < choice.n_best)
        choice.n_best = keys->n;
    window.lists = tensor_choose(g->ctx, NULL, seen, keys->n, &choice);
    blocks.k = blocks.v = graph_kept_blocks(g, s, layer, CACHE_COMPRESSED);
    blocks.lists = choose_blocks(g, s, x, seen);
    y = tensor_attend_rows(g->ctx, graph_segment_columns(g, s, x->q), &window,
                           &blocks, g->model->layers[layer].attn_sinks,
                           graph_attention_scale(g->model, layer));
    return ggml_reshape_2d(g->ctx, y, y->ne[0] * y->ne[1], y->ne[2]);
}

static struct ggml_tensor *
attend_blocks(struct graph *g, int32_t layer, struct ggml_tensor *cur,
              struct ggml_tensor *a, struct ggml_tensor *q)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_indexer *index = &g->model->hp.indexer;
    struct sparse x = { .layer = layer, .q = q };

    keep_rows(g, layer, cur);
    if (l->index_q.weight) {
        x.index_q = graph_heads(g, graph_linear(g, a, &l->index_q),
                                index->d_key, index->n_head);
        x.index_q = turn_last(g, layer, x.index_q);
        x.index_weights =
            ggml_scale(g->ctx, graph_linear(g, cur, &l->index_weights),
                       1 / sqrtf((float)index->d_key * (float)index->n_head));
    }
    return graph_each_segment(g, layer, attend_segment, &x);
}

/* Groups of heads apart, and then what they give together. */
static struct ggml_tensor *
project_groups(struct graph *g, const struct model_layer *l,
               struct ggml_tensor *y)
{
    int64_t n = g->model->hp.n_output_group, rank = g->model->hp.n_output_rank;
    int64_t d = y->ne[0] / n, n_ids = y->ne[1];
    struct ggml_tensor *w = graph_weight(g, l->attn_output_a);

    if (w->ne[2] != n)
        w = ggml_reshape_3d(g->ctx, w, d, rank, n);
    y = ggml_reshape_3d(g->ctx, y, d, n, n_ids);
    y = ggml_cont(g->ctx, ggml_permute(g->ctx, y, 0, 2, 1, 3));
    y = graph_product(g, ggml_mul_mat(g->ctx, w, y));
    y = ggml_cont_2d(g->ctx, ggml_permute(g->ctx, y, 0, 2, 1, 3), rank * n,
                     n_ids);
    return graph_linear(g, y, &l->attn_output);
}

/* norm(K cur), rotated: d_key x 1 x n_tokens. */
static struct ggml_tensor *
key_of(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *k =
        graph_norm(g, graph_linear(g, cur, &l->attn_kv_a), &l->attn_kv_a_norm);

    return turn_last(g, layer, graph_heads(g, k, l->hp->d_key, 1));
}

static struct ggml_tensor *
attention(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *a =
        graph_norm(g, graph_linear(g, cur, &l->attn_q_a), &l->attn_q_a_norm);
    struct ggml_tensor *q = graph_heads(g, graph_linear(g, a, &l->attn_q),
                                        l->hp->d_key, l->hp->n_head);
    struct ggml_tensor *y;

    q = turn_last(g, layer, graph_norm_plain(g, q));
    if (l->hp->compression > 0) {
        graph_keep(g, layer, key_of(g, layer, cur), NULL);
        y = attend_blocks(g, layer, cur, a, q);
    } else {
        y = graph_attention(g, layer, q, key_of(g, layer, cur), NULL);
    }
    y = graph_heads(g, y, l->hp->d_value, l->hp->n_head);
    y = turn_back(g, layer, y);
    y = ggml_reshape_2d(g->ctx, y, y->ne[0] * y->ne[1], y->ne[2]);
    return project_groups(g, l, graph_wanted(g, layer, y));
}

/* ---- the model ----------------------------------------------------------- */

static const struct model_mtp_kind mtp = {
    .raw = true,
    .streams = true,
    .block = graph_streams_block,
};

const struct model_arch graph_family_deepseek4[] = {
    { .name = "deepseek4",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph_streams_decoder,
      .block = graph_streams_block,
      .attend = attention,
      .head = graph_find_streams_head,
      .mtp = &mtp },
    { 0 },
};
