/* granite.c - Granite: LLaMA with a scale at every seam
 *
 * x = s_e embed(ids)
 * x = x + s_r attention(norm(x))       softmax(s_a q k), not 1 / sqrt(d)
 * x = x + s_r down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) / s_l
 *
 * Granite 4's with one kind of layers say so with `rope.scaling.finetuned` if
 * queries and keys do not turn. */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    if (model_key_bool(keys, "rope.scaling.finetuned", true))
        model_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->embd_scale = model_key_float(keys, "embedding_scale", 0, 1e6f, 0);
    hp->residual_scale = model_key_float(keys, "residual_scale", 0, 1e6f, 0);
    hp->attn_scale = model_key_float(keys, "attention.scale", 0, 1e6f, 0);
    hp->logit_scale = 1 / model_key_float(keys, "logit_scale", 1e-6f, 1e6f, -1);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    model_find_block(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch model_arch_granite = {
    .name = "granite",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .head = model_find_head,
};
