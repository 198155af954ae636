/* granitespeech.c - Granite Speech's encoder of sounds (Saon et al. 2025)
 *
 * Pairs of frames of a log-mel spectrogram; x = W x; layers of a conformer
 * (Gulati et al. 2020), which see chunks of time alone, with a vector for each
 * distance (Shaw et al. 2018); after half of them x += W softmax(W x). Then, of
 * each window, queries attend to themselves and to x (Li et al. 2023); rows = W
 * queries.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "media/graph.h"
#include "media/mel.h"
#include "media/plan.h"

enum {
    MAX_CHUNK = 1024, /* frames that see each other */
    MAX_DISTANCE = 8192,
    MAX_TAPS = 63,
    MAX_WINDOW = 256,
    MAX_ASKING = 8, /* layers of queries */
    PAIR = 2,       /* frames of the spectrogram */
};

static const float far_below = -1e30f;
static const float query_eps = 1e-12f;

/* A layer of the conformer. */
struct granite_layer {
    struct model_norm norms[2]; /* before the two feed-forwards */
    struct model_linear up[2], down[2];
    struct model_norm conv_norm;
    struct model_linear conv_in, conv_out;
    struct ggml_tensor *conv, *conv_scale, *conv_shift;
    struct ggml_tensor *distances;
};

/* Attention of queries, to themselves or to x. */
struct asking {
    struct model_linear q, k, v, out;
    struct model_norm norm; /* after it */
};

struct granite {
    int32_t chunk, most; /* most: the largest distance that has a vector */
    int32_t taps, window, n_heads;
    int32_t n_asking;
    struct asking own[MAX_ASKING], cross[MAX_ASKING];
    struct model_linear up[MAX_ASKING], down[MAX_ASKING];
    struct model_norm norms[MAX_ASKING];
    struct granite_layer layers[]; /* n_layer */
};

enum linears {
    INPUT,
    CLASSES,
    BACK,
    OUTPUT,
};

static const char *const keys[] = { "chunk_size",
                                    "conv_kernel_size",
                                    "max_pos_emb",
                                    "projector.window_size",
                                    "projector.downsample_rate",
                                    "projector.head_count",
                                    NULL };

/* ---- the file ------------------------------------------------------------ */

static struct granite *
granite_of(const struct media_encoder *e)
{
    return e->own;
}

static void
check_numbers(struct media_loader *l, const struct granite *s, int32_t rate)
{
    if (l->keys.status == GG_OK && s->chunk > s->most)
        graph_key_mismatch(&l->keys, "chunk_size", "exceeds", s->chunk,
                           s->most);
    if (l->keys.status == GG_OK && s->window % rate)
        graph_key_mismatch(&l->keys, "projector.window_size",
                           "is not divided by", s->window, rate);
    if (l->keys.status == GG_OK && l->e->model->hp.n_embd % s->n_heads)
        graph_key_mismatch(&l->keys, "projector.head_count", "does not divide",
                           s->n_heads, l->e->model->hp.n_embd);
    if (l->keys.status == GG_OK &&
        (l->e->hp.n_mel % PAIR || l->e->hp.n_mel > PAIR * MEDIA_MEL_MOST))
        graph_key_refuse(&l->keys, GG_ERR_FORMAT, "num_mel_bins",
                         "%d values are not those of %d frames",
                         (int)l->e->hp.n_mel, PAIR);
}

static void
hparams(struct media_loader *l)
{
    size_t n = (size_t)l->e->model->hp.n_layer;
    struct granite *s;
    int32_t rate;

    if (l->keys.status != GG_OK)
        return;
    l->e->own = s = mem_zalloc(sizeof(*s) + n * sizeof(*s->layers));
    if (!s) {
        l->keys.status = error_nomem(l->keys.err);
        return;
    }
    l->e->model->hp.activation = MODEL_SILU;
    s->chunk = graph_key_int(&l->keys, "chunk_size", 1, MAX_CHUNK, -1);
    s->most = graph_key_int(&l->keys, "max_pos_emb", 1, MAX_DISTANCE, -1);
    s->taps = graph_key_int(&l->keys, "conv_kernel_size", 2, MAX_TAPS, -1);
    s->window =
        graph_key_int(&l->keys, "projector.window_size", 1, MAX_WINDOW, -1);
    rate =
        graph_key_int(&l->keys, "projector.downsample_rate", 1, MAX_WINDOW, -1);
    s->n_heads = graph_key_int(&l->keys, "projector.head_count", 1, 1024, -1);
    check_numbers(l, s, rate);
    if (l->keys.status == GG_OK)
        l->e->hp.n_query = s->window / rate;
}

