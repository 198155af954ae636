/* idefics3.c - Idefics3 (Laurencon et al. 2024), SmolVLM, Granite-Docling
 *
 * An image becomes tiles, and, last, the whole in the size of a tile. Of each:
 * x = embed(patches) + positions; layers; norm; rows = W join(x).
 */
#include <math.h>
#include <stdio.h>

#include "media/graph.h"
#include "media/plan.h"

enum {
    LONGEST = 4096, /* pixels of a side that makers allow */
};

static const char *const keys[] = { "projector.scale_factor",
                                    "preproc_image_size", NULL };

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "projector.scale_factor", 2);
    if (l->keys.status == GG_OK && hp->image_size / hp->patch % hp->merge)
        graph_key_mismatch(&l->keys, "image_size",
                           "has patches that are not divided by",
                           hp->image_size / hp->patch, hp->merge);
    hp->longest = graph_key_int(
        &l->keys, "preproc_image_size", 1, LONGEST,
        4 * hp->image_size < LONGEST ? 4 * hp->image_size : LONGEST);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, side = e->hp.image_size / e->hp.patch;
    int64_t joined = n * e->hp.merge * e->hp.merge;

    media_find_patches(l, false, true);
    media_find_positions(l, side * side, 1);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    e->linears[0].weight = graph_find_matrix(&l->l, "mm.model.fc", joined,
                                             e->hp.width, MODEL_REQUIRED);
    e->linears[0].scale = 1;
}

/* ---- tiles --------------------------------------------------------------- */

/* The other side where the longer one is `longest`, and even. */
static uint32_t
other_side(uint32_t longest, uint32_t a, uint32_t b)
{
    uint32_t side = (uint32_t)(longest / ((double)a / b));

    side += side % 2;
    return side > 0 ? side : 1;
}

static struct media_size
longest_size(const struct media_planner *p, uint32_t longest)
{
    double aspect = (double)p->width / p->height;
    struct media_size s = { longest, longest };

    if (p->width >= p->height)
        s.height = other_side(longest, p->width, p->height);
    else {
        s.width = (uint32_t)(longest * aspect);
        s.width += s.width % 2;
        s.width = s.width > 0 ? s.width : 1;
    }
    return s;
}

static uint32_t
tiles_of(uint32_t side, uint32_t tile)
{
    return (side + tile - 1) / tile;
}

/* Both sides as multiples of a tile's. */
static struct media_size
tiled_size(struct media_size s, uint32_t tile)
{
    double aspect = (double)s.width / s.height;
    struct media_size t = { tiles_of(s.width, tile) * tile,
                            tiles_of(s.height, tile) * tile };

    if (s.width >= s.height)
        t.height = tiles_of((uint32_t)(t.width / aspect), tile) * tile;
    else
        t.width = tiles_of((uint32_t)(t.height * aspect), tile) * tile;
    t.width = t.width > 0 ? t.width : tile;
    t.height = t.height > 0 ? t.height : tile;
    return t;
}

static size_t
tile_rows(const struct media_encoder *e)
{
    size_t side = (size_t)(e->hp.image_size / e->hp.patch / e->hp.merge);

    return side * side;
}

/* The longest side, tile by tile less where the rows would be too many. */
static struct media_size
choose_size(const struct media_planner *p)
{
    uint32_t longest = (uint32_t)p->e->hp.longest;
    uint32_t tile = (uint32_t)p->e->hp.image_size;
    size_t max = (size_t)media_bounds(p).max;
    struct media_size s = longest_size(p, longest);

    for (;;) {
        struct media_size t = tiled_size(s, tile);
        size_t n = (size_t)(t.width / tile) * (t.height / tile) + 1;

        if (max == 0 || n * tile_rows(p->e) <= max || longest <= tile)
            return s;
        longest = longest > 2 * tile ? longest - tile : tile;
        s = longest_size(p, longest);
    }
}

/* The frame's tile at (x, y), whose last pixels no patch may have. */
static void
plan_tile_rows(struct media_planner *p, int frame, uint32_t x, uint32_t y)
{
    const struct media_hparams *hp = &p->e->hp;
    uint32_t tile = (uint32_t)hp->image_size;
    uint32_t side = (uint32_t)(hp->image_size / hp->patch * hp->patch);

    media_plan_rows(p, frame, x * tile, y * tile, side, side, tile_rows(p->e),
                    false);
}

static void
plan_tile(struct media_planner *p, int frame, uint32_t x, uint32_t y)
{
    char name[64];

    snprintf(name, sizeof(name), "<row_%u_col_%u>", y + 1, x + 1);
    media_plan_marker(p, "<fake_token_around_image>");
    media_plan_marker(p, name);
    plan_tile_rows(p, frame, x, y);
}

static void
plan(struct media_planner *p)
{
    uint32_t tile = (uint32_t)p->e->hp.image_size;
    struct media_size first = choose_size(p), size = tiled_size(first, tile);
    uint32_t nx = size.width / tile, ny = size.height / tile;
    int frame = media_plan_frame(p, MEDIA_SOURCE, first.width, first.height,
                                 MEDIA_LANCZOS);

    frame = media_plan_frame(p, frame, size.width, size.height, MEDIA_LANCZOS);
    for (uint32_t y = 0; nx * ny > 1 && y < ny && p->status == GG_OK; y++) {
        for (uint32_t x = 0; x < nx; x++)
            plan_tile(p, frame, x, y);
        media_plan_text(p, y < ny - 1 ? "\n" : "\n\n");
    }
    frame = media_plan_frame(p, frame, tile, tile, MEDIA_LANCZOS);
    media_plan_marker(p, "<fake_token_around_image>");
    media_plan_marker(p, "<global-img>");
    plan_tile_rows(p, frame, 0, 0);
    media_plan_marker(p, "<fake_token_around_image>");
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = ggml_add(m->g.ctx, media_embed(m), media_positions(m, MEDIA_AS_IS));
    x = media_vit(m, x, &(struct media_vit){ 0 });
    x = media_join(m, graph_norm(&m->g, x, &e->post_norm), e->hp.merge);
    return graph_linear(&m->g, x, &e->linears[0]);
}

const struct media_type media_projector_idefics3[] = {
    { .name = "idefics3",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
