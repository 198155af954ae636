/* mellum.c - Mellum 2: Qwen 3's mixture, three of four layers windowed
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(norm(x))             softmax, the best, to sum 1; each layer
 * logits = output(norm(x))             the windowed turn unscaled */
#include "model/arch.h"

enum {
    PERIOD = 4, /* the last of so many layers sees all keys */
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_windows(keys, hp, 0, PERIOD);
    model_keys_rope_local(keys, hp, 0);
    model_keys_experts(keys, hp, true);
    hp->routing.normed = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    model_find_block(l, layer, true, MODEL_OPTIONAL);
    model_find_head_norms(l, layer, MODEL_OPTIONAL);
}

const struct model_arch model_arch_mellum = {
    .name = "mellum",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .head = model_find_head,
};
