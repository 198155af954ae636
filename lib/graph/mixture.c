/* mixture.c - mixtures of experts: a router chooses who answers */
#include "graph/graph.h"

#include <math.h>

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

/* Sigmoids may all be 0; of the probabilities that a softmax gives the largest
 * are never. */
static struct ggml_tensor *
divide_by_sum(struct graph *g, struct ggml_tensor *w)
{
    const struct model_routing *how = &g->model->hp.routing;
    float least = how->least_sum > 0 ? how->least_sum : 1e-20f;
    int64_t n = w->ne[1], n_tokens = w->ne[2];
    struct ggml_tensor *sum;

    w = ggml_reshape_2d(g->ctx, w, n, n_tokens);
    sum = ggml_sum_rows(g->ctx, w);
    if (how->gating == MODEL_GATING_SIGMOID ||
        how->gating == MODEL_GATING_SQRT_SOFTPLUS)
        sum = ggml_clamp(g->ctx, sum, least, INFINITY);
    w = ggml_div(g->ctx, w, sum);
    return ggml_reshape_3d(g->ctx, w, 1, n, n_tokens);
}

/* Scores of the experts of the best groups; of the others -infinity. */
static struct ggml_tensor *
keep_best_groups(struct graph *g, struct ggml_tensor *scores)
{
    const struct model_routing *r = &g->model->hp.routing;
    int64_t n_group = r->n_group, n = scores->ne[0] / n_group;
    int64_t n_tokens = scores->ne[1];
    struct ggml_tensor *each, *best, *groups, *none;

    scores = ggml_reshape_3d(g->ctx, scores, n, n_group, n_tokens);
    best = ggml_top_k(g->ctx, scores, r->group_by_best ? 1 : 2);
    each = ggml_reshape_4d(g->ctx, scores, 1, n, n_group, n_tokens);
    best = ggml_get_rows(g->ctx, each, best);
    best = ggml_reshape_3d(g->ctx, best, best->ne[1], n_group, n_tokens);
    best = ggml_sum_rows(g->ctx, best);
    best = ggml_reshape_2d(g->ctx, best, n_group, n_tokens);
    groups = ggml_top_k(g->ctx, best, r->n_group_used);
    best = ggml_get_rows(g->ctx, scores, groups);
    none = ggml_scale_bias(g->ctx, scores, 0, -INFINITY);
    scores = ggml_set_rows(g->ctx, none, best, groups);
    return ggml_reshape_2d(g->ctx, scores, n * n_group, n_tokens);
}

/* n_expert x n_tokens: by what experts are chosen, as the gated scores p are
 * what their answers are weighed by. Sigmoids alone have the scores' own order,
 * but for those that are so large that they round to 1. */
static struct ggml_tensor *
by_what_chosen(struct graph *g, const struct model_layer *layer,
               struct ggml_tensor *scores, struct ggml_tensor *p)
{
    const struct model_routing *r = &g->model->hp.routing;

    if (layer->router_bias)
        p = ggml_add(g->ctx, p, layer->router_bias);
    else if (r->gating == MODEL_GATING_SIGMOID && r->n_group == 0)
        p = scores;
    return r->n_group > 0 ? keep_best_groups(g, p) : p;
}

static struct ggml_tensor *
gate(struct graph *g, struct ggml_tensor *scores)
{
    switch (g->model->hp.routing.gating) {
    case MODEL_GATING_SOFTMAX:
        return ggml_soft_max(g->ctx, scores);
    case MODEL_GATING_SIGMOID:
        return ggml_sigmoid(g->ctx, scores);
    case MODEL_GATING_SQRT_SOFTPLUS:
        return ggml_sqrt(g->ctx, ggml_softplus(g->ctx, scores));
    default:
        return scores;
    }
}

/* Experts of n ids: by the scores, or, of hash layers, by the ids. */
static struct ggml_tensor *
choose_experts(struct graph *g, const struct model_layer *layer,
               struct ggml_tensor *scores, struct ggml_tensor *p)
{
    struct ggml_tensor *ids = g->ids;

