/* jais.c - Jais (Sengupta et al. 2023): GPT-2 with ALiBi and SwiGLU
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           a bias that falls with the distance;
 *                                      q k / d_key, not its root
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * Files have the scales of embeddings and logits (muP) in the weights. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    hp->attn_max_bias =
        graph_key_float(keys, "attention.max_alibi_bias", 0, 1e3f, 0);
    if (keys->status == GG_OK)
        hp->attn_scale = 1 / (float)hp->layers[0].d_key;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_REQUIRED);
}

const struct model_arch graph_family_jais[] = {
    { .name = "jais",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights },
    { 0 },
};
