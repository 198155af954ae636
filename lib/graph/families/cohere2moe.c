/* cohere2moe.c - Command A with experts: both blocks read the same norm
 *
 * x = embed(ids)
 * x = x + attention(c) + mixture(c), c = norm(x)     the mixture's answer is
 *                                      the mean of experts' and the shared
 * one's logits = scale output(norm(x))
 *
 * Of four layers all but the first see a window and turn; so do those in front,
 * which are dense. Experts are weighed by their sigmoids, or by the softmax of
 * the chosen. */
#include "graph/arch.h"

/* Norms are to mean 0, unless the file has an epsilon of the other ones. */
static enum model_norms
norms_of(struct model_keys *keys)
{
    float eps = graph_key_float_or_zero(
        keys, "attention.layer_norm_rms_epsilon", 0, 0.1f, 0);

    return eps != 0 ? MODEL_RMS_NORM : MODEL_LAYER_NORM;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_routing *r = &hp->routing;

    graph_keys_common(keys, hp, norms_of(keys));
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_rope_same(keys, hp);
    graph_keys_windows_after(keys, hp, 0, 4);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    if (r->gating == MODEL_GATING_SOFTMAX)
        r->gating = MODEL_GATING_SOFTMAX_OF_USED;
    r->shared_mean = true;
    hp->logit_scale = graph_key_float(keys, "logit_scale", 0, 1e6f, -1);
    for (int32_t i = hp->n_layer; i < graph_all_layers(hp); i++)
        hp->layers[i].windowed = false; /* MTP layers, which turn */
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd;

    if (!layer->windowed && l->layer >= hp->n_dense && l->layer < hp->n_layer)
        layer->rope = NULL;
    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    if (graph_mixes(hp, l->layer) && hp->n_ff_shared > 0)
        graph_find_shared_expert(l, layer, false);
}

static const struct model_mtp_kind mtp = { .block = graph_parallel_block };

const struct model_arch graph_family_cohere2moe[] = {
    { .name = "cohere2moe",
      .hparams = hparams,
      .layer = layer_weights,
      .block = graph_parallel_block,
      .mtp = &mtp },
    { 0 },
};
