/* gemma4a.c - Gemma 4's encoder of sounds: a conformer (Gulati et al. 2020)
 *
 * A log-mel spectrogram; two convolutions, which halve time and mel, each with
 * a norm; x = W x. In each layer x = x + ff(x) / 2; x + attention(x); x +
 * convolution(x); norm(x + ff(x) / 2). Attention sees the last 12 places, with
 * scores of distances (Dai et al. 2019) and a soft cap. Rows = W rms(W x).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "media/graph.h"
#include "media/mel.h"
#include "media/plan.h"

enum {
    CHUNK = 12,          /* queries of a block */
    PAST = 12,           /* places before it that are seen */
    SEEN = CHUNK + PAST, /* keys of a block */
    DISTANCES = PAST + 1,
    TAPS = 5, /* of the convolution in layers */
    SIDE = 3, /* of filters in front of them */
    SAMPLES = 30 * MEDIA_RATE,
};

/* Every norm's, whatever the file says: converters have written another. */
static const float eps = 1e-6f;

struct conformer {
    struct model_norm ff_norm[2], ff_post_norm[2];
    struct model_linear ff_up[2], ff_down[2];
    struct ggml_tensor *q_scale, *k_scale, *relative;
    struct model_norm conv_norm, conv_inner_norm;
    struct model_linear conv_in, conv_out;
    struct ggml_tensor *conv;
};

static void
hparams(struct media_loader *l)
{
    l->e->model->hp.norms = MODEL_RMS_NORM;
    l->e->model->hp.eps = eps;
    if (l->keys.status == GG_OK && l->e->hp.n_mel > MEDIA_MEL_MOST)
        graph_key_mismatch(&l->keys, "num_mel_bins", "exceeds", l->e->hp.n_mel,
                           MEDIA_MEL_MOST);
    if (l->keys.status == GG_OK && l->e->model->hp.n_embd % 2)
        graph_key_refuse(&l->keys, GG_ERR_FORMAT, "embedding_length",
                         "it is odd");
}

/* ---- tensors ------------------------------------------------------------- */

static struct model_norm
find_norm(struct media_loader *l, const char *name, int64_t n)
{
    return (struct model_norm){
        graph_find_vector(&l->l, name, n, MODEL_REQUIRED), NULL
    };
}

static struct model_linear
find_map(struct media_loader *l, const char *name, int64_t n_in, int64_t n_out)
{
    struct model_linear r = {
        .weight = graph_find_matrix(&l->l, name, n_in, n_out, MODEL_REQUIRED),
        .scale = 1,
    };

    if (name[0] == '.')
        media_find_bounds(l, name, &r);
    return r;
}

static void
find_feed_forwards(struct media_loader *l, struct conformer *c)
{
    static const char *const names[2][4] = {
        { ".ffn_norm", ".ffn_up", ".ffn_down", ".ffn_post_norm" },
        { ".ffn_norm_1", ".ffn_up_1", ".ffn_down_1", ".ffn_post_norm_1" },
    };
    int64_t n = l->e->model->hp.n_embd, ff = l->l.hp->n_ff;

    for (int i = 0; i < 2; i++) {
        c->ff_norm[i] = find_norm(l, names[i][0], n);
        c->ff_up[i] = find_map(l, names[i][1], n, ff);
        c->ff_down[i] = find_map(l, names[i][2], ff, n);
        c->ff_post_norm[i] = find_norm(l, names[i][3], n);
    }
}

/* The names of the two norms of the convolution are those of each other. */
static void
find_convolution(struct media_loader *l, struct conformer *c)
{
    int64_t n = l->e->model->hp.n_embd;
    int64_t ne[GGML_MAX_DIMS] = { TAPS, n, 1, 1 };
    char name[GGML_MAX_NAME];

    c->conv_norm = find_norm(l, ".conv_norm", n);
    c->conv_in = find_map(l, ".conv_pw1", n, 2 * n);
    snprintf(name, sizeof(name), "a.blk.%d.conv_dw.weight", (int)l->l.layer);
    c->conv = graph_find_filters(&l->l, name, ne);
    c->conv_inner_norm = find_norm(l, ".norm_conv", n);
    c->conv_out = find_map(l, ".conv_pw2", n, n);
}

