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
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_recurrent_heads(keys, hp);
    graph_keys_mamba(keys, hp);
    graph_keys_experts(keys, hp, false);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs)
        graph_find_mamba(l, layer, MODEL_REQUIRED);
    else
        graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    if (graph_peek(l, ".ffn_gate_inp"))
        graph_find_mixture(l, layer, MODEL_OPTIONAL);
    else
        graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch graph_family_jamba[] = {
    { .name = "jamba",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = graph_mamba },
    { 0 },
};
