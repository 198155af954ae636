/* qwen3.c - Qwen 3, OpenELM: queries and keys are normed, each head alone
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * Qwen 3-VL is the same for text, where M-RoPE has one position for all of its
 * parts; after the first layers comes what rows of a picture have there. Layers
 * of OpenELM (Mehta et al. 2024) have their own numbers of heads and lengths of
 * feed-forward vectors. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_interleaved_sections(hp);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_qwen3[] = {
    { .name = "openelm", .hparams = hparams, .layer = layer_weights },
    { .name = "qwen3", .hparams = hparams, .layer = layer_weights },
    { .name = "qwen3vl", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
