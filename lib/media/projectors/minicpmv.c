/* minicpmv.c - MiniCPM-V 2.5 to 4.5 (Yao et al. 2024): a resampler
 *
 * The whole image, and slices of one that is larger than image_size. Of each: x
 * = embed(patches) + positions of a grid; layers; norm. Then n_query rows ask:
 * keys = k(y + sines of places), values = v(y), y = norm(W x), and rows = W
 * norm(attention(q(norm(query)), keys, values)).
 */
#include <math.h>

#include "media/graph.h"
#include "media/plan.h"
#include "media/tiles.h"

enum {
    D_HEAD = 128, /* of the resampler */
    MAX_QUERIES = 4096,
    NESTED = 2, /* the version whose slices are images within one */
};

enum linears {
    KV,
    Q,
    K,
    V,
    OUT,
    PROJ,
};

enum norms {
    NORM_Q,
    NORM_KV,
    NORM_POST,
};

static const char *const keys[] = { ".minicpmv_version", ".minicpmv_query_num",
                                    ".has_minicpmv_projector", NULL };

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    hp->version = media_key_int(l, ".minicpmv_version", 2, INT32_MAX, NESTED);
    hp->n_query = media_key_int(l, ".minicpmv_query_num", 1, MAX_QUERIES,
                                hp->version == NESTED ? 96 : 64);
    if (l->keys.status == GG_OK && hp->width % D_HEAD)
        l->keys.status = gguf_bad_value(
            l->keys.gguf, "resampler.proj.weight", l->keys.err,
            "%d rows are not divided by %d", (int)hp->width, D_HEAD);
    if (l->keys.status == GG_OK && hp->version > 6 && hp->version != 100045)
        graph_key_refuse(&l->keys, GG_ERR_UNSUPPORTED, "projector_type",
                         "version %d of this one is not known here",
                         (int)hp->version);
}

static void
find_resampler(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t w = e->hp.width;
    int64_t ne[GGML_MAX_DIMS] = { w, e->hp.n_query, 1, 1 };

    e->query = graph_find_filters(&l->l, "resampler.query", ne);
    e->linears[KV].weight = graph_find_matrix(
        &l->l, "resampler.kv", e->model->hp.n_embd, w, MODEL_REQUIRED);
    e->linears[KV].scale = 1;
    e->linears[Q] =
        graph_find_linear(&l->l, "resampler.attn.q", w, w, MODEL_REQUIRED);
    e->linears[K] =
        graph_find_linear(&l->l, "resampler.attn.k", w, w, MODEL_REQUIRED);
    e->linears[V] =
        graph_find_linear(&l->l, "resampler.attn.v", w, w, MODEL_REQUIRED);
    e->linears[OUT] =
        graph_find_linear(&l->l, "resampler.attn.out", w, w, MODEL_REQUIRED);
    e->linears[PROJ].weight =
        graph_find_matrix(&l->l, "resampler.proj", w, w, MODEL_REQUIRED);
    e->linears[PROJ].scale = 1;
    e->norms[NORM_Q] =
        graph_find_norm(&l->l, "resampler.ln_q", w, MODEL_REQUIRED);
    e->norms[NORM_KV] =
        graph_find_norm(&l->l, "resampler.ln_kv", w, MODEL_REQUIRED);
    e->norms[NORM_POST] =
        graph_find_norm(&l->l, "resampler.ln_post", w, MODEL_REQUIRED);
    /* sines, which are computed for any size */
    media_pass_over(l, "resampler.pos_embed_k");
    media_pass_over(l, "resampler.pos_embed");
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;

    media_find_patches(l, false, true);
    media_find_positions(l, 0, 1);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", e->model->hp.n_embd,
                                   MODEL_REQUIRED);
    find_resampler(l);
}

/* ---- slices -------------------------------------------------------------- */

static void
plan_run(struct media_planner *p, int frame, uint32_t x, uint32_t y,
         struct media_size size, const char *const marks[2])
{
    media_plan_marker(p, marks[0]);
    media_plan_rows(p, frame, x, y, size.width, size.height,
                    (size_t)p->e->hp.n_query, false);
    media_plan_marker(p, marks[1]);
}

