/* gpt_oss.c - gpt-oss: experts, attention sinks, every other layer windowed
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           a sink takes part of the softmax
 * x = x + mixture(norm(x))             softmax over the best; clamped SwiGLU
 * logits = output(norm(x))             even layers see a window */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->rope.exact_ramp = true;
    graph_keys_rope_same(keys, hp);
    graph_keys_windows(keys, hp, 0, 2);
    graph_keys_experts(keys, hp, true);
    hp->routing.gating = MODEL_GATING_SOFTMAX_OF_USED;
    hp->activation = MODEL_SILU_CLAMPED;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_REQUIRED);
    layer->attn_sinks =
        graph_find_vector(l, ".attn_sinks", l->hp->n_head, MODEL_REQUIRED);
    layer->ffn_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    graph_find_mixture(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_gpt_oss[] = {
    { .name = "gpt-oss", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
