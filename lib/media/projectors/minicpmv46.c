/* minicpmv46.c - MiniCPM-V 4.6 (OpenBMB 2026): SigLIP, merged twice
 *
 * The whole image, and slices of one whose area is more than a slice's. Of
 * each: x = embed(patches) + positions of a grid; layers, after one of which
 * windows of 2 x 2 patches attend to themselves, y = x + attention(norm(x)),
 * and become one: x = down(gelu(up(norm(join(y))))) + mean(y); norm; rows =
 * down(gelu(up(norm(join(x))))), again of 2 x 2. Files for more rows have the
 * second merger alone.
 */
#include <math.h>

#include "media/graph.h"
#include "media/plan.h"

enum {
    WINDOW = 2, /* patches of a side, in both mergers */
    MERGE = WINDOW * WINDOW,
    MAX_SLICES = 9,
    MERGE_LAYER = 6,
};

enum linears {
    Q,
    K,
    V,
    OUT,
    INNER_UP,
    INNER_DOWN,
    UP,
    DOWN,
};

enum norms {
    WINDOW_NORM,
    INNER_NORM,
    INPUT_NORM,
};

static const char *const keys[] = { "projector.scale_factor",
                                    "wa_layer_indexes", NULL };

static bool
merges_twice(const struct media_encoder *e)
{
    return e->hp.merge == MERGE;
}

static void
read_merge_layer(struct media_loader *l)
{
    int32_t last = l->e->model->hp.n_layer - 1;

    l->e->hp.merge_layer = last < MERGE_LAYER ? last : MERGE_LAYER;
    if (graph_key_exists(&l->keys, "wa_layer_indexes"))
        l->e->hp.merge_layer = media_key_only(l, "wa_layer_indexes", 0, last);
}

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "projector.scale_factor", MERGE);
    if (l->keys.status == GG_OK && hp->merge != WINDOW && hp->merge != MERGE)
        graph_key_refuse(&l->keys, GG_ERR_UNSUPPORTED, "projector.scale_factor",
                         "%d is neither %d nor %d", (int)hp->merge, WINDOW,
                         MERGE);
    read_merge_layer(l);
}

static void
find_inner_merger(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, joined = n * WINDOW * WINDOW;
    int64_t ff = media_peek(l, "v.vit_merger.ds_ffn_up.weight", 1);

    e->norms[WINDOW_NORM] =
        graph_find_norm(&l->l, "v.vit_merger.ln1", n, MODEL_REQUIRED);
    e->linears[Q] =
        graph_find_linear(&l->l, "v.vit_merger.attn_q", n, n, MODEL_REQUIRED);
    e->linears[K] =
        graph_find_linear(&l->l, "v.vit_merger.attn_k", n, n, MODEL_REQUIRED);
    e->linears[V] =
        graph_find_linear(&l->l, "v.vit_merger.attn_v", n, n, MODEL_REQUIRED);
    e->linears[OUT] =
        graph_find_linear(&l->l, "v.vit_merger.attn_out", n, n, MODEL_REQUIRED);
    e->norms[INNER_NORM] =
        graph_find_norm(&l->l, "v.vit_merger.ds_ln", joined, MODEL_REQUIRED);
    e->linears[INNER_UP] = graph_find_linear(&l->l, "v.vit_merger.ds_ffn_up",
                                             joined, ff, MODEL_REQUIRED);
    e->linears[INNER_DOWN] = graph_find_linear(
        &l->l, "v.vit_merger.ds_ffn_down", ff, n, MODEL_REQUIRED);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, joined = n * WINDOW * WINDOW;
    int64_t ff = media_peek(l, "mm.up.weight", 1);

    media_find_patches(l, false, true);
    media_find_positions(l, 0, 1);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    if (merges_twice(e))
        find_inner_merger(l);
    e->norms[INPUT_NORM] =
        graph_find_norm(&l->l, "mm.input_norm", joined, MODEL_REQUIRED);
    e->linears[UP] =
        graph_find_linear(&l->l, "mm.up", joined, ff, MODEL_REQUIRED);
    e->linears[DOWN] =
        graph_find_linear(&l->l, "mm.down", ff, e->hp.width, MODEL_REQUIRED);
}

/* ---- slices -------------------------------------------------------------- */

/* The nearest multiple of `of`, at least one. */
static double
nearest_multiple(double n, double of)
{
    return fmax(nearbyint(n / of) * of, of);
}

/* An image of that size as an input; `grows`: also where it is less than one.
 */
static struct media_size
fit(const struct media_planner *p, double width, double height, bool grows)
{
    double side = p->e->hp.image_size, of = p->e->hp.patch * p->e->hp.merge;

    if (grows || width * height > side * side) {
        double shape = width / height;

        height = floor(side / sqrt(shape));
        width = floor(height * shape);
    }
    return (struct media_size){ (uint32_t)nearest_multiple(width, of),
                                (uint32_t)nearest_multiple(height, of) };
}

/* Among the divisions of n slices, fewer rows first. */
static void
try_grids(uint32_t n, double shape, struct media_size *best, double *least)
{
    for (uint32_t rows = 1; rows <= n; rows++) {
        double error = fabs(shape - log((double)(n / rows) / rows));

        if (n % rows || error > *least ||
            (error == *least && rows <= best->height))
            continue;
        *least = error;
        *best = (struct media_size){ n / rows, rows };
    }
}