static void
find_layer(struct media_loader *l, struct model_layer *layer,
           struct conformer *c)
{
    int64_t n = l->e->model->hp.n_embd, d = l->l.hp->d_key;

    find_feed_forwards(l, c);
    layer->attn_norm = find_norm(l, ".attn_pre_norm", n);
    layer->attn_q = find_map(l, ".attn_q", n, n);
    layer->attn_k = find_map(l, ".attn_k", n, n);
    layer->attn_v = find_map(l, ".attn_v", n, n);
    layer->attn_output = find_map(l, ".attn_out", n, n);
    layer->attn_post_norm = find_norm(l, ".attn_post_norm", n);
    c->q_scale = graph_find_vector(&l->l, ".per_dim_scale", d, MODEL_REQUIRED);
    c->k_scale =
        graph_find_vector(&l->l, ".per_dim_k_scale", d, MODEL_OPTIONAL);
    c->relative = graph_find_matrix(&l->l, ".attn_k_rel", n, n, MODEL_REQUIRED);
    find_convolution(l, c);
    layer->ffn_post_norm = find_norm(l, ".ln2", n);
}

/* Sides of a spectrogram that a convolution leaves. */
static int64_t
halved(int64_t n)
{
    return (n - 1) / 2 + 1;
}

static void
find_front(struct media_loader *l)
{
    static const char *const weights[2] = { "a.conv1d.0.weight",
                                            "a.conv1d.1.weight" };
    static const char *const norms[2] = { "a.conv1d.0.norm",
                                          "a.conv1d.1.norm" };
    int64_t n_in = 1, mel = l->e->hp.n_mel;

    for (int i = 0; i < 2; i++) {
        const struct gguf_tensor *t = gguf_tensor_named(l->l.gguf, weights[i]);
        int64_t n = t && t->ne[3] > 0 ? t->ne[3] : 1;
        int64_t ne[GGML_MAX_DIMS] = { SIDE, SIDE, n_in, n };

        l->e->filters[i] = graph_find_filters(&l->l, weights[i], ne);
        l->e->norms[i] = find_norm(l, norms[i], n);
        n_in = n;
        mel = halved(mel);
    }
    l->e->linears[0] =
        find_map(l, "a.input_projection", mel * n_in, l->e->model->hp.n_embd);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    struct model *m = e->model;
    const struct gguf_tensor *t = graph_peek(&l->l, "a.pre_encode.out");
    int64_t n = t && t->ne[1] > 0 ? t->ne[1] : 1;
    struct conformer *c;

    e->own = c = mem_array((size_t)m->hp.n_layer, sizeof(*c));
    if (!c || !media_room_for_bounds(l)) {
        l->l.status = error_nomem(l->l.err);
        return;
    }
    find_front(l);
    for (int32_t i = 0; i < m->hp.n_layer && l->l.status == GG_OK; i++) {
        l->l.layer = i;
        l->l.hp = m->layers[i].hp;
        find_layer(l, &m->layers[i], &c[i]);
    }
    e->linears[1] = graph_find_linear(&l->l, "a.pre_encode.out", m->hp.n_embd,
                                      n, MODEL_OPTIONAL);
    e->linears[2] = find_map(l, "mm.a.input_projection", n, e->hp.width);
}

/* ---- what sounds become -------------------------------------------------- */

