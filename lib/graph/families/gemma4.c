/* gemma4.c - Gemma 4, its drafters, EmbeddingGemma 2: embeddings for each
 * layer, shared keys and values
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + norm(attention(norm(x)))     rope(norm(q)), rope(norm(k)), norm(v)
 * x = x + norm(feed_forward(x))
 * x = x + norm(proj(gelu(gate(x)) * e))    e: the layer's own embedding
 * x = scale x                          in each layer
 * logits = cap(output(norm(x)))
 *
 * feed_forward(x) = mlp(norm(x)), or, in models with experts,
 * norm(mlp(norm(x))) + norm(mixture(norm(x))), the router reading the x that is
 * normed without a weight. Windowed layers have shorter heads; of the others
 * only the first pairs of a head turn, at the frequencies of the whole head
 * (rope_freqs: proportional), and values may be the keys before their norm. The
 * last layers read the keys and values of those before them.
 *
 * EmbeddingGemma 2: an encoder without experts; whole heads turn, a window is
 * half to each side, and a layer's own embedding comes from the usual one
 * alone.
 *
 * A drafter (gemma4-assistant) has layers of queries only, which read keys and
 * values of the last layers of a Gemma 4. All ids of a draft stand where the
 * first does, and see the ids before it:
 *
 * x = pre(join(sqrt(n_embd) embed(id), h))      h, embed, n_embd: the target's
 * x = the layers above; y = norm(x); logits = output(y)
 * h = post(y)                                   for the next id
 *
 * In files with clusters of tokens, logits are those of the clusters whose
 * centroids give the largest products with y; others are UNLIKELY.
 */
#include <math.h>

#include "graph/arch.h"

enum {
    PERIOD = 6,               /* the last of N layers sees all keys */
    MAX_LAYER_EMBD = 1 << 16, /* values of a layer's own embedding */
    MAX_TARGET_EMBD = 1 << 20,
    LIKELIEST = 32, /* clusters, where the file does not say how many */
};

#define UNLIKELY (-1e30f)

static void
read_rope(struct model_keys *keys, struct model_hparams *hp)
{
    static const char name[] = "rope.dimension_count_swa";
    int32_t d = 0, n;

    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_rope_local(keys, hp, 0);
    for (int32_t i = 0; i < hp->n_layer; i++)
        if (hp->layers[i].windowed)
            d = hp->layers[i].d_key;
    if (d == 0)
        return;
    n = graph_key_int(keys, name, 1, d, d);
    if (n < 2)
        graph_key_mismatch(keys, name, "is no pair, of", n, d);
    hp->rope_local.n_rot = 2 * (n / 2);
}

/* Numbers of models and drafters. */
static void
read_common(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_windows(keys, hp, 0, PERIOD);
    graph_keys_heads_local(keys, hp);
    read_rope(keys, hp);
    hp->activation = MODEL_GELU;
    hp->attn_scale = 1;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    read_common(keys, hp);
    graph_keys_shared(keys, hp, 0);
    graph_keys_experts(keys, hp, false);
    hp->routing.normed = true;
    hp->n_embd_layer = graph_key_int(keys, "embedding_length_per_layer_input",
                                     0, MAX_LAYER_EMBD, 0);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->values_normed = true;
    hp->keys_as_values = true;
    /* All models have this cap; 0 in the file: there is none. */
    hp->logit_softcap =
        graph_key_float(keys, "final_logit_softcapping", 0, 1e6f, 30);
}

static void
embedding2_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp);
    hp->window_kind = MODEL_WINDOW_SYMMETRIC;
    hp->logit_softcap = 0;
    hp->encoder = true;
}

static void
embedding2(struct model_loader *l)
{
    if (l->model->hp.n_embd_layer > 0)
        graph_find_layer_embd_proj(l);
}

static void
embedding(struct model_loader *l)
{
    if (l->model->hp.n_embd_layer > 0)
        graph_find_layer_embd(l);
}

/* Experts next to the feed-forward block. */
static void
find_experts(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    graph_find_mixture(l, layer, MODEL_OPTIONAL);
    layer->router_scale = graph_find_scales(l, ".ffn_gate_inp", e);
    layer->experts_norm =
        graph_find_norm(l, ".pre_ffw_norm_2", e, MODEL_OPTIONAL);
    layer->dense_post_norm =
        graph_find_norm(l, ".post_ffw_norm_1", e, MODEL_OPTIONAL);
    layer->experts_post_norm =
        graph_find_norm(l, ".post_ffw_norm_2", e, MODEL_OPTIONAL);
}

/* Pairs of a head that must not turn have a divisor that stops them. */
static void
check_proportional(struct model_loader *l, const struct model_layer *layer)
{
    if (l->status != GG_OK || layer->windowed || l->model->hp.encoder)
        return;
    if (l->model->hp.rope.scaling == ROPE_YARN)
        l->status = error_set(l->err, GG_ERR_UNSUPPORTED,
                              "RoPE of gemma4 is proportional: YaRN cannot "
                              "scale it");
    else if (!layer->rope->divisors)
        l->status = gguf_bad_value(l->gguf, "rope_freqs.weight", l->err,
                                   "the file has no such tensor");
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
    if (hp->n_expert > 0)
        find_experts(l, layer);
    if (hp->n_embd_layer > 0)
        graph_find_layer_embd_block(l, layer);
    layer->output_scale =
        graph_find_vector(l, ".layer_output_scale", 1, MODEL_OPTIONAL);
    check_proportional(l, layer);
}

