/* llava.c - LLaVA 1.5 and 1.6 (Liu et al. 2023, 2024), Granite Vision
 *
 * A square of the image, and, for 1.6, tiles of it at a higher resolution. Of
 * each: x = norm(class token, embed(patches) + positions); all layers but the
 * last, or those up to the ones that the file names, whose vectors follow one
 * another; rows = down(gelu(up(x))) of all but the class token. Rows of tiles
 * stand as the image has them, without those that saw nothing but the frame,
 * and after each line of them stands an embedding that ends it (transformers'
 * modeling_llava_next.py).
 */
#include <math.h>

#include "media/graph.h"
#include "media/plan.h"

static const char *const keys[] = { "feature_layer",
                                    "image_grid_pinpoints",
                                    "mm_patch_merge_type",
                                    "image_crop_resolution",
                                    "image_split_resolution",
                                    "image_aspect_ratio",
                                    NULL };

enum {
    MAX_SIDE = 64, /* tiles */
};

/* ---- the file ------------------------------------------------------------ */

/* Indices count from the input of the first layer, which is 0. */
static void
read_features(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;
    int32_t n = l->e->model->hp.n_layer;

    if (graph_key_exists(&l->keys, "feature_layer"))
        hp->n_features = media_key_ints(l, "feature_layer", 1, n, hp->features,
                                        MEDIA_MAX_FEATURES);
    if (hp->n_features == 0) {
        hp->features[0] = n - 1;
        hp->n_features = 1;
    }
    for (int32_t i = 1; i < hp->n_features; i++)
        if (hp->features[i] <= hp->features[i - 1] && l->keys.status == GG_OK)
            graph_key_refuse(&l->keys, GG_ERR_UNSUPPORTED, "feature_layer",
                             "%d does not follow %d", (int)hp->features[i],
                             (int)hp->features[i - 1]);
}

/* Pairs of height and width, multiples of a tile's side. */
static void
read_grids(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;
    int32_t sides[2 * MEDIA_MAX_GRIDS], side = hp->image_size;
    int n = media_key_ints(l, "image_grid_pinpoints", 1, MEDIA_MAX_SIDE, sides,
                           2 * MEDIA_MAX_GRIDS);

    for (int i = 0; i < n && l->keys.status == GG_OK; i += 2) {
        if (i + 1 == n || sides[i] % side || sides[i + 1] % side ||
            sides[i] > MAX_SIDE * side || sides[i + 1] > MAX_SIDE * side ||
            (sides[i] == side && sides[i + 1] == side)) {
            graph_key_refuse(&l->keys, GG_ERR_UNSUPPORTED,
                             "image_grid_pinpoints",
                             "no pairs of multiples of %d, but of more than "
                             "one tile, and of at most %d of them",
                             (int)side, MAX_SIDE);
            return;
        }
        hp->grids[hp->n_grids++] =
            (struct media_grid){ .nx = sides[i + 1] / side,
                                 .ny = sides[i] / side };
    }
}

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    if (l->keys.status == GG_OK && hp->image_size % hp->patch)
        graph_key_mismatch(&l->keys, "image_size", "is not divided by",
                           hp->image_size, hp->patch);
    if (l->keys.status == GG_OK)
        read_features(l);
    if (l->keys.status == GG_OK &&
        graph_key_exists(&l->keys, "image_grid_pinpoints"))
        read_grids(l);
}

static bool
has(const struct media_loader *l, const char *name)
{
    return gguf_tensor_named(l->l.gguf, name) != NULL;
}

static void
find_line_end(struct media_loader *l)
{
    const char *name = has(l, "model.image_newline") ? "model.image_newline"
                                                     : "v.image_newline";

    if (l->e->hp.n_grids > 0)
        l->e->row_break =
            graph_find_numbers(&l->l, name, l->e->hp.width, 1, true);
    else
        media_pass_over(l, name);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, side = e->hp.image_size / e->hp.patch;
    int64_t w = e->hp.width, class = has(l, "v.class_embd") ? 1 : 0;

    media_find_patches(l, false, has(l, "v.patch_embd.bias"));
    media_find_positions(l, side * side + class, 1);
    if (class)
        e->class_embd = graph_find_numbers(&l->l, "v.class_embd", n, 1, true);
    if (class || has(l, "v.pre_ln.weight"))
        e->pre_norm = graph_find_norm(&l->l, "v.pre_ln", n, MODEL_REQUIRED);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    /* of what nobody asks for */
    media_pass_over(l, "v.post_ln.weight");
    media_pass_over(l, "v.post_ln.bias");
    e->linears[0] = graph_find_linear(&l->l, "mm.0", n * e->hp.n_features, w,
                                      MODEL_REQUIRED);
    e->linears[1] = graph_find_linear(&l->l, "mm.2", w, w, MODEL_REQUIRED);
    find_line_end(l);
}

