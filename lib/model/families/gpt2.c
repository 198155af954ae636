/* gpt2.c - GPT-2: learned positions, layer norms, GELU
 *
 * x = embed(ids) + position(pos)
 * x = x + attention(norm(x))
 * x = x + down(gelu(up(norm(x))))      in each layer
 * logits = output(norm(x)) */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_LAYER_NORM);
    hp->learned_positions = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    model_find_attention(l, layer, MODEL_REQUIRED);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_REQUIRED);
    model_find_feed_forward(l, layer, false, MODEL_REQUIRED);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x, *cur;

    x = ggml_add(g->ctx, model_graph_embed(g), model_graph_embed_positions(g));
    for (int32_t i = 0; i < m->hp.n_layer; i++) {
        const struct model_layer *layer = &m->layers[i];

        cur = model_graph_layer_norm(g, x, &layer->attn_norm);
        cur = model_graph_self_attention(g, i, cur);
        x = model_graph_add(g, model_graph_wanted(g, i, x), cur);
        cur = model_graph_layer_norm(g, x, &layer->ffn_norm);
        cur = model_graph_feed_forward(g, layer, cur, GRAPH_GELU);
        x = model_graph_add(g, x, cur);
    }
    return model_graph_logits(g, model_graph_layer_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_gpt2 = {
    "gpt2", MODEL_REQUIRED, hparams, layer_weights, graph,
};
