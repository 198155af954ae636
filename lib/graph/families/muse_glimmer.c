/* muse_glimmer.c - Muse Glimmer: gated attention, three of four layers
 * windowed
 *
 * x = norm(embed(ids))                 norm without weights
 * x = x + norm(output(sigmoid(g(c)) * attention(c))), c = norm(x)
 *                                      rope(s norm(q)), rope(norm(k))
 * x = x + norm(down(silu(gate(c)) * up(c))), c = norm(x)     in each layer
 * logits = cap(s' output(norm(x)))     cap(x) = c tanh(x / c)
 *
 * Only the windowed layers turn. Files have s as weights of the queries' norm.
 */
#include "graph/arch.h"

enum {
    PERIOD = 4, /* the last of N layers sees all keys */
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_windows(keys, hp, 0, PERIOD);
    hp->logit_scale = graph_key_float(keys, "logit_scale", 0, 1e6f, -1);
    hp->logit_softcap =
        graph_key_float(keys, "final_logit_softcapping", 0, 1e6f, 30);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    int64_t out = (int64_t)l->hp->n_head * l->hp->d_value;

    if (!layer->windowed)
        layer->rope = NULL;
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    layer->attn_gate =
        graph_find_linear(l, ".attn_gate", e, out, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
}

/* Norms after the blocks have an epsilon of their own. */
static struct ggml_tensor *
post(struct graph *g, struct ggml_tensor *x, const struct model_norm *norm)
{
    return graph_scale_norm(g, ggml_rms_norm(g->ctx, x, 1e-8f), norm);
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *c = graph_norm(g, x, &l->attn_norm);

    c = graph_self_attention(g, layer, c);
    x = ggml_add(g->ctx, graph_wanted(g, layer, x),
                 post(g, c, &l->attn_post_norm));
    c = graph_norm(g, x, &l->ffn_norm);
    c = graph_feed_forward(g, l, c);
    return ggml_add(g->ctx, x, post(g, c, &l->ffn_post_norm));
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed_normed(g, NULL);

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_steer(g, i, block(g, i, x));
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_muse_glimmer[] = {
    { .name = "muse-glimmer",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph },
    { 0 },
};
