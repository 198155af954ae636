/* hunyuan_moe.c - Hunyuan A13B: a mixture and one expert of all in each layer
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           norm(rope(q)), norm(rope(k))
 * x = x + mixture(c) + shared(c), c = norm(x)     the best of softmax, to sum 1
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->norm_after_rope = true;
    graph_keys_experts(keys, hp, true);
    hp->routing.normed = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    graph_find_shared_expert(l, layer, false);
}

const struct model_arch graph_family_hunyuan_moe[] = {
    { .name = "hunyuan-moe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