/* The size of a slice of the image, divided by the grid. */
static struct media_size
slice_size(struct media_planner *p, struct media_size grid)
{
    uint32_t w = (uint32_t)roundf((float)p->width / (float)grid.width);
    uint32_t h = (uint32_t)roundf((float)p->height / (float)grid.height);

    return media_tiles_fit(p, w > 0 ? w : 1, h > 0 ? h : 1, true);
}

static void
plan_slices(struct media_planner *p, struct media_size grid)
{
    static const char *const images[2] = { "<image>", "</image>" };
    static const char *const slices[2] = { "<slice>", "</slice>" };
    static const uint8_t black[MEDIA_CHANNELS];
    bool nested = p->e->hp.version == NESTED;
    struct media_size s = slice_size(p, grid);
    int frame = media_plan_padded(p, s.width * grid.width,
                                  s.height * grid.height, MEDIA_BICUBIC, black);

    if (nested)
        media_plan_marker(p, slices[0]);
    for (uint32_t y = 0; y < grid.height; y++) {
        for (uint32_t x = 0; x < grid.width; x++)
            plan_run(p, frame, x * s.width, y * s.height, s,
                     nested ? images : slices);
        if (y + 1 < grid.height)
            media_plan_text(p, "\n");
    }
    if (nested)
        media_plan_marker(p, slices[1]);
}

static void
plan(struct media_planner *p)
{
    static const char *const marks[2] = { "<image>", "</image>" };
    uint32_t side = (uint32_t)p->e->hp.image_size;
    struct media_size grid = media_tiles_slices(p), s = { side, side };

    if (grid.width > 0)
        s = media_tiles_fit(p, p->width, p->height, false);
    plan_run(
        p, media_plan_frame(p, MEDIA_SOURCE, s.width, s.height, MEDIA_BICUBIC),
        0, 0, s, marks);
    if (grid.width > 0)
        plan_slices(p, grid);
}

/* ---- what is computed ---------------------------------------------------- */

/* sin(x f), cos(x f), sin(y f), cos(y f), of frequencies from 1 to 1e-4. */
static struct ggml_tensor *
sines(struct media_graph *m)
{
    int32_t w = m->e->hp.width, n = w / 4;
    float *to;
    struct ggml_tensor *t = media_input(m, GGML_TYPE_F32, w, m->n, &to);

    for (int32_t i = 0; i < m->n && to; i++, to += w)
        for (int32_t k = 0; k < n; k++) {
            double f = pow(10000, -(double)k / n);
            double x = f * (m->order[i] % m->nx), y = f * (m->order[i] / m->nx);

            to[k] = (float)sin(x);
            to[n + k] = (float)cos(x);
            to[2 * n + k] = (float)sin(y);
            to[3 * n + k] = (float)cos(y);
        }
    return t;
}

static struct ggml_tensor *
heads(struct media_graph *m, struct ggml_tensor *x,
      const struct model_linear *linear)
{
    x = graph_linear(&m->g, x, linear);
    return ggml_reshape_3d(m->g.ctx, x, D_HEAD, x->ne[0] / D_HEAD, x->ne[1]);
}

static struct ggml_tensor *
resample(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_encoder *e = m->e;
    struct graph *g = &m->g;
    struct ggml_tensor *q = e->query, *v;

    if (q->type != GGML_TYPE_F32)
        q = ggml_cast(g->ctx, q, GGML_TYPE_F32);
    q = graph_norm(g, q, &e->norms[NORM_Q]);
    v = graph_norm(g, graph_linear(g, x, &e->linears[KV]), &e->norms[NORM_KV]);
    x = media_attend(m, heads(m, q, &e->linears[Q]),
                     heads(m, ggml_add(g->ctx, v, sines(m)), &e->linears[K]),
                     heads(m, v, &e->linears[V]));
    x = graph_linear(g, x, &e->linears[OUT]);
    return graph_linear(g, graph_norm(g, x, &e->norms[NORM_POST]),
                        &e->linears[PROJ]);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    struct ggml_tensor *x =
        ggml_add(m->g.ctx, media_embed(m), media_positions(m, MEDIA_BUCKETS));

    x = media_vit(m, x, &(struct media_vit){ 0 });
    return resample(m, graph_norm(&m->g, x, &m->e->post_norm));
}

const struct media_type media_projector_minicpmv[] = {
    { .name = "resampler",
      .last = "resampler.proj.weight",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