static void
plan_run(struct media_planner *p, const float *samples, size_t n)
{
    size_t frames = media_mel_frames(&media_mel_gemma4, n);
    float *mel = NULL;

    p->status = media_mel_compute(&media_mel_gemma4, (uint32_t)p->e->hp.n_mel,
                                  samples, n, n, &mel, p->err);
    if (p->status == GG_OK)
        media_plan_sound(p, mel, frames,
                         (size_t)halved(halved((int64_t)frames)));
}

static void
plan(struct media_planner *p)
{
    size_t n = p->plan->n_samples;

    media_plan_marker(p, "<|audio>");
    for (size_t i = 0; i < n && p->status == GG_OK; i += SAMPLES)
        plan_run(p, p->plan->samples + i, n - i < SAMPLES ? n - i : SAMPLES);
    media_plan_marker(p, "<audio|>");
}

/* ---- in front of the layers ---------------------------------------------- */

/* mel x time x 1 */
static struct ggml_tensor *
front(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *x = media_frames(m);

    x = ggml_reshape_4d(ctx, x, x->ne[0], x->ne[1], 1, 1);
    for (int i = 0; i < 2; i++) {
        /* channels x mel x time */
        x = media_convolve(m, e->filters[i], x, NULL);
        x = ggml_mul(ctx, ggml_norm(ctx, x, eps), e->norms[i].weight);
        x = ggml_relu(ctx, x);
        if (i == 0)
            x = ggml_cont(ctx, ggml_permute(ctx, x, 2, 0, 1, 3));
    }
    x = ggml_reshape_2d(ctx, x, x->ne[0] * x->ne[1], x->ne[2]);
    return graph_linear(&m->g, x, &e->linears[0]);
}

/* ---- attention ----------------------------------------------------------- */

/* Blocks of queries, and what they share. */
struct blocks {
    int64_t n, count; /* places, blocks */
    struct ggml_tensor *mask, *sines;
};

static struct ggml_tensor *
new_mask(struct media_graph *m, const struct blocks *b)
{
    float *to;
    struct ggml_tensor *t =
        media_input(m, GGML_TYPE_F32, SEEN, CHUNK * b->count, &to);

    for (int64_t i = 0; i < CHUNK * b->count && to; i++)
        for (int64_t k = 0; k < SEEN; k++) {
            int64_t at = i / CHUNK * CHUNK - PAST + k;
            bool seen = i < b->n && at >= 0 && at <= i && i - at < PAST;

            to[i * SEEN + k] = seen ? 0 : -1e9f;
        }
    return ggml_reshape_3d(m->g.ctx, t, SEEN, CHUNK, b->count);
}

/* Sines and cosines of the distances PAST, ..., 0. */
static struct ggml_tensor *
new_sines(struct media_graph *m)
{
    int32_t n = m->e->model->hp.n_embd, half = n / 2;
    double step = log(10000) / (half > 1 ? half - 1 : 1);
    float *to;
    struct ggml_tensor *t = media_input(m, GGML_TYPE_F32, n, DISTANCES, &to);

    for (int32_t i = 0; i < DISTANCES && to; i++, to += n)
        for (int32_t k = 0; k < half; k++) {
            double angle = (PAST - i) * exp(-k * step);

            to[k] = (float)sin(angle);
            to[half + k] = (float)cos(angle);
        }
    return t;
}

/* d x heads x n, times a number and a value each. */
static struct ggml_tensor *
scaled_heads(struct media_graph *m, struct ggml_tensor *x, double factor,
             struct ggml_tensor *scale)
{
    x = ggml_scale(m->g.ctx, x, (float)factor);
    return scale ? ggml_mul(m->g.ctx, x, scale) : x;
}

/* Gives for each block its own places and those before: d x heads x SEEN x
 * blocks.
 */
