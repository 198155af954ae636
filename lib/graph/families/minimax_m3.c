/* minimax_m3.c - MiniMax M3: attention to blocks of keys, which a short head
 * for each head of keys chooses
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k)), of each
 *                                      head; after the first layers to blocks
 *                                      alone: indexer.c
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense;
 *                                      clamped SwiGLU
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    graph_keys_block_indexer(keys, hp, hp->n_dense);
    hp->activation = MODEL_SILU_CLAMPED;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    graph_find_block_indexer(l, layer);
    graph_find_choice_and_shared(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_minimax_m3[] = {
    { .name = "minimax-m3", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