static struct model_linear
find_map(struct media_loader *l, const char *name, int64_t n_in, int64_t n_out)
{
    return graph_find_linear(&l->l, name, n_in, n_out, MODEL_REQUIRED);
}

static struct model_norm
find_norm(struct media_loader *l, const char *name)
{
    return graph_find_norm(&l->l, name, l->e->model->hp.n_embd, MODEL_REQUIRED);
}

static struct model_linear
find_bare(struct media_loader *l, const char *name)
{
    int64_t n = l->e->model->hp.n_embd;

    return (struct model_linear){
        .weight = graph_find_matrix(&l->l, name, n, n, MODEL_REQUIRED),
        .scale = 1,
    };
}

/* As it is said at the first layer. */
static int64_t
inner_width(struct media_loader *l)
{
    return media_peek(l, "a.blk.0.conv_dw.weight", 1);
}

static void
find_convolution(struct media_loader *l, struct granite_layer *c)
{
    int64_t n = l->e->model->hp.n_embd, inner = inner_width(l);
    int64_t ne[GGML_MAX_DIMS] = { granite_of(l->e)->taps, inner, 1, 1 };
    char name[GGML_MAX_NAME];

    snprintf(name, sizeof(name), "a.blk.%d.conv_dw.weight", (int)l->l.layer);
    c->conv_norm = find_norm(l, ".norm_conv");
    c->conv_in = find_map(l, ".conv_pw1", n, 2 * inner);
    c->conv = graph_find_filters(&l->l, name, ne);
    c->conv_scale =
        graph_find_vector(&l->l, ".conv_norm_var", inner, MODEL_REQUIRED);
    c->conv_shift =
        graph_find_bias(&l->l, ".conv_norm_var", inner, MODEL_REQUIRED);
    c->conv_out = find_map(l, ".conv_pw2", inner, n);
}

static void
find_layer(struct media_loader *l, struct model_layer *layer,
           struct granite_layer *c)
{
    int64_t n = l->e->model->hp.n_embd, f = layer->hp->n_ff;
    int64_t ne[GGML_MAX_DIMS] = { layer->hp->d_key,
                                  2 * (int64_t)granite_of(l->e)->most + 1, 1,
                                  1 };
    char name[GGML_MAX_NAME];

    snprintf(name, sizeof(name), "a.blk.%d.attn_rel_pos_emb", (int)l->l.layer);
    c->norms[0] = find_norm(l, ".ffn_norm");
    c->up[0] = find_map(l, ".ffn_up", n, f);
    c->down[0] = find_map(l, ".ffn_down", f, n);
    layer->attn_norm = find_norm(l, ".ln1");
    layer->attn_q = find_bare(l, ".attn_q");
    layer->attn_k = find_bare(l, ".attn_k");
    layer->attn_v = find_bare(l, ".attn_v");
    layer->attn_output = find_map(l, ".attn_out", n, n);
    c->distances = graph_find_filters(&l->l, name, ne);
    find_convolution(l, c);
    c->norms[1] = find_norm(l, ".ffn_norm_1");
    c->up[1] = find_map(l, ".ffn_up_1", n, f);
    c->down[1] = find_map(l, ".ffn_down_1", f, n);
    layer->ffn_post_norm = find_norm(l, ".ln2");
}

static void
find_asking(struct media_loader *l, int32_t i, const char *what,
            struct asking *a)
{
    int64_t n = l->e->model->hp.n_embd;
    char name[GGML_MAX_NAME];
    struct model_linear *maps[4] = { &a->q, &a->k, &a->v, &a->out };
    static const char *const ends[4] = { "q", "k", "v", "out" };

    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof(name), "a.proj_blk.%d.%s_attn_%s", (int)i, what,
                 ends[k]);
        *maps[k] = find_map(l, name, n, n);
    }
    snprintf(name, sizeof(name), "a.proj_blk.%d.%s_attn_norm", (int)i, what);
    a->norm = find_norm(l, name);
}

static void
find_query_layer(struct media_loader *l, int32_t i)
{
    struct granite *s = granite_of(l->e);
    int64_t n = l->e->model->hp.n_embd, f;
    char name[GGML_MAX_NAME];

    find_asking(l, i, "self", &s->own[i]);
    find_asking(l, i, "cross", &s->cross[i]);
    snprintf(name, sizeof(name), "a.proj_blk.%d.ffn_up.weight", (int)i);
    f = media_peek(l, name, 1);
    snprintf(name, sizeof(name), "a.proj_blk.%d.ffn_up", (int)i);
    s->up[i] = find_map(l, name, n, f);
    snprintf(name, sizeof(name), "a.proj_blk.%d.ffn_down", (int)i);
    s->down[i] = find_map(l, name, f, n);
    snprintf(name, sizeof(name), "a.proj_blk.%d.ffn_norm", (int)i);
    s->norms[i] = find_norm(l, name);
}

