/* deepseek.c - DeepSeek MoE (Dai et al. 2024), and Ling: small experts, shared
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries and keys rotated by position
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense;
 * logits = output(norm(x))             the best of softmax; Ling: to sum 1 */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SOFTMAX);
}

/* The file has no say in whether the weights are normed. */
static void
deepseek_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    hparams(keys, hp);
    hp->routing.normed = false;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    if (graph_mixes(&l->model->hp, l->layer) && l->model->hp.n_ff_shared > 0)
        graph_find_shared_expert(l, layer, false);
}

const struct model_arch graph_family_deepseek[] = {
    { .name = "deepseek", .hparams = deepseek_hparams, .layer = layer_weights },
    { .name = "bailingmoe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
