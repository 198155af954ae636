/* hyper.c - hyper-connections: residual streams side by side; streams.h has the
 * formula */
#include "graph/arch.h"
#include "graph/streams.h"

enum {
    MAX_STREAMS = 16,
    MAX_SINKHORN = 1000,
};

/* ---- hyper-parameters and tensors ---------------------------------------- */

void
graph_keys_streams(struct model_keys *keys, struct model_hparams *hp,
                   bool independent)
{
    hp->n_stream =
        graph_key_int(keys, "hyper_connection.count", 2, MAX_STREAMS, 0);
    hp->stream_eps =
        graph_key_float(keys, "hyper_connection.epsilon", 0, 1, -1);
    hp->stream_magnitude = 2;
    if (independent)
        hp->stream_magnitude = graph_key_float(
            keys, "hyper_connection.magnitude", 1e-6f, 1e6f, -1);
    else
        hp->sinkhorn = graph_key_int(
            keys, "hyper_connection.sinkhorn_iterations", 1, MAX_SINKHORN, 0);
}

/* n values for the streams of an id, by n_scale factors. */
static struct model_hyper
find_hyper(struct model_loader *l, const char *const names[3], int64_t n,
           int64_t n_scale)
{
    const struct model_hparams *hp = &l->model->hp;
    int64_t row = (int64_t)hp->n_embd * hp->n_stream;
    struct model_hyper h = {
        .fn = graph_find_linear(l, names[0], row, n, MODEL_OPTIONAL),
        .scale = graph_find_vector(l, names[1], n_scale, MODEL_REQUIRED),
        .base = graph_find_vector(l, names[2], n, MODEL_REQUIRED),
    };

    return h;
}

void
graph_find_streams(struct model_loader *l, struct model_layer *layer)
{
    static const char *const attn[] = { ".hc_attn_fn", ".hc_attn_scale",
                                        ".hc_attn_base" };
    static const char *const ffn[] = { ".hc_ffn_fn", ".hc_ffn_scale",
                                       ".hc_ffn_base" };
    bool mixed = l->model->hp.sinkhorn > 0;
    int64_t n = l->model->hp.n_stream, n_mix = mixed ? n * (n + 2) : 2 * n;

    layer->attn_hyper = find_hyper(l, attn, n_mix, mixed ? 3 : 2);
    layer->ffn_hyper = find_hyper(l, ffn, n_mix, mixed ? 3 : 2);
}

void
graph_find_streams_head(struct model_loader *l)
{
    static const char *const names[] = { "output_hc_fn", "output_hc_scale",
                                         "output_hc_base" };

    graph_find_head(l);
    l->model->output_hyper = find_hyper(l, names, l->model->hp.n_stream, 1);
}

void
graph_find_mtp_stream(struct model_loader *l, struct model_layer *layer)
{
    static const char *const names[] = { ".output_hc_fn", ".output_hc_scale",
                                         ".output_hc_base" };

    if (graph_peek(l, names[0]))
        layer->mtp_hyper = find_hyper(l, names, l->model->hp.n_stream, 1);
}

/* ---- streams ------------------------------------------------------------- */

struct ggml_tensor *
graph_streams_spread(struct graph *g, struct ggml_tensor *x)
{
    int64_t n = g->model->hp.n_stream;

    x = ggml_reshape_3d(g->ctx, x, x->ne[0], 1, x->ne[1]);
    return ggml_repeat_4d(g->ctx, x, x->ne[0], n, x->ne[2], 1);
}

struct ggml_tensor *
graph_streams_flat(struct graph *g, struct ggml_tensor *x)
{
    return ggml_reshape_2d(g->ctx, x, x->ne[0] * x->ne[1], x->ne[2]);
}

static struct ggml_tensor *
mix_streams(struct graph *g, const struct model_hyper *h, struct ggml_tensor *x)
{
    return graph_linear(g, graph_norm_plain(g, graph_streams_flat(g, x)),
                        &h->fn);
}

/* sigmoid(s m + b) of n_stream values, the `part`-th of what is mixed. */
static struct ggml_tensor *
weights_of(struct graph *g, const struct model_hyper *h,
           struct ggml_tensor *mixes, int part)
{
    int64_t n = g->model->hp.n_stream;
    struct ggml_tensor *scale = h->scale, *base = h->base, *w;
    size_t at = (size_t)part * sizeof(float);

    if (mixes->ne[0] > n) {
        scale = ggml_view_1d(g->ctx, scale, 1, at);
        base = ggml_view_1d(g->ctx, base, n, (size_t)n * at);
    }
    w = ggml_view_2d(g->ctx, mixes, n, mixes->ne[1], mixes->nb[1],
                     (size_t)n * at);
    w = ggml_add(g->ctx, ggml_mul(g->ctx, w, scale), base);
    return ggml_sigmoid(g->ctx, w);
}

