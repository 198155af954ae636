/* lfm2.c - LFM2-VL (Liquid AI 2025): SigLIP 2 on any shape, or tiles
 *
 * x = embed(patches) + positions, resampled to the image; layers; norm; rows =
 * down(gelu(up(norm(join(x))))).
 */
#include <math.h>
#include <stdio.h>

#include "media/graph.h"
#include "media/plan.h"
#include "media/tiles.h"

enum {
    TILE = 512,    /* pixels of a side */
    TOLERANCE = 2, /* times the rows that one tile has room for */
};

static const char *const keys[] = { "projector.scale_factor",
                                    "image_min_pixels", "image_max_pixels",
                                    NULL };

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "projector.scale_factor", 2);
    media_read_bounds(l, 64, 256);
    hp->min_tiles = 2;
    hp->max_tiles = 10;
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, joined = n * e->hp.merge * e->hp.merge;
    int64_t n_ff = media_peek(l, "mm.1.weight", 1);

    media_find_patches(l, false, true);
    media_find_positions(l, 0, 1);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    e->norms[0] =
        graph_find_norm_or_none(&l->l, "mm.input_norm", joined, MODEL_REQUIRED);
    e->linears[0] =
        graph_find_linear(&l->l, "mm.1", joined, n_ff, MODEL_REQUIRED);
    e->linears[1] =
        graph_find_linear(&l->l, "mm.2", n_ff, e->hp.width, MODEL_REQUIRED);
}

/* Whether the image, rounded, has too many pixels for one input. */
static bool
needs_tiles(const struct media_planner *p)
{
    double side = (double)p->e->hp.patch * p->e->hp.merge;
    double max = (double)media_bounds(p).max * side * side * TOLERANCE;
    double w = nearbyint(p->width / side) * side;
    double h = nearbyint(p->height / side) * side;

    w = w > p->e->hp.patch ? w : p->e->hp.patch;
    h = h > p->e->hp.patch ? h : p->e->hp.patch;
    return w * h > max;
}

static void
plan_tiles(struct media_planner *p)
{
    uint32_t of = (uint32_t)(p->e->hp.patch * p->e->hp.merge);
    size_t n = (TILE / of) * (TILE / of);
    struct media_size grid = media_tiles_nearest(p, TILE);
    static const uint8_t black[MEDIA_CHANNELS];
    int frame = media_plan_padded(p, grid.width * TILE, grid.height * TILE,
                                  MEDIA_BILINEAR, black);
    char name[64];

    for (uint32_t i = 0; i < grid.width * grid.height; i++) {
        uint32_t x = i % grid.width, y = i / grid.width;

        snprintf(name, sizeof(name), "<|img_row_%u_col_%u|>", y + 1, x + 1);
        media_plan_marker(p, name);
        media_plan_rows(p, frame, x * TILE, y * TILE, TILE, TILE, n, false);
    }
    media_plan_marker(p, "<|img_thumbnail|>");
}

static void
plan(struct media_planner *p)
{
    struct media_size size = media_size_rounded(p);

    media_plan_marker(p, "<|image_start|>");
    if (needs_tiles(p))
        plan_tiles(p);
    media_plan_whole(p,
                     media_plan_frame(p, MEDIA_SOURCE, size.width, size.height,
                                      MEDIA_BILINEAR),
                     false);
    media_plan_marker(p, "<|image_end|>");
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = ggml_add(m->g.ctx, media_embed(m), media_positions(m, MEDIA_SMOOTHED));
    x = media_vit(m, x, &(struct media_vit){ 0 });
    x = media_join(m, graph_norm(&m->g, x, &e->post_norm), e->hp.merge);
    if (e->norms[0].weight)
        x = media_layer_norm(m, x, &e->norms[0]);
    return media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
}

const struct media_type media_projector_lfm2[] = {
    { .name = "lfm2",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