/* ---- the graph ----------------------------------------------------------- */

static struct ggml_tensor *
router_scores(struct graph *g, const struct model_layer *l,
              struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;

    x = ggml_rms_norm(g->ctx, x, hp->eps);
    x = ggml_scale(g->ctx, x, 1 / sqrtf((float)hp->n_embd));
    return graph_linear(g, ggml_mul(g->ctx, x, l->router_scale), &l->router);
}

static struct ggml_tensor *
feed_forward(struct graph *g, const struct model_layer *l,
             struct ggml_tensor *x)
{
    struct ggml_tensor *y = graph_norm(g, x, &l->ffn_norm), *z;

    y = graph_feed_forward(g, l, y);
    if (!l->router.weight)
        return y;
    y = graph_norm(g, y, &l->dense_post_norm);
    z = graph_experts(g, l, graph_norm(g, x, &l->experts_norm),
                      router_scores(g, l, x));
    return ggml_add(g->ctx, y, graph_norm(g, z, &l->experts_post_norm));
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x,
      struct ggml_tensor *embedded)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *y = graph_norm(g, x, &l->attn_norm);

    y = graph_self_attention(g, layer, y);
    y = graph_norm(g, y, &l->attn_post_norm);
    x = ggml_add(g->ctx, graph_wanted(g, layer, x), y);
    y = graph_norm(g, feed_forward(g, l, x), &l->ffn_post_norm);
    x = ggml_add(g->ctx, x, y);
    if (embedded)
        x = ggml_add(g->ctx, x, graph_layer_embd(g, layer, x, embedded));
    return l->output_scale ? ggml_mul(g->ctx, x, l->output_scale) : x;
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);
    struct ggml_tensor *embedded = graph_embed_layers(g, x);

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_steer(g, i, block(g, i, x, embedded));
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

/* ---- drafters ------------------------------------------------------------ */

static void
assistant_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_drafting *d = &hp->drafting;

    read_common(keys, hp);
    d->d_kept =
        graph_key_int(keys, "embedding_length_out", 1, MAX_TARGET_EMBD, 0);
    d->n_features = 1;
    d->features_normed = true;
    d->n_ids = 1;
    d->n_likeliest =
        graph_key_int(keys, "centroid_top_k", 1, MAX_TARGET_EMBD, LIKELIEST);
}

/* The layer reads keys of the target's last layer that sees as much. */
static void
join_layer(struct model_keys *keys, const struct model_hparams *target,
           struct model_layer_hparams *l)
{
    int32_t i = target->n_layer - 1;
    const struct model_layer_hparams *from;

    while (i >= 0 && target->layers[i].windowed != l->windowed)
        i--;
    if (i < 0) {
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED,
                         "attention.sliding_window_pattern",
                         "the model has no layer %s a window",
                         l->windowed ? "with" : "without");
        return;
    }
    from = &target->layers[target->layers[i].kv_layer];
    l->kv_layer = target->layers[i].kv_layer;
    if (l->n_head_kv != from->n_head_kv || l->d_key != from->d_key ||
        l->d_value != from->d_value)
        graph_key_refuse(keys, GG_ERR_FORMAT, "attention.head_count_kv",
                         "%d heads of keys of %d values: the model's are %d "
                         "of %d",
                         (int)l->n_head_kv, (int)l->d_key, (int)from->n_head_kv,
                         (int)from->d_key);
}

static void
assistant_join(struct model_keys *keys, const struct model_hparams *target,
               struct model_hparams *hp)
{
    struct model_drafting *d = &hp->drafting;

    if (!target->values_normed || !target->rope_local_differs)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "embedding_length_out",
                         "such drafters are for models of gemma4");
    else if (d->d_kept != target->n_embd)
        graph_key_mismatch(keys, "embedding_length_out",
                           "is not the model's embedding_length", d->d_kept,
                           target->n_embd);
    else if (hp->window != target->window)
        graph_key_mismatch(keys, "attention.sliding_window",
                           "is not the model's", hp->window, target->window);
    d->features[0] = target->n_layer;
    hp->embd_scale = target->embd_scale;
    graph_features_join(keys, target, hp);
    for (int32_t i = 0; i < hp->n_drafter && keys->status == GG_OK; i++)
        join_layer(keys, target, &hp->layers[hp->n_layer + i]);
}

/* Queries turn as the keys do that they meet. */
static void
assistant_layer(struct model_loader *l, struct model_layer *layer)
{
    layer->rope = layer->windowed ? &l->target->rope_local : &l->target->rope;
    layer_weights(l, layer);
}

