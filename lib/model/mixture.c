/* mixture.c - mixtures of experts: a router chooses who answers */
#include "model/graph.h"

/* For each id its experts, n_used x n_tokens, and the weights of their answers,
 * 1 x n_used x n_tokens. */
struct route {
    struct ggml_tensor *experts, *weights;
};

static struct ggml_tensor *
softmax_of_used(struct graph *g, struct ggml_tensor *w)
{
    int64_t n = w->ne[1], n_tokens = w->ne[2];

    w = ggml_soft_max(g->ctx, ggml_reshape_2d(g->ctx, w, n, n_tokens));
    return ggml_reshape_3d(g->ctx, w, 1, n, n_tokens);
}

static struct ggml_tensor *
divide_by_sum(struct graph *g, struct ggml_tensor *w)
{
    int64_t n = w->ne[1], n_tokens = w->ne[2];

    w = ggml_reshape_2d(g->ctx, w, n, n_tokens);
    w = ggml_div(g->ctx, w, ggml_sum_rows(g->ctx, w));
    return ggml_reshape_3d(g->ctx, w, 1, n, n_tokens);
}

static struct route
choose(struct graph *g, const struct model_layer *layer, struct ggml_tensor *x,
       enum graph_routing routing)
{
    const struct model_hparams *hp = &g->model->hp;
    struct ggml_tensor *p = model_graph_linear(g, x, &layer->router);
    struct route r;

    if (routing != GRAPH_SOFTMAX_OF_USED)
        p = ggml_soft_max(g->ctx, p);
    r.experts = ggml_top_k(g->ctx, p, hp->n_expert_used);
    p = ggml_reshape_3d(g->ctx, p, 1, hp->n_expert, x->ne[1]);
    r.weights = ggml_get_rows(g->ctx, p, r.experts);
    if (routing == GRAPH_SOFTMAX_OF_USED)
        r.weights = softmax_of_used(g, r.weights);
    if (routing == GRAPH_SOFTMAX_NORMED)
        r.weights = divide_by_sum(g, r.weights);
    return r;
}

/* x: n x n_used x n_tokens; scales: n_expert. */
static struct ggml_tensor *
scale_each(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *scales,
           struct ggml_tensor *ids)
{
    int64_t n_used = ids->ne[0], n_tokens = ids->ne[1];

    scales = ggml_reshape_2d(g->ctx, scales, 1, scales->ne[0]);
    ids = ggml_reshape_1d(g->ctx, ids, n_used * n_tokens);
    scales = ggml_get_rows(g->ctx, scales, ids);
    scales = ggml_reshape_3d(g->ctx, scales, 1, n_used, n_tokens);
    return ggml_mul(g->ctx, x, scales);
}

static struct ggml_tensor *
ask(struct graph *g, const struct model_experts *experts, struct ggml_tensor *x,
    struct ggml_tensor *ids)
{
    x = model_graph_product(g,
                            ggml_mul_mat_id(g->ctx, experts->weight, x, ids));
    if (experts->scales)
        x = scale_each(g, x, experts->scales, ids);
    return experts->bias ? ggml_add_id(g->ctx, x, experts->bias, ids) : x;
}

/* n_embd x n_used x n_tokens -> n_embd x n_tokens, in a fixed order */
static struct ggml_tensor *
add_up(struct graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *sum = NULL, *one;

    for (int64_t i = 0; i < x->ne[1]; i++) {
        one = ggml_view_2d(g->ctx, x, x->ne[0], x->ne[2], x->nb[2],
                           (size_t)i * x->nb[1]);
        sum = sum ? ggml_add(g->ctx, sum, one) : one;
    }
    return x->ne[1] == 1 ? ggml_cont(g->ctx, sum) : sum;
}

static struct ggml_tensor *
shared_expert(struct graph *g, const struct model_layer *layer,
              struct ggml_tensor *x)
{
    struct ggml_tensor *gate = model_graph_linear(g, x, &layer->shared_gate);
    struct ggml_tensor *up = model_graph_linear(g, x, &layer->shared_up),
                       *share;

    up = model_graph_gated(g, gate, up, GRAPH_SILU);
    up = model_graph_linear(g, up, &layer->shared_down);
    share =
        ggml_sigmoid(g->ctx, model_graph_linear(g, x, &layer->shared_router));
    return ggml_mul(g->ctx, up, share);
}

struct ggml_tensor *
model_graph_mixture(struct graph *g, const struct model_layer *layer,
                    struct ggml_tensor *x, enum graph_routing routing,
                    enum graph_activation act)
{
    struct route r = choose(g, layer, x, routing);
    struct ggml_tensor *x3 = ggml_reshape_3d(g->ctx, x, x->ne[0], 1, x->ne[1]);
    struct ggml_tensor *gate = ask(g, &layer->experts_gate, x3, r.experts);
    struct ggml_tensor *up = ask(g, &layer->experts_up, x3, r.experts), *y;

    up = model_graph_gated(g, gate, up, act);
    y = ask(g, &layer->experts_down, up, r.experts);
    y = add_up(g, ggml_mul(g->ctx, y, r.weights));
    if (layer->shared_up.weight)
        y = ggml_add(g->ctx, y, shared_expert(g, layer, x));
    return y;
}
