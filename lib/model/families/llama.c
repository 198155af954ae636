/* llama.c - LLaMA, Mistral, Mixtral: rotary positions, RMS norms, SwiGLU
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries and keys rotated by position
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * Mixtral: the feed-forward block is a mixture of such. Mistral: attention sees
 * a window of keys. */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    model_keys_window(keys, hp);
    model_keys_experts(keys, hp, false);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    if (l->model->hp.n_expert > 0)
        model_find_mixture(l, layer, MODEL_OPTIONAL);
    else
        model_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
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
        cur = layer->router.weight
                  ? model_graph_mixture(g, layer, cur, GRAPH_SOFTMAX_NORMED,
                                        GRAPH_SILU)
                  : model_graph_feed_forward(g, layer, cur, GRAPH_SILU);
        x = model_graph_add(g, x, cur);
    }
    return model_graph_logits(g, model_graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_llama = {
    "llama", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
