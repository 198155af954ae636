/* maple.c - Maple (Deepgrove): Qwen 3's mixture; layers that see all do not
 * turn
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           norm(q), norm(k); of windowed layers
 *                                      rope(norm(q)), rope(norm(k))
 * x = x + mixture(norm(x))             softmax, the best, to sum 1; each layer
 * logits = output(norm(x))
 *
 * Experts: down(silu(min(gate, limit)) * clamp(up, -limit, limit)). */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_layer_hparams *l = hp->layers;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows(keys, hp, 0, 0);
    graph_keys_rope_local(keys, hp, hp->rope.base);
    graph_keys_experts(keys, hp, true);
    hp->routing.normed = true;
    graph_keys_layer_floats(keys, "swiglu_clamp_exp", 0, 1e6f, &l->expert_limit,
                            sizeof(*l));
    hp->limit_before = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    if (!l->hp->windowed)
        layer->rope = NULL;
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_maple[] = {
    { .name = "maple", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
