/* hy_v3.c - Hunyuan 3: Qwen 3's attention, experts chosen by biased sigmoids,
 * one for all
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x))
 *
 * A layer has a mixture where the file has its router. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    if (hp->n_ff_shared == 0)
        hp->n_ff_shared = hp->n_ff_expert;
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_if_routed(l, layer);
    graph_find_choice(l, layer, MODEL_OPTIONAL);
    if (layer->router.weight && graph_peek(l, ".ffn_up_shexp"))
        graph_find_shared_expert(l, layer, false);
}

const struct model_arch graph_family_hy_v3[] = {
    { .name = "hy_v3",
      .hparams = hparams,
      .layer = layer_weights,
      .mtp = &graph_mtp_usual },
    { 0 },
};
