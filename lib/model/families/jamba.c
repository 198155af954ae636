/* jamba.c - Jamba: of eight layers one has attention, the others a Mamba 1
 * whose dt, B and C are normed (Lieber et al. 2024)
 *
 * x = embed(ids)
 * x = x + mamba(c) or attention(c), c = norm(x), nothing turns
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x), or a mixture of such
 * logits = output(norm(x))
 *
 * Which layers have a mixture only their tensors tell. Its weights are parts of
 * a softmax over all experts. */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_recurrent_heads(keys, hp);
    model_keys_mamba(keys, hp);
    model_keys_experts(keys, hp, false);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs)
        model_find_mamba(l, layer, MODEL_REQUIRED);
    else
        model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    if (model_peek(l, ".ffn_gate_inp"))
        model_find_mixture(l, layer, MODEL_OPTIONAL);
    else
        model_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch model_arch_jamba = {
    .name = "jamba",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .recur = model_graph_mamba,
    .head = model_find_head,
};
