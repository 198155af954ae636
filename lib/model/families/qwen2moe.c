/* qwen2moe.c - Qwen 1.5 and 2 with a mixture of experts, one of them shared
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + mixture(c) + sigmoid(r c) shared(c), c = norm(x)     in each layer
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
shared_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, f = l->model->hp.n_ff_shared;
    enum model_need bias = MODEL_OPTIONAL;

    layer->shared_router =
        model_find_linear(l, ".ffn_gate_inp_shexp", e, 1, bias);
    layer->shared_gate = model_find_linear(l, ".ffn_gate_shexp", e, f, bias);
    layer->shared_up = model_find_linear(l, ".ffn_up_shexp", e, f, bias);
    layer->shared_down = model_find_linear(l, ".ffn_down_shexp", f, e, bias);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    model_find_mixture(l, layer, MODEL_OPTIONAL);
    shared_weights(l, layer);
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
        cur = model_graph_mixture(g, layer, cur, GRAPH_SOFTMAX, GRAPH_SILU);
        x = model_graph_add(g, x, cur);
    }
    return model_graph_logits(g, model_graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_qwen2moe = {
    "qwen2moe", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
