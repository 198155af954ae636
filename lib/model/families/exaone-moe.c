/* exaone-moe.c - K-EXAONE: three windowed layers for one that does not turn
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k)) in windows;
 *                                      without rope where all is seen
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x))             experts as in DeepSeek V3 */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_rope_same(keys, hp);
    model_keys_windows(keys, hp, 0, 4);
    model_keys_experts(keys, hp, true);
    model_keys_shared_experts(keys, hp);
    model_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    if (!layer->windowed && l->model->hp.window > 0)
        layer->rope = NULL;
    model_find_block(l, layer, true, MODEL_OPTIONAL);
    model_find_head_norms(l, layer, MODEL_OPTIONAL);
    model_find_choice_and_shared(l, layer, MODEL_OPTIONAL);
}

const struct model_arch model_arch_exaone_moe = {
    .name = "exaone-moe",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .head = model_find_head,
};