/* As many layers as there are, one at least. */
static void
find_queries(struct media_loader *l)
{
    struct granite *s = granite_of(l->e);
    int64_t n = l->e->model->hp.n_embd;
    int64_t ne[GGML_MAX_DIMS] = { n, l->e->hp.n_query, 1, 1 };
    char name[GGML_MAX_NAME];

    l->e->query = graph_find_filters(&l->l, "a.proj_query", ne);
    l->e->norms[0] = find_norm(l, "a.proj_norm");
    do {
        find_query_layer(l, s->n_asking++);
        snprintf(name, sizeof(name), "a.proj_blk.%d.ffn_up.weight",
                 (int)s->n_asking);
    } while (l->l.status == GG_OK && s->n_asking < MAX_ASKING &&
             gguf_tensor_named(l->l.gguf, name));
    l->e->linears[OUTPUT] = find_map(l, "a.proj_linear", n, l->e->hp.width);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    struct model *m = e->model;
    int64_t n = m->hp.n_embd;
    int64_t classes = media_peek(l, "a.enc_ctc_out.weight", 1);

    e->linears[INPUT] = find_map(l, "a.input_projection", e->hp.n_mel, n);
    for (int32_t i = 0; i < m->hp.n_layer && l->l.status == GG_OK; i++) {
        l->l.layer = i;
        l->l.hp = m->layers[i].hp;
        find_layer(l, &m->layers[i], &granite_of(e)->layers[i]);
    }
    e->linears[CLASSES] = find_map(l, "a.enc_ctc_out", n, classes);
    e->linears[BACK] = find_map(l, "a.enc_ctc_out_mid", classes, n);
    find_queries(l);
}

/* ---- what a sound becomes ------------------------------------------------ */

/* Pairs of frames, the values of the second after those of the first. */
static float *
pairs_of(struct media_planner *p, const float *mel, size_t all, size_t n)
{
    size_t half = (size_t)p->e->hp.n_mel / PAIR;
    float *to = media_plan_new_mel(p, n, PAIR * half);

    for (size_t k = 0; k < PAIR * half && to; k++)
        for (size_t i = 0; i < n; i++)
            to[k * n + i] = mel[k % half * all + PAIR * i + k / half];
    return to;
}

static void
plan(struct media_planner *p)
{
    const struct granite *s = granite_of(p->e);
    size_t n = p->plan->n_samples, all, pairs, windows;
    float *mel = NULL;

    all = media_mel_frames(&media_mel_granite, n);
    pairs = all / PAIR;
    windows = (pairs + (size_t)s->window - 1) / (size_t)s->window;
    if (pairs == 0)
        media_plan_refuse(p, GG_ERR_ARG, "the sound is too short");
    if (p->status == GG_OK)
        p->status = media_mel_compute(&media_mel_granite,
                                      (uint32_t)p->e->hp.n_mel / PAIR,
                                      p->plan->samples, n, n, &mel, p->err);
    if (p->status == GG_OK)
        media_plan_sound(p, pairs_of(p, mel, all, pairs), pairs,
                         windows * (size_t)p->e->hp.n_query);
    mem_free(mel);
}

/* ---- the conformer ------------------------------------------------------- */

static struct ggml_tensor *
half_feed_forward(struct media_graph *m, const struct granite_layer *c, int i,
                  struct ggml_tensor *x)
{
    struct ggml_tensor *y = media_mlp(m, graph_norm(&m->g, x, &c->norms[i]),
                                      &c->up[i], &c->down[i], MODEL_SILU);

    return ggml_add(m->g.ctx, x, ggml_scale(m->g.ctx, y, 0.5f));
}

/* Inputs of all layers. */
struct shared {
    struct ggml_tensor *rows; /* of the vectors, by distance: chunk x chunk */
    struct ggml_tensor *mask; /* of keys after the end; or NULL */
    int64_t chunks;
};

