/* ernie4_5_moe.c - ERNIE 4.5 with experts: a bias of their probabilities
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries and keys rotated by position
 * x = x + mixture(c) + shared(c), c = norm(x)     the best of softmax + bias,
 * logits = output(norm(x))             the chosen probabilities to sum 1
 *
 * The first layers are dense, and after them all but each n-th. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SOFTMAX);
    hp->routing.normed = true;
    hp->mixture_step = graph_key_int(keys, "interleave_moe_layer_step", 1,
                                     MODEL_MAX_LAYERS, 1);
}

/* Its makers' models have no biases; programs that read such files pass over
 * this one. */
static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    layer->attn_output.bias = NULL;
    graph_find_choice_and_shared(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_ernie4_5_moe[] = {
    { .name = "ernie4_5-moe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
