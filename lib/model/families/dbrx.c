/* dbrx.c - DBRX: clamped queries, keys and values, layer norms without bias
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries and keys rotated by position
 * x = x + mixture(norm(x))             the best of softmax, to sum 1
 * logits = output(norm(x)) */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_LAYER_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->qkv_clamp = model_key_float(keys, "attention.clamp_kqv", 0, 1e6f, -1);
    model_keys_experts(keys, hp, false);
    hp->routing.normed = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm =
        model_find_norm(l, ".attn_output_norm", e, MODEL_OPTIONAL);
    model_find_mixture(l, layer, MODEL_OPTIONAL);
}

const struct model_arch model_arch_dbrx = {
    .name = "dbrx",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .head = model_find_head,
};