static struct ggml_tensor *
seen(struct media_graph *m, struct ggml_tensor *x, const struct blocks *b)
{
    struct ggml_context *ctx = m->g.ctx;
    int64_t all = SEEN * b->count;

    x = ggml_pad_ext(ctx, x, 0, 0, 0, 0, PAST, (int)(all - b->n - PAST), 0, 0);
    x = ggml_view_4d(ctx, x, x->ne[0], x->ne[1], SEEN, b->count, x->nb[1],
                     x->nb[2], CHUNK * x->nb[2], 0);
    return ggml_cont(ctx, x);
}

static const struct conformer *
conformer_of(const struct media_graph *m, int32_t layer)
{
    return (const struct conformer *)m->e->own + layer;
}

/* Scores of distances: of each query those of DISTANCES, moved to the keys that
 * they are of. */
static struct ggml_tensor *
distance_scores(struct media_graph *m, const struct conformer *c,
                struct ggml_tensor *q, const struct blocks *b)
{
    struct ggml_context *ctx = m->g.ctx;
    int64_t d = q->ne[0], heads = q->ne[3];
    struct ggml_tensor *p = ggml_mul_mat(ctx, c->relative, b->sines), *s;

    p = ggml_reshape_3d(ctx, p, d, heads, DISTANCES);
    p = ggml_cont(ctx, ggml_permute(ctx, p, 0, 2, 1, 3));
    q = ggml_reshape_3d(ctx, q, d, CHUNK * b->count, heads);
    s = ggml_mul_mat(ctx, p, q);
    s = ggml_reshape_4d(ctx, s, DISTANCES, CHUNK, b->count, heads);
    s = ggml_pad(ctx, s, SEEN + 1 - DISTANCES, 0, 0, 0);
    s = ggml_reshape_3d(ctx, s, (SEEN + 1) * CHUNK, b->count, heads);
    s = ggml_view_3d(ctx, s, SEEN * CHUNK, b->count, heads, s->nb[1], s->nb[2],
                     0);
    return ggml_reshape_4d(ctx, ggml_cont(ctx, s), SEEN, CHUNK, b->count,
                           heads);
}

/* Softmax of the capped scores; v: SEEN x d x blocks x heads. */
static struct ggml_tensor *
weigh(struct media_graph *m, struct ggml_tensor *scores, struct ggml_tensor *v,
      const struct blocks *b)
{
    struct ggml_context *ctx = m->g.ctx;
    const float cap = 50;

    scores = ggml_tanh(ctx, ggml_scale(ctx, scores, 1 / cap));
    scores = ggml_add(ctx, ggml_scale(ctx, scores, cap), b->mask);
    return ggml_mul_mat(ctx, v, ggml_soft_max(ctx, scores));
}

static struct ggml_tensor *
attention(struct media_graph *m, int32_t layer, struct ggml_tensor *x,
          const struct blocks *b)
{
    struct ggml_context *ctx = m->g.ctx;
    const struct conformer *c = conformer_of(m, layer);
    struct graph_heads h = graph_project(&m->g, layer, x);
    int64_t d = h.q->ne[0], heads = h.q->ne[1];
    struct ggml_tensor *q, *k, *v;

    q = scaled_heads(m, h.q, 1 / (sqrt((double)d) * log(2)), c->q_scale);
    k = scaled_heads(m, h.k, log(1 + exp(1)) / log(2), c->k_scale);
    q = ggml_pad(ctx, q, 0, 0, (int)(CHUNK * b->count - b->n), 0);
    q = ggml_reshape_4d(ctx, q, d, heads, CHUNK, b->count);
    q = ggml_cont(ctx, ggml_permute(ctx, q, 0, 3, 1, 2));
    k = ggml_cont(ctx, ggml_permute(ctx, seen(m, k, b), 0, 3, 1, 2));
    v = ggml_cont(ctx, ggml_permute(ctx, seen(m, h.v, b), 1, 3, 0, 2));
    x = ggml_add(ctx, ggml_mul_mat(ctx, k, q), distance_scores(m, c, q, b));
    x = weigh(m, x, v, b);
    x = ggml_cont(ctx, ggml_permute(ctx, x, 0, 2, 3, 1));
    x = ggml_view_2d(ctx, x, d * heads, b->n, (size_t)(d * heads) * x->nb[0],
                     0);
    return graph_linear(&m->g, x, &m->e->model->layers[layer].attn_output);
}