static void
find_clusters(struct model_loader *l)
{
    struct model *d = l->model;
    const struct gguf_tensor *t = graph_peek(l, "masked_embd_centroids");
    int64_t n = t ? t->ne[1] : 0;

    if (n == 0)
        return;
    if (d->hp.n_vocab % n || d->hp.drafting.n_likeliest > n) {
        l->status = gguf_bad_value(l->gguf, t->name, l->err,
                                   "%d clusters do not divide %d tokens, or "
                                   "are fewer than %d",
                                   (int)n, (int)d->hp.n_vocab,
                                   (int)d->hp.drafting.n_likeliest);
        return;
    }
    d->clusters = graph_find_order(l, "masked_embd_ordering", d->hp.n_vocab);
    if (d->clusters)
        d->centroids = graph_find_linear(l, "masked_embd_centroids",
                                         d->hp.n_embd, n, MODEL_OPTIONAL);
    else
        graph_pass_over(l, "masked_embd_centroids");
}

static void
assistant_head(struct model_loader *l)
{
    struct model *d = l->model;
    int64_t e = d->hp.n_embd, t = d->hp.drafting.d_kept;

    d->token_embd = l->target->token_embd;
    graph_find_output_norm(l);
    d->output =
        graph_find_linear(l, "token_embd", e, d->hp.n_vocab, MODEL_OPTIONAL);
    d->fuse =
        graph_find_linear(l, "nextn.pre_projection", 2 * t, e, MODEL_OPTIONAL);
    d->unfuse =
        graph_find_linear(l, "nextn.post_projection", e, t, MODEL_OPTIONAL);
    find_clusters(l);
}

static void
assistant_feed(struct graph *g, struct ggml_tensor *features)
{
    graph_keep_last_hidden(g, features);
}

/* Logits of the tokens `ids`, n of each column of y. */
static struct ggml_tensor *
logits_of(struct graph *g, struct ggml_tensor *y, struct ggml_tensor *ids,
          int64_t n)
{
    const struct model_linear *w = &g->model->output;
    struct ggml_tensor *rows = ggml_get_rows(g->ctx, w->weight, ids), *x;

    rows = ggml_reshape_3d(g->ctx, rows, y->ne[0], n, y->ne[1]);
    y = ggml_reshape_3d(g->ctx, y, y->ne[0], 1, y->ne[1]);
    x = ggml_mul_mat(g->ctx, rows, y);
    return w->scale != 1 ? ggml_scale(g->ctx, x, w->scale) : x;
}

static struct ggml_tensor *
cluster_logits(struct graph *g, struct ggml_tensor *y)
{
    const struct model *d = g->model;
    int64_t n_vocab = d->hp.n_vocab, n_rows = y->ne[1];
    int64_t k = d->hp.drafting.n_likeliest;
    int64_t n = n_vocab / d->centroids.weight->ne[1] * k;
    struct ggml_tensor *ids, *x, *all;

    x = ggml_top_k(g->ctx, graph_linear(g, y, &d->centroids), (int)k);
    ids = ggml_reshape_2d(g->ctx, d->clusters, n / k, n_vocab / (n / k));
    ids = ggml_get_rows(g->ctx, ids, ggml_reshape_1d(g->ctx, x, k * n_rows));
    x = logits_of(g, y, ggml_reshape_1d(g->ctx, ids, n * n_rows), n);
    all = ggml_new_tensor_3d(g->ctx, GGML_TYPE_F32, 1, n_vocab, n_rows);
    all = ggml_set_rows(g->ctx, ggml_fill(g->ctx, all, UNLIKELY),
                        ggml_reshape_3d(g->ctx, x, 1, n, n_rows),
                        ggml_reshape_2d(g->ctx, ids, n, n_rows));
    return ggml_cont_2d(g->ctx, all, n_vocab, n_rows);
}

static struct ggml_tensor *
assistant_draft(struct graph *g)
{
    const struct model *d = g->model;
    struct ggml_tensor *x = graph_embed_by(g, d->token_embd), *h;

    h = ggml_get_rows(g->ctx, g->cache->mtp.rows, g->mtp_from);
    x = graph_linear(g, ggml_concat(g->ctx, x, h, 0), &d->fuse);
    for (int32_t i = 0; i < d->hp.n_drafter; i++)
        x = block(g, d->hp.n_layer + i, x, NULL);
    x = graph_norm(g, x, &d->output_norm);
    graph_keep_hidden(g, graph_linear(g, x, &d->unfuse));
    return d->clusters ? cluster_logits(g, x)
                       : graph_logits_by(g, &d->output, x);
}

static const struct model_drafter assistant = {
    .join = assistant_join,
    .feed = assistant_feed,
    .draft = assistant_draft,
    .reads_keys = true,
};

const struct model_arch graph_family_gemma4[] = {
    { .name = "gemma4",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .embedding = embedding },
    { .name = "gemma4-assistant",
      .hparams = assistant_hparams,
      .layer = assistant_layer,
      .head = assistant_head,
      .drafter = &assistant },
    { .name = "gemma-embedding2",
      .hparams = embedding2_hparams,
      .layer = layer_weights,
      .graph = graph,
      .head = graph_find_output_norm,
      .embedding = embedding2 },
    { 0 },
};