/* 0 x 0: the image is one input. */
static struct media_size
choose_grid(const struct media_planner *p)
{
    double side = p->e->hp.image_size;
    double shape = log((double)p->width / p->height), least = INFINITY;
    double ratio = (double)p->width * p->height / (side * side);
    uint32_t n = (uint32_t)fmin(ceil(ratio), MAX_SLICES);
    struct media_size best = { 1, 1 };

    if (n <= 1)
        return (struct media_size){ 0, 0 };
    for (uint32_t i = n - 1; i <= n + 1 && i <= MAX_SLICES; i++)
        if (i > 1)
            try_grids(i, shape, &best, &least);
    return best;
}

static void
plan_run(struct media_planner *p, int frame, uint32_t x, uint32_t y,
         struct media_size size, const char *const marks[2])
{
    uint32_t side = (uint32_t)(p->e->hp.patch * p->e->hp.merge);

    media_plan_marker(p, marks[0]);
    media_plan_rows(p, frame, x, y, size.width, size.height,
                    (size_t)(size.width / side) * (size.height / side), false);
    media_plan_marker(p, marks[1]);
}

static void
plan_slices(struct media_planner *p, struct media_size grid)
{
    static const char *const marks[2] = { "<slice>", "</slice>" };
    double w = nearest_multiple(p->width, grid.width) / grid.width;
    double h = nearest_multiple(p->height, grid.height) / grid.height;
    struct media_size s = fit(p, w, h, true);
    int frame = media_plan_frame(p, MEDIA_SOURCE, s.width * grid.width,
                                 s.height * grid.height, MEDIA_BICUBIC);

    for (uint32_t y = 0; y < grid.height; y++) {
        for (uint32_t x = 0; x < grid.width; x++)
            plan_run(p, frame, x * s.width, y * s.height, s, marks);
        if (y + 1 < grid.height)
            media_plan_text(p, "\n");
    }
}

static void
plan(struct media_planner *p)
{
    static const char *const marks[2] = { "<image>", "</image>" };
    struct media_size grid = choose_grid(p);
    struct media_size s = fit(p, p->width, p->height, grid.width == 0);

    media_plan_marker(p, "<image_id>");
    media_plan_ordinal(p);
    media_plan_marker(p, "</image_id>");
    plan_run(
        p, media_plan_frame(p, MEDIA_SOURCE, s.width, s.height, MEDIA_BICUBIC),
        0, 0, s, marks);
    if (grid.width > 0)
        plan_slices(p, grid);
}

/* ---- what is computed ---------------------------------------------------- */

/* Windows of squares of 4 x 4 patches, one after the other in each. */
static void
order_windows(struct media_graph *m)
{
    int32_t wide = m->nx / MERGE, w = WINDOW * WINDOW;

    for (int32_t i = 0; i < m->n; i++) {
        int32_t square = i / (w * w), window = i / w % w, at = i % w;
        int32_t x = square % wide * MERGE + window % WINDOW * WINDOW;
        int32_t y = square / wide * MERGE + window / WINDOW * WINDOW;

        m->order[i] = (y + at / WINDOW) * m->nx + x + at % WINDOW;
    }
}

/* Heads of windows, each window as a batch. */
static struct ggml_tensor *
window_heads(struct media_graph *m, struct ggml_tensor *x, enum linears i)
{
    int64_t d = m->e->model->hp.layers[0].d_key, n = WINDOW * WINDOW;

    x = graph_linear(&m->g, x, &m->e->linears[i]);
    return ggml_reshape_4d(m->g.ctx, x, d, x->ne[0] / d, n, x->ne[1] / n);
}

static struct ggml_tensor *
merge_windows(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_encoder *e = m->e;
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *cur = graph_norm(&m->g, x, &e->norms[WINDOW_NORM]);

    cur = media_attend(m, window_heads(m, cur, Q), window_heads(m, cur, K),
                       window_heads(m, cur, V));
    x = ggml_add(ctx, x, graph_linear(&m->g, cur, &e->linears[OUT]));
    cur = graph_norm(&m->g, media_join(m, x, WINDOW), &e->norms[INNER_NORM]);
    cur = media_mlp(m, cur, &e->linears[INNER_UP], &e->linears[INNER_DOWN],
                    MODEL_GELU);
    return ggml_add(ctx, cur, media_average(m, x, WINDOW));
}

static struct ggml_tensor *
encode(struct media_graph *m, struct ggml_tensor *x)
{
    int32_t after = m->e->hp.merge_layer + 1;

    if (!merges_twice(m->e))
        return media_vit(m, x, &(struct media_vit){ 0 });
    x = media_vit(m, x, &(struct media_vit){ .n_layer = after });
    return media_vit(m, merge_windows(m, x),
                     &(struct media_vit){ .first = after });
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    if (merges_twice(e))
        order_windows(m);
    else
        media_order_squares(m, WINDOW);
    x = ggml_add(m->g.ctx, media_embed(m), media_positions(m, MEDIA_BUCKETS));
    x = graph_norm(&m->g, encode(m, x), &e->post_norm);
    x = graph_scale_norm(&m->g,
                         ggml_norm(m->g.ctx, media_join(m, x, WINDOW), 1e-6f),
                         &e->norms[INPUT_NORM]);
    return media_mlp(m, x, &e->linears[UP], &e->linears[DOWN], MODEL_GELU_ERF);
}

const struct media_type media_projector_minicpmv46[] = {
    { .name = "minicpmv4_6",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
