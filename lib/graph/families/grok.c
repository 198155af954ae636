/* grok.c - Grok 1 and 2 (xAI): scales, caps, norms on both sides of a block
 *
 * x = s_e embed(ids)
 * x = x + norm(attention(norm(x)))     c tanh(s_a q k / c)
 * x = x + norm(f(norm(x)))             Grok 1: f = mixture;
 *                                      2: (dense + mixture) / sqrt(2)
 * logits = s_l output(norm(x))         capped, if the file says it
 *
 * Dense blocks and experts: down(gelu(gate(c)) * up(c)). Experts have the
 * softmax of all scores as weights, after Grok 2 has capped the scores. Files
 * without router_logit_softcapping divide the weights by their sum, as
 * llama.cpp of 2026 does: without a dense block the norm makes both the same.
 * The temperature that Grok 2 has from attention.temperature_length on is not
 * computed, here or there. */
#include "graph/arch.h"

static const float ROOT_HALF = 0.70710678f;

static void
read_scales(struct model_keys *keys, struct model_hparams *hp)
{
    hp->embd_scale =
        graph_key_float(keys, "embedding_scale", 0, 1e6f, 78.38367176906169f);
    hp->attn_scale = graph_key_float(keys, "attention.output_scale", 1e-6f,
                                     1e6f, 0.08838834764831845f);
    hp->attn_softcap =
        graph_key_float(keys, "attn_logit_softcapping", 0, 1e6f, 30);
    hp->router_softcap =
        graph_key_float(keys, "router_logit_softcapping", 0, 1e6f, 0);
    hp->logit_scale =
        graph_key_float(keys, "logit_scale", 1e-6f, 1e6f, 0.5773502691896257f);
    hp->logit_softcap =
        graph_key_float(keys, "final_logit_softcapping", 0, 1e6f, 0);
}

/* Some files say that it is YaRN by how much of it there is. */
static void
read_rope(struct model_keys *keys, struct model_hparams *hp)
{
    static const char much[] = "rope.scaling.yarn_ext_factor";
    float part;

    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->rope.beta_fast =
        graph_key_float(keys, "rope.scaling.yarn_beta_fast", 1e-3f, 1e6f, 8);
    part = graph_key_float(keys, much, -1, 1, -1);
    if (part == 1 && hp->rope.scaling == ROPE_LINEAR)
        hp->rope.scaling = ROPE_YARN;
    else if (part == 0 && hp->rope.scaling == ROPE_YARN)
        hp->rope.scaling = ROPE_LINEAR;
    else if (part != 1 && part > 0)
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, much, "%g is not 0 or 1",
                         (double)part);
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    read_rope(keys, hp);
    read_scales(keys, hp);
    graph_keys_experts(keys, hp, false);
    if (keys->status == GG_OK && hp->n_expert == 0)
        graph_key_refuse(keys, GG_ERR_FORMAT, "expert_count", "is 0");
    hp->routing.normed = hp->router_softcap == 0;
    hp->activation = MODEL_GELU;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm(l, ".attn_output_norm", e, MODEL_OPTIONAL);
    if (graph_peek(l, ".ffn_up"))
        graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm_or_none(l, ".layer_output_norm", e, MODEL_OPTIONAL);
    if (!layer->ffn_post_norm.weight)
        layer->ffn_post_norm =
            graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
}

static struct ggml_tensor *
feed_forward(struct graph *g, const struct model_layer *l,
             struct ggml_tensor *x)
{
    float cap = g->model->hp.router_softcap;
    struct ggml_tensor *scores, *y;

    if (!l->ffn_up.weight)
        return graph_mixture(g, l, x);
    scores = graph_linear(g, x, &l->router);
    if (cap > 0)
        scores = graph_softcap(g, scores, cap);
    y = graph_experts(g, l, x, scores);
    y = ggml_add(g->ctx, graph_feed_forward(g, l, x), y);
    return ggml_scale(g->ctx, y, ROOT_HALF);
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *y;

    y = graph_self_attention(g, layer, graph_norm(g, x, &l->attn_norm));
    y = graph_norm(g, y, &l->attn_post_norm);
    x = ggml_add(g->ctx, graph_wanted(g, layer, x), y);
    y = feed_forward(g, l, graph_norm(g, x, &l->ffn_norm));
    x = ggml_add(g->ctx, x, graph_norm(g, y, &l->ffn_post_norm));
    return graph_steer(g, layer, x);
}

const struct model_arch graph_family_grok[] = {
    { .name = "grok",
      .hparams = hparams,
      .layer = layer_weights,
      .block = block },
    { 0 },
};
