/* mellum.c - Mellum 2: Qwen 3's mixture, three of four layers windowed
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(norm(x))             softmax, the best, to sum 1; each layer
 * logits = output(norm(x))             the windowed turn unscaled */
#include "graph/arch.h"

enum {
    PERIOD = 4, /* the last of N layers sees all keys */
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows(keys, hp, 0, PERIOD);
    graph_keys_rope_local(keys, hp, 0);
    graph_keys_experts(keys, hp, true);
    hp->routing.normed = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_mellum[] = {
    { .name = "mellum", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
