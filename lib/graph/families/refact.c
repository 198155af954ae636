/* refact.c - Refact: LLaMA without rotary positions
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           a bias that falls with the distance
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * All heads share one of keys and values. Its makers take means from what is
 * normed: files say so by an epsilon of layer norms; those of llama.cpp's
 * converter have one of RMS norms, as llama.cpp computes them. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    bool means = graph_key_exists(keys, "attention.layer_norm_epsilon");

    graph_keys_common(keys, hp, means ? MODEL_LAYER_NORM : MODEL_RMS_NORM);
    hp->attn_max_bias = 8;
}

/* Biases of some files have no part: the model has none. */
static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_usual_block(l, layer);
    layer->attn_output.bias = NULL;
    layer->ffn_gate.bias = NULL;
    layer->ffn_up.bias = NULL;
    layer->ffn_down.bias = NULL;
}

const struct model_arch graph_family_refact[] = {
    { .name = "refact", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
