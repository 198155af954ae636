/* qwen3moe.c - Qwen 3 with a mixture of experts
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(norm(x))             softmax, the best, to sum 1; each layer
 * logits = output(norm(x))
 *
 * Qwen 3-VL is the same for text: M-RoPE has one position for all of its parts
 * there, and no layer adds anything of a picture. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_interleaved_sections(hp);
    graph_keys_experts(keys, hp, true);
    hp->routing.normed = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_qwen3moe[] = {
    { .name = "qwen3moe", .hparams = hparams, .layer = layer_weights },
    { .name = "qwen3vlmoe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