/* ---- tiles --------------------------------------------------------------- */

struct fit {
    double kept, wasted; /* pixels of the image, and the others */
};

static struct fit
fit_into(const struct media_planner *p, const struct media_grid *g)
{
    double side = p->e->hp.image_size, w = p->width, h = p->height;
    double scale = fmin(g->nx * side / w, g->ny * side / h);
    double kept = fmin(floor(w * scale) * floor(h * scale), w * h);

    return (struct fit){ kept, g->nx * side * g->ny * side - kept };
}

/* That which keeps most of the image, and adds least to it. */
static const struct media_grid *
choose_grid(const struct media_planner *p)
{
    const struct media_hparams *hp = &p->e->hp;
    const struct media_grid *best = &hp->grids[0];
    struct fit least = fit_into(p, best);

    for (int32_t i = 1; i < hp->n_grids; i++) {
        struct fit f = fit_into(p, &hp->grids[i]);

        if (f.kept < least.kept ||
            (f.kept == least.kept && f.wasted >= least.wasted))
            continue;
        least = f;
        best = &hp->grids[i];
    }
    return best;
}

/* The image as it is shaped, within w x h. */
static struct media_size
shape_into(const struct media_planner *p, uint32_t w, uint32_t h)
{
    double x = (double)w / p->width, y = (double)h / p->height;

    return x < y ? (struct media_size){ w,
                                        (uint32_t)fmin(ceil(p->height * x), h) }
                 : (struct media_size){ (uint32_t)fmin(ceil(p->width * y), w),
                                        h };
}

static double
rounded(double x)
{
    return floor(nearbyint(x * 1e7) / 1e7);
}

/* Patches, among nx x ny, that see the image. */
static struct media_size
kept_patches(const struct media_planner *p, uint32_t nx, uint32_t ny)
{
    double w = p->width, h = p->height;
    uint32_t kept;

    if (w / h > (double)nx / ny) {
        kept = (uint32_t)rounded(h * (nx / w));
        return (struct media_size){ nx, ny - (ny - kept) / 2 * 2 };
    }
    kept = (uint32_t)rounded(w * (ny / h));
    return (struct media_size){ nx - (nx - kept) / 2 * 2, ny };
}

static void
plan_tiles(struct media_planner *p)
{
    const struct media_grid *g = choose_grid(p);
    uint32_t side = (uint32_t)p->e->hp.image_size;
    uint32_t patch = (uint32_t)p->e->hp.patch;
    uint32_t w = (uint32_t)g->nx * side, h = (uint32_t)g->ny * side;
    struct media_size kept = kept_patches(p, w / patch, h / patch);

    media_plan_rows(
        p, media_plan_inner(p, shape_into(p, w, h), w, h, MEDIA_BICUBIC, false),
        0, 0, w, h, (size_t)(kept.width + 1) * kept.height, false);
    if (p->status == GG_OK)
        p->plan->views[p->plan->plan.n_pieces - 1].kept = kept;
}

static void
plan(struct media_planner *p)
{
    static const uint8_t mean[MEDIA_CHANNELS] = { 122, 116, 104 };
    uint32_t side = (uint32_t)p->e->hp.image_size;
    bool tiled = p->e->hp.n_grids > 0;
    int frame =
        tiled ? media_plan_frame(p, MEDIA_SOURCE, side, side, MEDIA_BICUBIC)
              : media_plan_padded(p, side, side, MEDIA_BICUBIC, mean);

    media_plan_whole(p, frame, false);
    if (tiled)
        plan_tiles(p);
}

/* ---- what is computed ---------------------------------------------------- */

