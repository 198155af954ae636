/* mimo2.c - MiMo V2: values shorter than keys, sinks in windowed layers
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries and keys rotated by position;
 *                                      what it gives times a scale
 * x = x + mixture(norm(x))             the first layer is dense; experts as in
 * logits = output(norm(x))             DeepSeek V3
 *
 * Windowed layers have other numbers of keys and turn by another base; a sink
 * takes part of their softmax. */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_rope_local(keys, hp, 0);
    model_keys_windows(keys, hp, 0, 0);
    hp->value_scale =
        model_key_float(keys, "attention.value_scale", 0, 1e6f, 0);
    model_keys_experts(keys, hp, true);
    hp->routing.gating = MODEL_GATING_SIGMOID;
    hp->routing.normed = true;
}

/* Its makers' models have no biases; programs that read such files pass over
 * those that one has. */
static void
drop_biases(struct model_layer *layer)
{
    layer->attn_qkv.bias = NULL;
    layer->attn_q.bias = NULL;
    layer->attn_k.bias = NULL;
    layer->attn_v.bias = NULL;
    layer->attn_output.bias = NULL;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    drop_biases(layer);
    layer->attn_sinks =
        model_find_vector(l, ".attn_sinks", l->hp->n_head, MODEL_OPTIONAL);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    model_find_mixture_if_routed(l, layer);
    model_find_choice(l, layer, MODEL_OPTIONAL);
}

const struct model_arch model_arch_mimo2 = {
    .name = "mimo2",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = model_graph_decoder,
    .head = model_find_head,
    .mtp = &model_mtp_raw,
};
