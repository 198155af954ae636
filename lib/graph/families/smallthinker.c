/* smallthinker.c - SmallThinker: experts are chosen before attention (Song et
 * al. 2025)
 *
 * x' = x + attention(norm(x))
 * x = x' + mixture(norm(x'))           by router(x); gates are ReLUs
 * logits = output(norm(x))
 *
 * The larger one has a window in three of four layers, and only they turn. */
#include "graph/arch.h"

enum {
    PERIOD = 4, /* the first of N layers sees all keys */
    WINDOW = 4096,
};

#define LEAST_SUM 6.103515625e-5f /* 2^-14: of the router's sigmoids */

static void
read_windows(struct model_keys *keys, struct model_hparams *hp)
{
    if (graph_key_int(keys, "attention.sliding_window", 0, INT32_MAX, 0) == 0)
        return;
    hp->window = WINDOW; /* of all that exist */
    for (int32_t i = 0; i < hp->n_layer; i++)
        hp->layers[i].windowed = i % PERIOD != 0;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    read_windows(keys, hp);
    graph_keys_experts(keys, hp, true);
    graph_keys_gating(keys, hp, MODEL_GATING_SOFTMAX);
    hp->routing.normed = true;
    hp->routing.least_sum = LEAST_SUM;
    hp->activation = MODEL_RELU;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    if (l->model->hp.window > 0 && !layer->windowed)
        layer->rope = NULL;
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *c, *scores;

    scores = graph_wanted(g, layer, x);
    scores = graph_linear(g, scores, &l->router);
    c = graph_norm(g, x, &l->attn_norm);
    c = graph_self_attention(g, layer, c);
    x = ggml_add(g->ctx, graph_wanted(g, layer, x), c);
    c = graph_norm(g, x, &l->ffn_norm);
    x = ggml_add(g->ctx, x, graph_experts(g, l, c, scores));
    return graph_steer(g, layer, x);
}

const struct model_arch graph_family_smallthinker[] = {
    { .name = "smallthinker",
      .hparams = hparams,
      .layer = layer_weights,
      .block = block },
    { 0 },
};
