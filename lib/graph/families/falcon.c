/* falcon.c - Falcon: attention and feed-forward side by side, few heads of keys
 *
 * x = embed(ids)
 * x = x + attention(c) + down(gelu(up(c))), c = norm(x)     in each layer
 * logits = output(norm(x))             40B: a norm of its own for attention */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->activation = MODEL_GELU_ERF;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_norm_2 =
        graph_find_norm_or_none(l, ".attn_norm_2", e, MODEL_REQUIRED);
    graph_find_feed_forward(l, layer, false, MODEL_OPTIONAL);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g), *c, *a, *f;

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *layer = &m->layers[i];

        c = graph_norm(g, x, &layer->attn_norm);
        a = c;
        if (layer->attn_norm_2.weight)
            a = graph_norm(g, x, &layer->attn_norm_2);
        a = graph_self_attention(g, i, a);
        f = graph_feed_forward(g, layer, graph_wanted(g, i, c));
        x = ggml_add(g->ctx, graph_wanted(g, i, x), ggml_add(g->ctx, a, f));
        x = graph_steer(g, i, x);
    }
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_falcon[] = {
    { .name = "falcon",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph },
    { 0 },
};
