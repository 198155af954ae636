/* qwen2moe.c - Qwen 1.5 and 2 with a mixture of experts, one of them shared
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + mixture(c) + sigmoid(r c) shared(c), c = norm(x)     in each layer
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_experts(keys, hp, true);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_shared_expert(l, layer, true);
}

const struct model_arch graph_family_qwen2moe[] = {
    { .name = "qwen2moe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