static struct shared
share(struct media_graph *m)
{
    const struct granite *s = granite_of(m->e);
    int32_t n = s->chunk, rest = m->n % n, *rows;
    struct shared shared = { .chunks = (m->n + n - 1) / n };
    struct ggml_tensor *t =
        media_input(m, GGML_TYPE_I32, (int64_t)n * n, 1, &rows);
    float *mask;

    shared.rows = ggml_reshape_1d(m->g.ctx, t, (int64_t)n * n);
    for (int32_t i = 0; i < n * n && rows; i++)
        rows[i] = i / n - i % n + s->most;
    if (rest == 0)
        return shared;
    t = media_input(m, GGML_TYPE_F32, n, shared.chunks, &mask);
    shared.mask = ggml_reshape_4d(m->g.ctx, t, n, 1, 1, shared.chunks);
    for (int32_t i = rest; i < n && mask; i++)
        mask[(shared.chunks - 1) * n + i] = far_below;
    return shared;
}

/* d x heads x chunk x chunks */
static struct ggml_tensor *
heads(struct media_graph *m, struct ggml_tensor *x,
      const struct model_linear *linear, const struct shared *s)
{
    int64_t d = m->e->model->hp.layers[0].d_key;

    x = graph_linear(&m->g, x, linear);
    return ggml_reshape_4d(m->g.ctx, x, d, x->ne[0] / d, x->ne[1] / s->chunks,
                           s->chunks);
}

/* keys x queries x heads x chunks: of each query its product with the vector
 * of the distance. */
static struct ggml_tensor *
distance_scores(struct media_graph *m, const struct granite_layer *c,
                struct ggml_tensor *q, const struct shared *s)
{
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *v = ggml_get_rows(ctx, c->distances, s->rows);

    v = ggml_reshape_4d(ctx, v, v->ne[0], q->ne[2], 1, q->ne[2]);
    v = ggml_mul_mat(ctx, v, ggml_cont(ctx, ggml_permute(ctx, q, 0, 1, 3, 2)));
    return ggml_cont(ctx, ggml_permute(ctx, v, 0, 2, 3, 1));
}

static struct ggml_tensor *
attention(struct media_graph *m, int32_t layer, struct ggml_tensor *x,
          const struct shared *s)
{
    const struct model_layer *l = &m->e->model->layers[layer];
    struct ggml_context *ctx = m->g.ctx;
    int64_t n = x->ne[1], all = s->chunks * granite_of(m->e)->chunk;
    struct ggml_tensor *q, *k, *v, *scores;

    x = graph_norm(&m->g, x, &l->attn_norm);
    if (all > n)
        x = ggml_pad(ctx, x, 0, (int)(all - n), 0, 0);
    q = heads(m, x, &l->attn_q, s);
    k = heads(m, x, &l->attn_k, s);
    v = heads(m, x, &l->attn_v, s);
    scores = ggml_mul_mat(ctx, ggml_cont(ctx, ggml_permute(ctx, k, 0, 2, 1, 3)),
                          ggml_cont(ctx, ggml_permute(ctx, q, 0, 2, 1, 3)));
    scores =
        ggml_add(ctx, scores,
                 distance_scores(m, &granite_of(m->e)->layers[layer], q, s));
    scores = ggml_scale(ctx, scores, 1 / sqrtf((float)q->ne[0]));
    if (s->mask)
        scores = ggml_add(ctx, scores, s->mask);
    v = ggml_cont(ctx, ggml_permute(ctx, v, 1, 2, 0, 3));
    x = ggml_mul_mat(ctx, v, ggml_soft_max(ctx, scores));
    x = ggml_cont(ctx, ggml_permute(ctx, x, 0, 2, 1, 3));
    x = ggml_reshape_2d(ctx, x, x->ne[0] * x->ne[1], all);
    x = ggml_view_2d(ctx, x, x->ne[0], n, x->nb[1], 0);
    return graph_linear(&m->g, x, &l->attn_output);
}

static struct ggml_tensor *
convolution(struct media_graph *m, const struct granite_layer *c,
            struct ggml_tensor *x)
{
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *gate, *w = c->conv;
    int taps = granite_of(m->e)->taps;
    int64_t n;