    if (!layer->router_ids)
        return ggml_top_k(g->ctx, by_what_chosen(g, layer, scores, p),
                          g->model->hp.n_expert_used);
    ids = ggml_get_rows(g->ctx, layer->router_ids, ids);
    return ids->ne[1] == scores->ne[1] ? ids
                                       : ggml_get_rows(g->ctx, ids, g->rows);
}

static struct route
route_tokens(struct graph *g, const struct model_layer *layer,
             struct ggml_tensor *scores)
{
    const struct model_hparams *hp = &g->model->hp;
    const struct model_routing *how = &hp->routing;
    struct ggml_tensor *p = gate(g, scores);
    struct route r;

    r.experts = choose_experts(g, layer, scores, p);
    p = ggml_reshape_3d(g->ctx, p, 1, hp->n_expert, p->ne[1]);
    r.weights = ggml_get_rows(g->ctx, p, r.experts);
    if (how->gating == MODEL_GATING_SOFTMAX_OF_USED)
        r.weights = softmax_of_used(g, r.weights);
    if (how->normed)
        r.weights = divide_by_sum(g, r.weights);
    if (how->scale != 0)
        r.weights = ggml_scale(g->ctx, r.weights, how->scale);
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
    struct ggml_tensor *w = graph_weight(g, experts->weight), *y;

    y = graph_product(g, ggml_mul_mat_id(g->ctx, w, x, ids));
    if (experts->scales && w == experts->weight)
        y = scale_each(g, y, experts->scales, ids);
    y = graph_add_adapters(g, y, experts->weight, x, ids);
    return experts->bias
               ? ggml_add_id(g->ctx, y, graph_weight(g, experts->bias), ids)
               : y;
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

struct ggml_tensor *
graph_shared_expert(struct graph *g, const struct model_layer *layer,
                    struct ggml_tensor *x)
{
    struct ggml_tensor *up = graph_linear(g, x, &layer->shared_up), *share;

    if (layer->shared_gate.weight)
        up = graph_limited(g, graph_linear(g, x, &layer->shared_gate), up,
                           layer->hp->ff_limit);
    else if (up->ne[0] == 2 * layer->shared_down.weight->ne[0])
        up = graph_gated_by_itself(g, up, g->model->hp.activation);
    else
        up = graph_activate(g, up, g->model->hp.activation);
    up = graph_linear(g, up, &layer->shared_down);
    if (!layer->shared_router.weight)
        return up;
    share = ggml_sigmoid(g->ctx, graph_linear(g, x, &layer->shared_router));
    return ggml_mul(g->ctx, up, share);
}

/* n_ff_expert x n_used x n_tokens of what the chosen experts read. */
static struct ggml_tensor *
ask_up(struct graph *g, const struct model_layer *layer, struct ggml_tensor *x,
       struct ggml_tensor *experts)
{
    float limit = layer->hp->expert_limit;
    struct ggml_tensor *gate, *up;
    int64_t n;

