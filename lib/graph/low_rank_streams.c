/* low_rank_streams.c - hyper-connections of low rank (Qwen) */
#include "graph/low_rank_streams.h"

#include <stdio.h>

/* ---- tensors ------------------------------------------------------------ */

struct model_norm
graph_find_stream_norm(struct model_loader *l, const char *name)
{
    int64_t e = l->model->hp.n_embd, n = l->model->hp.n_stream;
    const struct gguf_tensor *t = graph_peek(l, name);

    if (t && t->ne[0] != e * n)
        return graph_find_norm_each(l, name, e, n);
    return (struct model_norm){
        graph_find_vector(l, name, e * n, MODEL_REQUIRED), NULL
    };
}

static const char *
joined(char *buf, const char *name, const char *end)
{
    snprintf(buf, GGML_MAX_NAME, "%s_%s", name, end);
    return buf;
}

struct model_stream_mix
graph_find_stream_mix(struct model_loader *l, const char *name, bool injects)
{
    int64_t rank = l->model->hp.stream_rank, n = l->model->hp.n_stream;
    int64_t all = n * l->model->hp.n_embd;
    struct model_stream_mix m = { 0 };
    enum model_need bias = MODEL_OPTIONAL;
    char s[GGML_MAX_NAME];

    m.norm = graph_find_stream_norm(l, joined(s, name, "norm"));
    m.down = graph_find_linear(l, joined(s, name, "down"), all, rank, bias);
    m.up = graph_find_linear(l, joined(s, name, "up"), rank, all, bias);
    if (injects)
        m.inject =
            graph_find_linear(l, joined(s, name, "inject"), all, n, bias);
    return m;
}

/* ---- graph -------------------------------------------------------------- */

struct ggml_tensor *
graph_part_streams(struct graph *g, struct ggml_tensor *x)
{
    int64_t n = g->model->hp.n_stream;

    return ggml_reshape_3d(g->ctx, x, x->ne[0] / n, n, x->ne[1]);
}

struct ggml_tensor *
graph_join_streams(struct graph *g, struct ggml_tensor *x)
{
    return ggml_reshape_2d(g->ctx, x, x->ne[0] * x->ne[1], x->ne[2]);
}

struct ggml_tensor *
graph_norm_streams(struct graph *g, struct ggml_tensor *x,
                   const struct model_norm *norm)
{
    struct ggml_tensor *w = graph_weight(g, norm->weight);

    x = graph_norm_plain(g, x);
    if (w->ne[0] != x->ne[0])
        w = ggml_reshape_2d(g->ctx, w, x->ne[0], x->ne[1]);
    return ggml_mul(g->ctx, x, w);
}

struct ggml_tensor *
graph_spread_streams(struct graph *g, struct ggml_tensor *x)
{
    int64_t n = g->model->hp.n_stream;

    x = ggml_reshape_3d(g->ctx, x, x->ne[0], 1, x->ne[1]);
    return graph_join_streams(
        g, ggml_repeat_4d(g->ctx, x, x->ne[0], n, x->ne[2], 1));
}

/* In a fixed order. */
static struct ggml_tensor *
mean_of_streams(struct graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *sum = NULL, *one;

    for (int64_t i = 0; i < x->ne[1]; i++) {
        one = ggml_view_2d(g->ctx, x, x->ne[0], x->ne[2], x->nb[2],
                           (size_t)i * x->nb[1]);
        sum = sum ? ggml_add(g->ctx, sum, one) : one;
    }
    return ggml_scale(g->ctx, sum, 1 / (float)x->ne[1]);
}

struct ggml_tensor *
graph_mix_streams(struct graph *g, const struct model_stream_mix *mix,
                  struct ggml_tensor *x, struct ggml_tensor **inject)
{
    float share = 1 / (float)g->model->hp.n_stream;
    struct ggml_tensor *y, *gate;

    y = graph_join_streams(
        g, graph_norm_streams(g, graph_part_streams(g, x), &mix->norm));
    gate = ggml_scale(g->ctx, graph_linear(g, y, &mix->down), share);
    gate = graph_linear(g, ggml_silu(g->ctx, gate), &mix->up);
    if (inject) {
        x = ggml_scale(g->ctx, graph_linear(g, y, &mix->inject), share);
        *inject = ggml_scale(g->ctx, ggml_sigmoid(g->ctx, x), 2);
    }
    y = ggml_mul(g->ctx, y, ggml_sigmoid(g->ctx, gate));
    return mean_of_streams(g, graph_part_streams(g, y));
}

struct ggml_tensor *
graph_inject(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *y,
             struct ggml_tensor *inject)
{
    int64_t n = g->model->hp.n_stream;

    inject = ggml_reshape_3d(g->ctx, inject, 1, n, inject->ne[1]);
    y = graph_part_streams(g, graph_spread_streams(g, y));
    y = graph_join_streams(g, ggml_mul(g->ctx, y, inject));
    return ggml_add(g->ctx, x, y);
}
