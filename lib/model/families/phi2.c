/* phi2.c - Phi 1 to 2: attention and feed-forward side by side
 *
 * x = embed(ids)
 * x = x + attention(c) + down(gelu(up(c))), c = norm(x)     in each layer
 * logits = output(norm(x)) + bias */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_LAYER_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    model_find_attention(l, layer, MODEL_REQUIRED);
    model_find_feed_forward(l, layer, false, MODEL_REQUIRED);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g);

    for (int32_t i = 0; i < m->hp.n_layer; i++)
        x = model_graph_parallel_block(g, i, x, GRAPH_GELU);
    return model_graph_logits(g, model_graph_layer_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_phi2 = {
    "phi2", MODEL_REQUIRED, hparams, layer_weights, graph,
};
