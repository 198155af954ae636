/* smollm3.c - SmolLM 3: LLaMA in which every fourth layer knows no positions
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) */
#include "graph/arch.h"

enum {
    NO_ROPE_STEP = 4,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    if ((l->layer + 1) % NO_ROPE_STEP == 0)
        layer->rope = NULL;
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch graph_family_smollm3[] = {
    { .name = "smollm3", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
