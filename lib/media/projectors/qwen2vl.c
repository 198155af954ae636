/* qwen2vl.c - Qwen2-VL (Wang et al. 2024) and Qwen2.5-VL (Bai et al. 2025)
 *
 * x = embed(patches); layers, which turn heads by the places of patches; rows =
 * down(gelu(up(join(norm(x))))). Most layers of 2.5 see a window of 112 x 112
 * pixels each: patches stand window by window, and rows go back to their
 * places.
 */
#include "media/graph.h"
#include "media/plan.h"

enum {
    WINDOW = 112, /* pixels of a side */
};

static const char *const keys_2[] = { "spatial_merge_size", "image_min_pixels",
                                      "image_max_pixels", NULL };
static const char *const keys_25[] = { "spatial_merge_size", "n_wa_pattern",
                                       "image_min_pixels", "image_max_pixels",
                                       NULL };

static void
hparams(struct media_loader *l)
{
    media_read_merge(l, "spatial_merge_size", 2);
    media_check_heads(l, 4);
    media_read_bounds(l, 8, 4096);
}

/* Squares of a window's side. */
static int32_t
window_side(const struct media_encoder *e)
{
    int32_t side = WINDOW / (e->hp.patch * e->hp.merge);

    return side > 0 ? side : 1;
}

static void
hparams_25(struct media_loader *l)
{
    hparams(l);
    l->e->model->hp.norms = MODEL_RMS_NORM;
    l->e->hp.window_period =
        graph_key_int(&l->keys, "n_wa_pattern", 1, MODEL_MAX_LAYERS, -1);
}

static void
find_rest(struct media_loader *l, unsigned parts)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, joined = n * e->hp.merge * e->hp.merge;

    media_find_patches(l, true, false);
    media_find_layers(l, parts);
    e->post_norm.weight =
        graph_find_vector(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    if (parts & MEDIA_NORM_BIAS)
        e->post_norm.bias =
            graph_find_bias(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    e->linears[0] =
        graph_find_linear(&l->l, "mm.0", joined, joined, MODEL_REQUIRED);
    e->linears[1] =
        graph_find_linear(&l->l, "mm.2", joined, e->hp.width, MODEL_REQUIRED);
}

static void
weights_2(struct media_loader *l)
{
    find_rest(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
}

static void
weights_25(struct media_loader *l)
{
    find_rest(l, MEDIA_BIASED | MEDIA_GATED);
}

static void
plan(struct media_planner *p)
{
    media_plan_rounded(p, "<|vision_start|>", "<|vision_end|>");
}

/* ---- windows ------------------------------------------------------------- */

/* Squares from (x, y) on, nx x ny of them, one after the other. */
struct area {
    int32_t x, y, nx, ny;
};

static void
add_square(struct media_graph *m, int32_t x, int32_t y, int32_t *at)
{
    int32_t s = m->e->hp.merge;

    for (int32_t i = 0; i < s * s; i++)
        m->order[(*at)++] = (y * s + i / s) * m->nx + x * s + i % s;
}

/* The windows of side w that fill the area, each as nx x ny squares. */
static void
add_windows(struct media_graph *m, const struct area *a, int32_t nx, int32_t ny,
            int kind, int32_t *at)
{
    int32_t s = m->e->hp.merge;

    for (int32_t y = a->y; y < a->y + a->ny; y += ny)
        for (int32_t x = a->x; x < a->x + a->nx; x += nx) {
            for (int32_t i = 0; i < nx * ny; i++)
                add_square(m, x + i % nx, y + i / nx, at);
            m->windows[kind].n++;
        }
    m->windows[kind].size = nx * ny * s * s;
}

/* Windows inside, then those that the right edge cuts, the lower one, both. */
static void
order_windows(struct media_graph *m)
{
    int32_t s = m->e->hp.merge, w = window_side(m->e), at = 0;
    int32_t nx = m->nx / s, ny = m->ny / s;
    int32_t cut_x = nx % w, cut_y = ny % w, in_x = nx - cut_x,
            in_y = ny - cut_y;
    struct area areas[MEDIA_WINDOW_KINDS] = { { 0, 0, in_x, in_y },
                                              { in_x, 0, cut_x, in_y },
                                              { 0, in_y, in_x, cut_y },
                                              { in_x, in_y, cut_x, cut_y } };

    for (int i = 0; i < MEDIA_WINDOW_KINDS; i++)
        if (areas[i].nx > 0 && areas[i].ny > 0)
            add_windows(m, &areas[i], i % 2 ? cut_x : w, i / 2 ? cut_y : w, i,
                        &at);
}

static struct ggml_tensor *
attend(struct media_graph *m, int32_t layer, const struct graph_heads *h)
{
    return (layer + 1) % m->e->hp.window_period == 0
               ? media_attend(m, h->q, h->k, h->v)
               : media_attend_windows(m, layer, h);
}

/* Rows of squares, window by window, in the order of the image. */
static struct ggml_tensor *
in_order(struct media_graph *m, struct ggml_tensor *x)
{
    int32_t s = m->e->hp.merge, n = m->n / (s * s), *to;

    x = media_pick(m, x, n, &to);
    for (int32_t i = 0; i < n && to; i++) {
        int32_t first = m->order[i * s * s];

        to[first / m->nx / s * (m->nx / s) + first % m->nx / s] = i;
    }
    return x;
}

/* ---- what is computed ---------------------------------------------------- */

static struct ggml_tensor *
project(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_encoder *e = m->e;

    x = media_join(m, graph_norm(&m->g, x, &e->post_norm), e->hp.merge);
    return media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
}

static struct ggml_tensor *
graph_2(struct media_graph *m)
{
    media_order_squares(m, m->e->hp.merge);
    return project(
        m, media_vit(m, media_embed(m),
                     &(struct media_vit){ .turn = media_turn_sections }));
}

static struct ggml_tensor *
graph_25(struct media_graph *m)
{
    struct media_vit vit = { .turn = media_turn_sections, .attend = attend };

    order_windows(m);
    return in_order(m, project(m, media_vit(m, media_embed(m), &vit)));
}

const struct media_type media_projector_qwen2vl[] = {
    { .name = "qwen2vl_merger",
      .no_length = true,
      .kind = GG_MEDIA_IMAGE,
      .sections = true,
      .keys = keys_2,
      .hparams = hparams,
      .weights = weights_2,
      .plan = plan,
      .graph = graph_2 },
    { .name = "qwen2.5vl_merger",
      .kind = GG_MEDIA_IMAGE,
      .sections = true,
      .keys = keys_25,
      .hparams = hparams_25,
      .weights = weights_25,
      .plan = plan,
      .graph = graph_25 },
    { .name = "qwen2.5o",
      .kind = GG_MEDIA_IMAGE,
      .sections = true,
      .keys = keys_25,
      .hparams = hparams_25,
      .weights = weights_25,
      .plan = plan,
      .graph = graph_25 },
    { 0 },
};
