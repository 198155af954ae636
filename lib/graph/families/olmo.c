/* olmo.c - OLMo: norms without weights (Groeneveld et al. 2024)
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries, keys, values may be clamped
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->qkv_clamp = graph_key_float(keys, "attention.clamp_kqv", 0, 1e6f, 0);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

static void
head(struct model_loader *l)
{
    l->model->output = graph_find_output(l);
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    struct ggml_tensor *c = graph_norm_plain(g, x);

    c = graph_self_attention(g, layer, c);
    x = ggml_add(g->ctx, graph_wanted(g, layer, x), c);
    c = graph_norm_plain(g, x);
    c = graph_feed_forward(g, &g->model->layers[layer], c);
    return ggml_add(g->ctx, x, c);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);

    x = graph_enter(g, x);
    (void)m;
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_steer(g, i, block(g, i, x));
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm_plain(g, x));
}

const struct model_arch graph_family_olmo[] = {
    { .name = "olmo",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .head = head },
    { 0 },
};
