/* eagle3.c - EAGLE-3 (Li et al. 2025): one layer drafts, of what three layers
 * of its target gave
 *
 * f[p]: the target's hidden vectors of id p at three depths, one after the
 * other g[p] = fc(f[p])              norm_before_fc: fc(norm(f[p]))
 *
 * c = norm(e(id p)), norm(g[p - 1])            at position p
 * x = g[p - 1] + attention(c)  norm_before_residual: norm(g[p - 1]) + ...
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)
 * logits = output(norm(x))                     of id p + 1, of few ids
 *
 * Then x is g[p] to a guess at id p + 2. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_drafting *d = &hp->drafting;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_features(keys, hp);
    if (keys->status == GG_OK && hp->n_layer != 1)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "block_count",
                         "%d layers: EAGLE-3 has one", (int)hp->n_layer);
    if (keys->status == GG_OK && d->n_features != 3)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "target_layers",
                         "%d layers: EAGLE-3 reads three", (int)d->n_features);
    d->d_kept = hp->n_embd;
    d->n_ids = 1;
    d->norm_before_fc = graph_key_bool(keys, "norm_before_fc", false);
    d->norm_before_residual =
        graph_key_bool(keys, "norm_before_residual", false);
}

static void
join(struct model_keys *keys, const struct model_hparams *target,
     struct model_hparams *hp)
{
    int32_t n =
        graph_key_int(keys, "target_hidden_size", 1, 1 << 24, target->n_embd);

    graph_features_join(keys, target, hp);
    if (keys->status == GG_OK && n != target->n_embd)
        graph_key_mismatch(keys, "target_hidden_size",
                           "is not the model's embedding_length,", n,
                           target->n_embd);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    int64_t q = (int64_t)l->hp->n_head * l->hp->d_key;
    int64_t k = (int64_t)l->hp->n_head_kv * l->hp->d_key;
    int64_t v = (int64_t)l->hp->n_head_kv * l->hp->d_value;
    enum model_need need = MODEL_OPTIONAL;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, need);
    layer->attn_norm_2 = graph_find_norm(l, ".attn_norm_2", e, need);
    layer->attn_q = graph_find_linear(l, ".attn_q", 2 * e, q, need);
    layer->attn_k = graph_find_linear(l, ".attn_k", 2 * e, k, need);
    layer->attn_v = graph_find_linear(l, ".attn_v", 2 * e, v, need);
    layer->attn_output = graph_find_linear(
        l, ".attn_output", (int64_t)l->hp->n_head * l->hp->d_value, e, need);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, need);
    graph_find_feed_forward(l, layer, true, need);
}

static void
head(struct model_loader *l)
{
    struct model *d = l->model;
    const struct model_drafting *x = &d->hp.drafting;

    graph_drafter_find_ids(l);
    graph_drafter_borrow(l);
    if (x->norm_before_fc)
        d->fuse_norm = graph_find_norm(l, "enc.output_norm", x->d_features,
                                       MODEL_OPTIONAL);
    d->fuse =
        graph_find_linear(l, "fc", x->d_features, d->hp.n_embd, MODEL_OPTIONAL);
    d->output_norm =
        graph_find_norm(l, "output_norm", d->hp.n_embd, MODEL_OPTIONAL);
}

/* Queries, keys and values are made of this; h: the row before each id. */
static struct ggml_tensor *
joined(struct graph *g, const struct model_layer *l, struct ggml_tensor *h)
{
    struct ggml_tensor *e = ggml_get_rows(g->ctx, g->model->token_embd, g->ids);

    return ggml_concat(g->ctx, graph_norm(g, e, &l->attn_norm),
                       graph_norm(g, h, &l->attn_norm_2), 0);
}

static void
feed(struct graph *g, struct ggml_tensor *features)
{
    const struct model *d = g->model;
    int32_t layer = d->hp.n_layer;
    struct ggml_tensor *h, *before;

    h = graph_norm(g, features, &d->fuse_norm);
    h = graph_linear(g, h, &d->fuse);
    before = graph_hidden_before(g, h);
    graph_keep_attention(g, layer, joined(g, &d->layers[layer], before));
    graph_keep_last_hidden(g, h);
}

static struct ggml_tensor *
draft(struct graph *g)
{
    const struct model *d = g->model;
    int32_t layer = d->hp.n_layer;
    const struct model_layer *l = &d->layers[layer];
    struct ggml_tensor *x, *y;

    x = ggml_get_rows(g->ctx, g->cache->mtp.rows, g->mtp_from);
    y = graph_self_attention(g, layer, joined(g, l, x));
    if (d->hp.drafting.norm_before_residual)
        x = graph_norm(g, x, &l->attn_norm_2);
    x = graph_add(g, graph_wanted(g, layer, x), y);
    y = graph_feed_forward(g, l, graph_norm(g, x, &l->ffn_norm));
    x = graph_add(g, x, y);
    graph_keep_hidden(g, x);
    return graph_logits_by(g, &d->output, graph_norm(g, x, &d->output_norm));
}

static const struct model_drafter drafter = {
    .join = join,
    .feed = feed,
    .draft = draft,
};

const struct model_arch graph_family_eagle3[] = {
    { .name = "eagle3",
      .hparams = hparams,
      .layer = layer_weights,
      .head = head,
      .drafter = &drafter },
    { 0 },
};
