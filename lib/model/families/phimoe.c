/* phimoe.c - Phi 3.5 MoE: biased norms, two sets of frequencies, experts
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           other frequencies for long contexts
 * x = x + mixture(norm(x))             the best of softmax, to sum 1
 * logits = output(norm(x))
 *
 * Its makers take layer norms, and weigh the second expert among those near it;
 * programs that read these files do neither. */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_window(keys, hp);
    model_keys_experts(keys, hp, false);
    hp->routing.normed = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    model_find_block(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch model_arch_phimoe = {
    .name = "phimoe",
    .norm_bias = MODEL_REQUIRED,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .head = model_find_head,
};
