/* falcon.c - Falcon: attention and feed-forward side by side, few heads of keys
 *
 * x = embed(ids)
 * x = x + attention(c) + down(gelu(up(c))), c = norm(x)     in each layer
 * logits = output(norm(x))             40B: a norm of its own for attention */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_LAYER_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->activation = MODEL_GELU_ERF;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    model_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_norm_2 =
        model_find_norm_or_none(l, ".attn_norm_2", e, MODEL_REQUIRED);
    model_find_feed_forward(l, layer, false, MODEL_OPTIONAL);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g), *c, *a, *f;

    x = model_graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *layer = &m->layers[i];

        c = model_graph_norm(g, x, &layer->attn_norm);
        a = c;
        if (layer->attn_norm_2.weight)
            a = model_graph_norm(g, x, &layer->attn_norm_2);
        a = model_graph_self_attention(g, i, a);
        f = model_graph_feed_forward(g, layer, model_graph_wanted(g, i, c));
        x = ggml_add(g->ctx, model_graph_wanted(g, i, x),
                     ggml_add(g->ctx, a, f));
        x = model_graph_steer(g, i, x);
    }
    x = model_graph_leave(g, x);
    return model_graph_logits(g, model_graph_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_falcon = {
    .name = "falcon",
    .norm_bias = MODEL_REQUIRED,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = graph,
    .head = model_find_head,
};
