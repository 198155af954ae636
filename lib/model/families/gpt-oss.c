/* gpt-oss.c - gpt-oss: experts, attention sinks, every other layer windowed
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           a sink takes part of the softmax
 * x = x + mixture(norm(x))             softmax over the best; clamped SwiGLU
 * logits = output(norm(x))             even layers see a window */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->rope.exact_ramp = true;
    model_keys_rope_same(keys, hp);
    model_keys_windows(keys, hp, 0, 2);
    model_keys_experts(keys, hp, true);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_REQUIRED);
    layer->attn_sinks =
        model_find_vector(l, ".attn_sinks", hp->n_head, MODEL_REQUIRED);
    layer->ffn_norm =
        model_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    model_find_mixture(l, layer, MODEL_REQUIRED);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g), *cur;

    for (int32_t i = 0; i < m->hp.n_layer; i++) {
        const struct model_layer *layer = &m->layers[i];

        cur = model_graph_rms_norm(g, x, &layer->attn_norm);
        cur = model_graph_self_attention(g, i, cur);
        x = model_graph_add(g, model_graph_wanted(g, i, x), cur);
        cur = model_graph_rms_norm(g, x, &layer->ffn_norm);
        cur = model_graph_mixture(g, layer, cur, GRAPH_SOFTMAX_OF_USED,
                                  GRAPH_SILU_CLAMPED);
        x = model_graph_add(g, x, cur);
    }
    return model_graph_logits(g, model_graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_gpt_oss = {
    "gpt-oss", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
