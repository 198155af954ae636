/* gemma4.c - Gemma 4, EmbeddingGemma 2: embeddings for each layer, shared keys
 * and values
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
 */
#include <math.h>

#include "graph/arch.h"

enum {
    PERIOD = 6,               /* the last of N layers sees all keys */
    MAX_LAYER_EMBD = 1 << 16, /* values of a layer's own embedding */
};

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

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_windows(keys, hp, 0, PERIOD);
    graph_keys_heads_local(keys, hp);
    read_rope(keys, hp);
    graph_keys_shared(keys, hp, 0);
    graph_keys_experts(keys, hp, false);
    hp->routing.normed = true;
    hp->n_embd_layer = graph_key_int(keys, "embedding_length_per_layer_input",
                                     0, MAX_LAYER_EMBD, 0);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->activation = MODEL_GELU;
    hp->attn_scale = 1;
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

const struct model_arch graph_family_gemma4[] = {
    { .name = "gemma4",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .embedding = embedding },
    { .name = "gemma-embedding2",
      .hparams = embedding2_hparams,
      .layer = layer_weights,
      .graph = graph,
      .head = graph_find_output_norm,
      .embedding = embedding2 },
    { 0 },
};
