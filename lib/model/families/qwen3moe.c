/* qwen3moe.c - Qwen 3 with a mixture of experts
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(norm(x))             softmax, the best, to sum 1; each layer
 * logits = output(norm(x)) */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_experts(keys, hp, true);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    int64_t d = l->model->hp.d_key;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    layer->attn_q_norm = model_find_norm(l, ".attn_q_norm", d, MODEL_OPTIONAL);
    layer->attn_k_norm = model_find_norm(l, ".attn_k_norm", d, MODEL_OPTIONAL);
    model_find_mixture(l, layer, MODEL_OPTIONAL);
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
        cur = model_graph_mixture(g, layer, cur, GRAPH_SOFTMAX_NORMED,
                                  GRAPH_SILU);
        x = model_graph_add(g, x, cur);
    }
    return model_graph_logits(g, model_graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_qwen3moe = {
    "qwen3moe", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
