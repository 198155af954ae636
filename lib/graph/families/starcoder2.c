/* starcoder2.c - StarCoder 2, CodeShell: layer norms, biases, GELU without a
 * gate
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rotary positions
 * x = x + down(gelu(up(norm(x))))      in each layer
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_window(keys, hp);
    hp->activation = MODEL_GELU;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, false, MODEL_REQUIRED);
}

static void
codeshell_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->activation = MODEL_GELU;
}

const struct model_arch graph_family_starcoder2[] = {
    { .name = "starcoder2",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights },
    { .name = "codeshell",
      .norm_bias = true,
      .hparams = codeshell_hparams,
      .layer = layer_weights,
      .output_embeds = true },
    { 0 },
};
