/* nemotron.c - Nemotron, Jais 2, Arcee: a squared ReLU without a gate
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(relu(up(norm(x)))^2)    in each layer (So et al. 2021)
 * logits = output(norm(x))
 *
 * Arcee has RMS norms, the others have layer norms. Files of Nemotron have its
 * norms' weights plus 1. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->activation = MODEL_RELU_SQUARED;
}

static void
arcee_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->activation = MODEL_RELU_SQUARED;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, false, MODEL_OPTIONAL);
}

const struct model_arch graph_family_nemotron[] = {
    { .name = "arcee", .hparams = arcee_hparams, .layer = layer_weights },
    { .name = "jais2",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights },
    { .name = "nemotron",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights },
    { 0 },
};