    x = graph_linear(&m->g, graph_norm(&m->g, x, &c->conv_norm), &c->conv_in);
    n = x->ne[0] / 2;
    gate = ggml_cont(
        ctx, ggml_view_2d(ctx, x, n, x->ne[1], x->nb[1], (size_t)n * x->nb[0]));
    x = ggml_cont(ctx, ggml_view_2d(ctx, x, n, x->ne[1], x->nb[1], 0));
    x = ggml_mul(ctx, x, ggml_sigmoid(ctx, gate));
    x = ggml_cont(ctx, ggml_transpose(ctx, x));
    x = ggml_pad_ext(ctx, x, taps / 2, taps - 1 - taps / 2, 0, 0, 0, 0, 0, 0);
    if (w->type != GGML_TYPE_F32)
        w = ggml_cast(ctx, w, GGML_TYPE_F32);
    x = ggml_ssm_conv(ctx, ggml_reshape_3d(ctx, x, x->ne[0], n, 1), w);
    x = ggml_mul(ctx, ggml_reshape_2d(ctx, x, n, x->ne[1]), c->conv_scale);
    x = ggml_silu(ctx, ggml_add(ctx, x, c->conv_shift));
    return graph_linear(&m->g, x, &c->conv_out);
}

static struct ggml_tensor *
encode(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_encoder *e = m->e;
    struct ggml_context *ctx = m->g.ctx;
    struct shared s = share(m);
    struct ggml_tensor *mid;

    x = graph_linear(&m->g, x, &e->linears[INPUT]);
    for (int32_t i = 0; i < e->model->hp.n_layer; i++) {
        const struct granite_layer *c = &granite_of(e)->layers[i];

        x = half_feed_forward(m, c, 0, x);
        x = ggml_add(ctx, x, attention(m, i, x, &s));
        x = ggml_add(ctx, x, convolution(m, c, x));
        x = half_feed_forward(m, c, 1, x);
        x = graph_norm(&m->g, x, &e->model->layers[i].ffn_post_norm);
        if (i + 1 != e->model->hp.n_layer / 2)
            continue;
        mid = ggml_soft_max(ctx, graph_linear(&m->g, x, &e->linears[CLASSES]));
        x = ggml_add(ctx, x, graph_linear(&m->g, mid, &e->linears[BACK]));
    }
    return x;
}

/* ---- queries ------------------------------------------------------------- */

static struct ggml_tensor *
query_norm(struct media_graph *m, struct ggml_tensor *x,
           const struct model_norm *norm)
{
    return graph_scale_norm(&m->g, ggml_norm(m->g.ctx, x, query_eps), norm);
}

/* d x heads x vectors of a window x windows */
static struct ggml_tensor *
query_heads(struct media_graph *m, struct ggml_tensor *x,
            const struct model_linear *linear, int64_t windows)
{
    int64_t n = granite_of(m->e)->n_heads;

    x = graph_linear(&m->g, x, linear);
    return ggml_reshape_4d(m->g.ctx, x, x->ne[0] / n, n, x->ne[1] / windows,
                           windows);
}

static struct ggml_tensor *
ask(struct media_graph *m, const struct asking *a, struct ggml_tensor *queries,
    struct ggml_tensor *x, int64_t windows)
{
    struct ggml_tensor *r = media_attend(
        m, query_heads(m, queries, &a->q, windows),
        query_heads(m, x, &a->k, windows), query_heads(m, x, &a->v, windows));

    r = graph_linear(&m->g, r, &a->out);
    return query_norm(m, ggml_add(m->g.ctx, r, queries), &a->norm);
}

/* The queries of a window, for each of them. */
static struct ggml_tensor *
first_queries(struct media_graph *m, int64_t windows)
{
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *q = m->e->query;

    if (q->type != GGML_TYPE_F32)
        q = ggml_cast(ctx, q, GGML_TYPE_F32);
    q = query_norm(m, q, &m->e->norms[0]);
    q = ggml_repeat_4d(ctx, q, q->ne[0], q->ne[1], windows, 1);
    return ggml_reshape_2d(ctx, q, q->ne[0], q->ne[1] * windows);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct granite *s = granite_of(m->e);
    struct ggml_tensor *x = encode(m, media_frames(m)), *q, *y;
    int64_t windows = (m->n + s->window - 1) / s->window;

    if (windows * s->window > m->n)
        x = ggml_pad(m->g.ctx, x, 0, (int)(windows * s->window - m->n), 0, 0);
    q = first_queries(m, windows);
    for (int32_t i = 0; i < s->n_asking; i++) {
        q = ask(m, &s->own[i], q, q, windows);
        q = ask(m, &s->cross[i], q, x, windows);
        y = media_mlp(m, q, &s->up[i], &s->down[i], MODEL_GELU_ERF);
        q = query_norm(m, ggml_add(m->g.ctx, y, q), &s->norms[i]);
    }
    return graph_linear(&m->g, q, &m->e->linears[OUTPUT]);
}

const struct media_type media_projector_granitespeech[] = {
    { .name = "granite_speech",
      .kind = GG_MEDIA_SOUND,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
