/* gemma.c - Gemma: LLaMA with GELU, a scaled embedding, and one matrix for both
 * ends
 *
 * x = sqrt(n_embd) embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(gelu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = embed^T norm(x)             the norms' 1 + w is in the file */
#include <math.h>

#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->activation = MODEL_GELU;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    model_find_block(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch model_arch_gemma = {
    .name = "gemma",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .head = model_find_head,
};
