/* low_rank_streams.c - hyper-connections of low rank (Qwen); streams.h has the
 * formula */
#include "graph/streams.h"

#include <stdio.h>

enum {
    MAX_LOW_RANK_STREAMS = 16,
    MAX_STREAM_RANK = 1 << 16,
};

/* ---- hyper-parameters and tensors ---------------------------------------- */

void
graph_keys_low_rank_streams(struct model_keys *keys, struct model_hparams *hp)
{
    hp->n_stream = graph_key_int(keys, "hyper_connection.count", 2,
                                 MAX_LOW_RANK_STREAMS, 0);
    hp->stream_rank =
        graph_key_int(keys, "hyper_connection.low_rank", 1, MAX_STREAM_RANK, 0);
}

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
joined_name(char *buf, const char *name, const char *end)
{
    snprintf(buf, GGML_MAX_NAME, "%s_%s", name, end);
    return buf;
}

struct model_hyper
graph_find_low_rank_streams(struct model_loader *l, const char *name,
                            bool injects)
{
    int64_t rank = l->model->hp.stream_rank, n = l->model->hp.n_stream;
    int64_t all = n * l->model->hp.n_embd;
    enum model_need bias = MODEL_OPTIONAL;
    struct model_hyper h = { 0 };
    char s[GGML_MAX_NAME];

    h.norm = graph_find_stream_norm(l, joined_name(s, name, "norm"));
    h.down =
        graph_find_linear(l, joined_name(s, name, "down"), all, rank, bias);
    h.up = graph_find_linear(l, joined_name(s, name, "up"), rank, all, bias);
    if (injects)
        h.inject =
            graph_find_linear(l, joined_name(s, name, "inject"), all, n, bias);
    return h;
}

/* ---- streams ------------------------------------------------------------- */

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

/* y: the streams, normed. */
static struct ggml_tensor *
injections(struct graph *g, const struct model_hyper *h, struct ggml_tensor *y,
           float share)
{
    y = ggml_scale(g->ctx, graph_linear(g, y, &h->inject), share);
    return ggml_scale(g->ctx, ggml_sigmoid(g->ctx, y), 2);
}

struct graph_connection
graph_low_rank_streams_read(struct graph *g, const struct model_hyper *h,
                            struct ggml_tensor *x)
{
    struct graph_connection c = { .x = x };
    struct ggml_tensor *y, *flat, *gate;
    float share = 1 / (float)x->ne[1];

    y = graph_norm_streams(g, x, &h->norm);
    flat = graph_streams_flat(g, y);
    gate = ggml_scale(g->ctx, graph_linear(g, flat, &h->down), share);
    gate = graph_linear(g, ggml_silu(g->ctx, gate), &h->up);
    gate = ggml_reshape_3d(g->ctx, gate, x->ne[0], x->ne[1], x->ne[2]);
    c.c = ggml_dsv4_hc_pre_gated(g->ctx, y, gate, share);
    if (h->inject.weight)
        c.mixes = injections(g, h, flat, share);
    return c;
}
