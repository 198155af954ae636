/* dots1.c - dots.llm1: Qwen 3's attention, DeepSeek V3's choice of experts
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_arch_dots1 = {
    .name = "dots1",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = graph_decoder,
    .head = graph_find_head,
};
