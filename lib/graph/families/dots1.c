/* dots1.c - dots.llm1, Ling 2 and Ring 2: Qwen 3's attention, DeepSeek V3's
 * choice of experts
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x))             of Ling's heads the first half turns
 *
 * Ling: the best groups are chosen by their two best biased sigmoids, then
 * experts of these, as in DeepSeek V3 (DeepSeek-AI 2024). */
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

const struct model_arch graph_family_dots1[] = {
    { .name = "dots1", .hparams = hparams, .layer = layer_weights },
    { .name = "bailingmoe2", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