    if (!layer->experts_gate_up.weight && !layer->experts_gate.weight)
        return graph_activate(g, ask(g, &layer->experts_up, x, experts),
                              g->model->hp.activation);
    if (!layer->experts_gate_up.weight) {
        gate = ask(g, &layer->experts_gate, x, experts);
        up = ask(g, &layer->experts_up, x, experts);
        return graph_limited(g, gate, up, limit);
    }
    up = ask(g, &layer->experts_gate_up, x, experts);
    n = up->ne[0] / 2;
    gate = ggml_view_3d(g->ctx, up, n, up->ne[1], up->ne[2], up->nb[1],
                        up->nb[2], 0);
    up = ggml_view_3d(g->ctx, up, n, up->ne[1], up->ne[2], up->nb[1], up->nb[2],
                      (size_t)n * up->nb[0]);
    return graph_limited(g, gate, up, limit);
}

/* Each chosen expert gets a row of its own, times its weight. */
static struct ggml_tensor *
weigh_input(struct graph *g, struct ggml_tensor *x, const struct route *r)
{
    x = ggml_repeat_4d(g->ctx, x, x->ne[0], r->experts->ne[0], x->ne[2], 1);
    return ggml_mul(g->ctx, x, r->weights);
}

/* The groups of the experts that are used, and their weights, which are the
 * sums of these experts'; groups that fill up the number have weight 0. */
static struct route
route_groups(struct graph *g, const struct route *r, struct ggml_tensor *scores)
{
    const struct model_hparams *hp = &g->model->hp;
    int64_t of = hp->adjugate_of, n = hp->n_expert / of;
    int64_t n_used = r->experts->ne[0], n_tokens = r->experts->ne[1];
    struct ggml_tensor *w, *none;
    struct route groups;

    none = ggml_reshape_3d(g->ctx, ggml_scale(g->ctx, scores, 0), 1,
                           hp->n_expert, n_tokens);
    w = ggml_set_rows(g->ctx, none, r->weights, r->experts);
    w = ggml_sum_rows(g->ctx, ggml_reshape_3d(g->ctx, w, of, n, n_tokens));
    groups.experts = ggml_top_k(g->ctx, ggml_reshape_2d(g->ctx, w, n, n_tokens),
                                (int)(n_used < n ? n_used : n));
    groups.weights = ggml_get_rows(g->ctx, w, groups.experts);
    return groups;
}

static struct ggml_tensor *
ask_groups(struct graph *g, const struct model_layer *layer,
           struct ggml_tensor *x, const struct route *r,
           struct ggml_tensor *scores)
{
    struct route groups = route_groups(g, r, scores);
    struct ggml_tensor *gate, *up;

    gate = ask(g, &layer->adjugate_gate, x, groups.experts);
    up = ask(g, &layer->adjugate_up, x, groups.experts);
    up = graph_gated(g, gate, up, g->model->hp.activation);
    up = ask(g, &layer->adjugate_down, up, groups.experts);
    up = add_up(g, ggml_mul(g->ctx, up, groups.weights));
    return ggml_scale(g->ctx, up, g->model->hp.adjugate_scale);
}

struct ggml_tensor *
graph_experts(struct graph *g, const struct model_layer *layer,
              struct ggml_tensor *x, struct ggml_tensor *scores)
{
    bool before = g->model->hp.routing.before;
    struct route r = route_tokens(g, layer, scores);
    struct ggml_tensor *y;

    x = ggml_reshape_3d(g->ctx, x, x->ne[0], 1, x->ne[1]);
    if (before)
        x = weigh_input(g, x, &r);
    y = ask_up(g, layer, x, r.experts);
    y = ask(g, &layer->experts_down, y, r.experts);
    y = add_up(g, before ? y : ggml_mul(g->ctx, y, r.weights));
    return layer->adjugate_up.weight
               ? ggml_add(g->ctx, y, ask_groups(g, layer, x, &r, scores))
               : y;
}

struct ggml_tensor *
graph_mixture(struct graph *g, const struct model_layer *layer,
              struct ggml_tensor *x)
{
    struct ggml_tensor *scores = graph_linear(g, x, &layer->router);
    struct ggml_tensor *y = x;

    if (layer->experts_in.weight)
        y = graph_linear(g, y, &layer->experts_in);
    y = graph_experts(g, layer, y, scores);
    y = graph_norm(g, y, &layer->experts_out_norm);
    if (layer->experts_out.weight)
        y = graph_linear(g, y, &layer->experts_out);
    if (!layer->shared_up.weight)
        return y;
    y = ggml_add(g->ctx, y, graph_shared_expert(g, layer, x));
    return g->model->hp.routing.shared_mean ? ggml_scale(g->ctx, y, 0.5f) : y;
}
