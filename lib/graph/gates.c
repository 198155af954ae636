/* gates.c - activations, and gates of feed-forward layers */
#include "graph/arch.h"

#include <assert.h>
#include <math.h>

struct ggml_tensor *
graph_activate(struct graph *g, struct ggml_tensor *x,
               enum model_activation act)
{
    switch (act) {
    case MODEL_SILU:
        return ggml_silu(g->ctx, x);
    case MODEL_GELU:
        return ggml_gelu(g->ctx, x);
    case MODEL_GELU_QUICK:
        return ggml_gelu_quick(g->ctx, x);
    case MODEL_RELU:
        return ggml_relu(g->ctx, x);
    case MODEL_RELU_SQUARED:
        return ggml_sqr(g->ctx, ggml_relu(g->ctx, x));
    default:
        assert(act == MODEL_GELU_ERF);
        return ggml_gelu_erf(g->ctx, x);
    }
}

struct ggml_tensor *
graph_softcap(struct graph *g, struct ggml_tensor *x, float c)
{
    x = ggml_tanh(g->ctx, ggml_scale(g->ctx, x, 1 / c));
    return ggml_scale(g->ctx, x, c);
}

static struct ggml_tensor *
gate_by_situ(struct graph *g, struct ggml_tensor *gate, struct ggml_tensor *up)
{
    const struct model_situ *s = &g->model->hp.situ;
    struct ggml_tensor *open = ggml_sigmoid(g->ctx, gate);

    if (s->linear > 0)
        up = graph_softcap(g, up, s->linear);
    gate = ggml_mul(g->ctx, graph_softcap(g, gate, s->gate), open);
    return ggml_mul(g->ctx, gate, up);
}

struct ggml_tensor *
graph_gated(struct graph *g, struct ggml_tensor *gate, struct ggml_tensor *up,
            enum model_activation act)
{
    switch (act) {
    case MODEL_SILU:
        return ggml_swiglu_split(g->ctx, gate, up);
    case MODEL_SILU_CLAMPED:
        return ggml_swiglu_oai(g->ctx, gate, up, 1.702f, 7);
    case MODEL_SITU:
        return gate_by_situ(g, gate, up);
    case MODEL_GELU:
        return ggml_geglu_split(g->ctx, gate, up);
    case MODEL_RELU:
        return ggml_reglu_split(g->ctx, gate, up);
    default:
        return ggml_mul(g->ctx, graph_activate(g, gate, act), up);
    }
}

struct ggml_tensor *
graph_limited(struct graph *g, struct ggml_tensor *gate, struct ggml_tensor *up,
              float limit)
{
    enum model_activation act = g->model->hp.activation;

    if (limit == 0)
        return graph_gated(g, gate, up, act);
    up = ggml_clamp(g->ctx, up, -limit, limit);
    if (g->model->hp.limit_before)
        return graph_gated(g, ggml_clamp(g->ctx, gate, -INFINITY, limit), up,
                           act);
    gate = ggml_clamp(g->ctx, graph_activate(g, gate, act), -INFINITY, limit);
    return ggml_mul(g->ctx, gate, up);
}

struct ggml_tensor *
graph_gated_by_itself(struct graph *g, struct ggml_tensor *x,
                      enum model_activation act)
{
    int64_t n = x->ne[0] / 2;
    size_t half = (size_t)n * x->nb[0];
    struct ggml_tensor *gate, *up;

    if (act == MODEL_SILU)
        return ggml_swiglu(g->ctx, x);
    if (act == MODEL_GELU)
        return ggml_geglu(g->ctx, x);
    gate = ggml_view_2d(g->ctx, x, n, x->ne[1], x->nb[1], 0);
    up = ggml_view_2d(g->ctx, x, n, x->ne[1], x->nb[1], half);
    return graph_gated(g, ggml_cont(g->ctx, gate), ggml_cont(g->ctx, up), act);
}