/* Patches tile by tile. */
static void
order_tiles(struct media_graph *m)
{
    int32_t s = m->e->hp.image_size / m->e->hp.patch, wide = m->nx / s;

    for (int32_t i = 0; i < m->n; i++) {
        int32_t tile = i / (s * s), at = i % (s * s);
        int32_t x = tile % wide * s + at % s, y = tile / wide * s + at / s;

        m->order[i] = y * m->nx + x;
    }
    m->windows[0].n = m->n / (s * s);
    m->windows[0].size = s * s + (m->e->class_embd ? 1 : 0);
}

/* The table, for each tile the same. */
static struct ggml_tensor *
positions(struct media_graph *m)
{
    int32_t n = m->windows[0].size;

    return ggml_reshape_3d(m->g.ctx, media_repeated_positions(m, n, n),
                           m->e->positions.width, n, 1);
}

static struct ggml_tensor *
with_places(struct media_graph *m, struct ggml_tensor *x)
{
    struct ggml_context *ctx = m->g.ctx;
    int64_t n = x->ne[0], tiles = m->windows[0].n;
    struct ggml_tensor *c = m->e->class_embd;

    x = ggml_reshape_3d(ctx, x, n, x->ne[1] / tiles, tiles);
    if (c) {
        c = ggml_repeat_4d(ctx, ggml_reshape_2d(ctx, c, n, 1), n, 1, tiles, 1);
        x = ggml_concat(ctx, c, x, 1);
    }
    x = ggml_add(ctx, x, positions(m));
    return ggml_reshape_2d(ctx, x, n, x->ne[1] * tiles);
}

/* Without the class tokens. */
static struct ggml_tensor *
patches_of(struct media_graph *m, struct ggml_tensor *x)
{
    struct ggml_context *ctx = m->g.ctx;
    int64_t size = m->windows[0].size, tiles = m->windows[0].n;
    size_t step = x->nb[1];

    if (!m->e->class_embd)
        return x;
    x = ggml_view_3d(ctx, x, x->ne[0], size - 1, tiles, step,
                     step * (size_t)size, step);
    return ggml_reshape_2d(ctx, ggml_cont(ctx, x), x->ne[0],
                           (size - 1) * tiles);
}

/* Vectors of the layers that are used, after one another. */
static struct ggml_tensor *
features(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_hparams *hp = &m->e->hp;
    struct ggml_tensor *all = NULL, *cur;
    struct media_vit vit = { .attend = media_attend_windows };

    for (int32_t i = 0; i < hp->n_features; i++) {
        vit.n_layer = hp->features[i];
        if (vit.n_layer > vit.first)
            x = media_vit(m, x, &vit);
        vit.first = hp->features[i];
        cur = patches_of(m, x);
        all = all ? ggml_concat(m->g.ctx, all, cur, 0) : cur;
    }
    return all;
}

/* Row of the patch at (x, y), which stands tile by tile. */
static int32_t
row_at(const struct media_graph *m, int32_t x, int32_t y)
{
    int32_t s = m->e->hp.image_size / m->e->hp.patch;
    int32_t tile = y / s * (m->nx / s) + x / s;

    return tile * s * s + y % s * s + x % s;
}

/* Lines of the rows in the middle, and the embedding that ends each. */
static struct ggml_tensor *
lines(struct media_graph *m, struct ggml_tensor *x)
{
    int32_t w = (int32_t)m->kept.width, h = (int32_t)m->kept.height, *to;
    int32_t left = (m->nx - w) / 2, top = (m->ny - h) / 2;

    x = media_pick(m, ggml_concat(m->g.ctx, x, m->e->row_break, 1),
                   (int64_t)(w + 1) * h, &to);
    for (int32_t i = 0; i < (w + 1) * h && to; i++) {
        int32_t at = i % (w + 1), line = i / (w + 1);

        to[i] = at == w ? m->n : row_at(m, left + at, top + line);
    }
    return x;
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    order_tiles(m);
    x = graph_norm(&m->g, with_places(m, media_embed(m)), &e->pre_norm);
    x = media_mlp(m, features(m, x), &e->linears[0], &e->linears[1],
                  MODEL_GELU_ERF);
    return m->kept.width > 0 ? lines(m, x) : x;
}

const struct media_type media_projector_llava[] = {
    { .name = "mlp",
      .kind = GG_MEDIA_IMAGE,
      .last = "mm.2.weight",
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
