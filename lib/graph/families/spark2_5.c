/* spark2_5.c - Spark X2.5 (iFlytek): a gate a head, GELU, windows
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           each head's answer times
 *                                      sigmoid(gate(norm(x)))
 * x = x + down(gelu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * Windowed layers turn by another base, and another part of a head. GELU is the
 * exact one, as its makers compute it; llama.cpp of 2026 takes that by tanh. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows(keys, hp, 0, 0);
    graph_keys_rope_local(keys, hp, hp->rope.base);
    graph_keys_rotated_local(keys, hp, hp->rope.n_rot);
    hp->activation = MODEL_GELU_ERF;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_attention_gate(l, layer);
}

const struct model_arch graph_family_spark2_5[] = {
    { .name = "spark2_5", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
