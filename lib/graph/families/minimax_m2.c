/* minimax_m2.c - MiniMax M2: all layers have experts, chosen by biased sigmoids
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k)): the norms
 *                                      are those of all heads together
 * x = x + mixture(norm(x))             sigmoids of the chosen, to sum 1
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_experts(keys, hp, true);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    hp->routing.normed = true;
    hp->n_ff_shared = 0;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_whole_norms(l, layer, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_minimax_m2[] = {
    { .name = "minimax-m2", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
