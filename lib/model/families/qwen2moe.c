/* qwen2moe.c - Qwen 1.5 and 2 with a mixture of experts, one of them shared
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + mixture(c) + sigmoid(r c) shared(c), c = norm(x)     in each layer
 * logits = output(norm(x)) */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_experts(keys, hp, true);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    model_find_block(l, layer, true, MODEL_OPTIONAL);
    model_find_shared_expert(l, layer, true);
}

const struct model_arch model_arch_qwen2moe = {
    .name = "qwen2moe",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .head = model_find_head,
};
