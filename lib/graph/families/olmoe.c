/* olmoe.c - OLMoE (Muennighoff et al. 2024): queries and keys normed whole
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k)): the norms
 *                                      are those of all heads together
 * x = x + mixture(norm(x))             the best of softmax, as they are
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_experts(keys, hp, false);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_whole_norms(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_olmoe[] = {
    { .name = "olmoe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
