/* kimi_linear.c - Kimi Linear: of four layers three have Kimi's delta attention
 * (Kimi Team 2025), the fourth latent attention without positions
 *
 * x = embed(ids)
 * x = x + attention(c) or o(c), c = norm(x)     latent.c, delta_attention.c
 * x = x + mixture(c) + shared(c), c = norm(x)   the first layers are dense
 * logits = output(norm(x))
 *
 * Files hold negative rates of decays. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t d_shared;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_delta_attention(keys, hp);
    d_shared = graph_key_int(keys, "rope.dimension_count", 1, 1 << 16, 0);
    graph_keys_latent(keys, hp, d_shared, graph_is_absorbed(keys, hp));
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    hp->routing.normed = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs)
        graph_find_delta_attention(l, layer);
    else
        graph_find_latent_attention(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_kimi_linear[] = {
    { .name = "kimi-linear",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = graph_delta_attention },
    { 0 },
};
