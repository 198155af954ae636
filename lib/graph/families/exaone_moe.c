/* exaone_moe.c - K-EXAONE: three windowed layers for one that does not turn
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k)) in windows;
 *                                      without rope where all is seen
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x))             experts as in DeepSeek V3 */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_rope_same(keys, hp);
    graph_keys_windows(keys, hp, 0, 4);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    if (!layer->windowed && l->model->hp.window > 0)
        layer->rope = NULL;
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_exaone_moe[] = {
    { .name = "exaone-moe", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