/* ---- layers -------------------------------------------------------------- */

static struct ggml_tensor *
half_feed_forward(struct media_graph *m, const struct conformer *c, int i,
                  struct ggml_tensor *x)
{
    struct graph *g = &m->g;
    struct ggml_tensor *y = graph_norm(g, x, &c->ff_norm[i]);

    y = ggml_silu(g->ctx, graph_linear(g, y, &c->ff_up[i]));
    y = graph_norm(g, graph_linear(g, y, &c->ff_down[i]), &c->ff_post_norm[i]);
    return ggml_add(g->ctx, x, ggml_scale(g->ctx, y, 0.5f));
}

/* Gated, then over the last TAPS places of each channel. */
static struct ggml_tensor *
convolution(struct media_graph *m, const struct conformer *c,
            struct ggml_tensor *x)
{
    struct graph *g = &m->g;
    struct ggml_context *ctx = g->ctx;
    struct ggml_tensor *gate, *w = c->conv;
    int64_t n = x->ne[0];

    x = graph_linear(g, graph_norm(g, x, &c->conv_norm), &c->conv_in);
    gate = ggml_cont(
        ctx, ggml_view_2d(ctx, x, n, x->ne[1], x->nb[1], (size_t)n * x->nb[0]));
    x = ggml_cont(ctx, ggml_view_2d(ctx, x, n, x->ne[1], x->nb[1], 0));
    x = ggml_mul(ctx, x, ggml_sigmoid(ctx, gate));
    x = ggml_cont(ctx, ggml_transpose(ctx, x));
    x = ggml_pad_ext(ctx, x, TAPS - 1, 0, 0, 0, 0, 0, 0, 0);
    if (w->type != GGML_TYPE_F32)
        w = ggml_cast(ctx, w, GGML_TYPE_F32);
    x = ggml_ssm_conv(ctx, ggml_reshape_3d(ctx, x, x->ne[0], n, 1), w);
    x = ggml_reshape_2d(ctx, x, n, x->ne[1]);
    x = ggml_silu(ctx, graph_norm(g, x, &c->conv_inner_norm));
    return graph_linear(g, x, &c->conv_out);
}

static struct ggml_tensor *
layer_of(struct media_graph *m, int32_t i, struct ggml_tensor *x,
         const struct blocks *b)
{
    const struct model_layer *l = &m->e->model->layers[i];
    const struct conformer *c = conformer_of(m, i);
    struct graph *g = &m->g;
    struct ggml_tensor *y;

    x = half_feed_forward(m, c, 0, x);
    y = attention(m, i, graph_norm(g, x, &l->attn_norm), b);
    x = ggml_add(g->ctx, x, graph_norm(g, y, &l->attn_post_norm));
    x = ggml_add(g->ctx, x, convolution(m, c, x));
    return graph_norm(g, half_feed_forward(m, c, 1, x), &l->ffn_post_norm);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x = front(m);
    struct blocks b = { .n = x->ne[1] };

    m->g.n_tokens = (int32_t)b.n;
    b.count = (b.n + CHUNK - 1) / CHUNK;
    b.mask = new_mask(m, &b);
    b.sines = new_sines(m);
    for (int32_t i = 0; i < e->model->hp.n_layer; i++)
        x = layer_of(m, i, x, &b);
    x = graph_linear(&m->g, x, &e->linears[1]);
    x = ggml_rms_norm(m->g.ctx, x, eps);
    return graph_linear(&m->g, x, &e->linears[2]);
}

const struct media_type media_projector_gemma4a[] = {
    { .name = "gemma4a",
      .kind = GG_MEDIA_SOUND,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
