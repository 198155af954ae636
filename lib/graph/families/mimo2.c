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
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_rope_local(keys, hp, 0);
    graph_keys_windows(keys, hp, 0, 0);
    hp->value_scale =
        graph_key_float(keys, "attention.value_scale", 0, 1e6f, 0);
    graph_keys_experts(keys, hp, true);
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

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    drop_biases(layer);
    layer->attn_sinks =
        graph_find_vector(l, ".attn_sinks", l->hp->n_head, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_if_routed(l, layer);
    graph_find_choice(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_mimo2[] = {
    { .name = "mimo2",
      .hparams = hparams,
      .layer = layer_weights,
      .mtp = &graph_mtp_raw },
    { 0 },
};