static struct ggml_tensor *
weighted_sum(struct graph *g, const struct model_hyper *h,
             struct ggml_tensor *mixes, struct ggml_tensor *x)
{
    float eps = g->model->hp.stream_eps;
    struct ggml_tensor *w =
        ggml_scale_bias(g->ctx, weights_of(g, h, mixes, 0), 1, eps);

    return ggml_dsv4_hc_pre(g->ctx, x, w);
}

struct graph_connection
graph_streams_read(struct graph *g, const struct model_hyper *h,
                   struct ggml_tensor *x)
{
    struct ggml_tensor *mixes;

    if (h->down.weight)
        return graph_low_rank_streams_read(g, h, x);
    mixes = mix_streams(g, h, x);
    return (struct graph_connection){ weighted_sum(g, h, mixes, x), mixes, x };
}

void
graph_streams_wanted(struct graph *g, int32_t layer, struct graph_connection *c)
{
    struct ggml_tensor *flat;

    if (layer != g->last || !g->rows)
        return;
    flat = graph_wanted(g, layer, graph_streams_flat(g, c->x));
    c->x = ggml_reshape_3d(g->ctx, flat, c->x->ne[0], c->x->ne[1], flat->ne[1]);
    c->mixes = graph_wanted(g, layer, c->mixes);
}

struct ggml_tensor *
graph_streams_write(struct graph *g, const struct model_hyper *h,
                    const struct graph_connection *c, struct ggml_tensor *y)
{
    const struct model_hparams *hp = &g->model->hp;
    struct ggml_tensor *mix = NULL, *w;
    float eps = hp->sinkhorn > 0 ? 0 : hp->stream_eps;

    if (h->down.weight)
        return ggml_dsv4_hc_post(g->ctx, y, c->x, c->mixes, NULL);
    w = weights_of(g, h, c->mixes, 1);
    w = ggml_scale_bias(g->ctx, w, hp->stream_magnitude, eps);
    if (hp->sinkhorn > 0)
        mix = ggml_dsv4_hc_comb(g->ctx, c->mixes, h->scale, h->base,
                                hp->stream_eps, hp->sinkhorn);
    return ggml_dsv4_hc_post(g->ctx, y, c->x, w, mix);
}

/* ---- the output -----------------------------------------------------------
 */

static struct ggml_tensor *
mean_of_streams(struct graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *sum = NULL;

    for (int64_t i = 0; i < x->ne[1]; i++) {
        struct ggml_tensor *one = ggml_view_2d(g->ctx, x, x->ne[0], x->ne[2],
                                               x->nb[2], (size_t)i * x->nb[1]);

        sum = sum ? ggml_add(g->ctx, sum, one) : one;
    }
    return ggml_scale(g->ctx, sum, 1 / (float)x->ne[1]);
}

struct ggml_tensor *
graph_streams_merge(struct graph *g, struct ggml_tensor *x)
{
    const struct model_hyper *h = &g->model->output_hyper;

    if (h->down.weight)
        return graph_low_rank_streams_read(g, h, x).c;
    if (!h->fn.weight)
        return mean_of_streams(g, x);
    return weighted_sum(g, h, mix_streams(g, h, x), x);
}

struct ggml_tensor *
graph_streams_merge_mtp(struct graph *g, const struct model_layer *l,
                        struct ggml_tensor *x)
{
    const struct model_hyper *h = &l->mtp_hyper;

    return h->fn.weight ? weighted_sum(g, h, mix_streams(g, h, x), x)
                        : graph_streams_merge(g, x);
}

struct ggml_tensor *
graph_streams_finish(struct graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *y = graph_streams_merge(g, x);

    y = graph_norm(g, y, &g->model->output_norm);
    if (g->feeds)
        y = graph_feed_mtp(g, graph_streams_flat(g, x), y);
    return graph_logits(g, y);
}

/* ---- layers, and all of them ----------------------------------------------
 */

struct ggml_tensor *
graph_streams_block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct graph_connection c = graph_streams_read(g, &l->attn_hyper, x);
    struct ggml_tensor *y = graph_norm(g, c.c, &l->attn_norm);

    y = l->hp->recurs ? g->model->arch->recur(g, layer, y)
                      : g->model->arch->attend(g, layer, y);
    graph_streams_wanted(g, layer, &c);
    x = graph_streams_write(g, &l->attn_hyper, &c, y);
    c = graph_streams_read(g, &l->ffn_hyper, x);
    y = graph_mixture_or_dense(g, l, graph_norm(g, c.c, &l->ffn_norm));
    return graph_steer(g, layer, graph_streams_write(g, &l->ffn_hyper, &c, y));
}

struct ggml_tensor *
graph_streams_decoder(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_streams_spread(g, graph_embed(g));

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = m->arch->block(g, i, x);
    return graph_streams_finish(g, graph_leave(g, x));
}
