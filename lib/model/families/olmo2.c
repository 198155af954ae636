/* olmo2.c - OLMo 2 and 3: norms after the blocks, none before
 *
 * x = embed(ids)
 * x = x + norm(attention(x))           norm(q), norm(k) over all heads
 * x = x + norm(down(silu(gate(x)) * up(x)))     in each layer
 * logits = output(norm(x))
 *
 * OLMo 3 has a window in three of four layers, which turn unscaled. */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    model_keys_windows(keys, hp, 0, 4);
    model_keys_rope_local(keys, hp, 0);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t e = hp->n_embd, q = (int64_t)hp->n_head * hp->d_key;
    int64_t k = (int64_t)hp->n_head_kv * hp->d_key;

    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_q_norm = model_find_norm(l, ".attn_q_norm", q, MODEL_OPTIONAL);
    layer->attn_k_norm = model_find_norm(l, ".attn_k_norm", k, MODEL_OPTIONAL);
    layer->attn_post_norm =
        model_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        model_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
    model_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g), *cur;

    for (int32_t i = 0; i < m->hp.n_layer; i++) {
        const struct model_layer *layer = &m->layers[i];

        cur = model_graph_self_attention(g, i, x);
        cur = model_graph_rms_norm(g, cur, &layer->attn_post_norm);
        x = model_graph_add(g, model_graph_wanted(g, i, x), cur);
        cur = model_graph_feed_forward(g, layer, x, GRAPH_SILU);
        cur = model_graph_rms_norm(g, cur, &layer->ffn_post_norm);
        x = model_graph_add(g, x, cur);
    }
    return model_graph_logits(g, model_graph_rms_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_olmo2 = {
    "olmo2", MODEL_OPTIONAL, hparams, layer_weights, graph,
};
