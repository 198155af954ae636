/* pixtral.c - Pixtral (Agrawal et al. 2024), Mistral Small 3, Ministral 3,
 * LightOnOCR
 *
 * x = rms(embed(patches)); layers, which turn heads by the places of patches;
 * rows = down(gelu(up(x))), where x of the later ones is W join(rms(x)). After
 * each row of the image but the last stands an embedding that ends it, but for
 * LightOnOCR, which has none.
 */
#include "media/graph.h"
#include "media/plan.h"

enum {
    LONGEST = 1024, /* no maker has a shorter longest side */
};

static const char *const keys[] = { "spatial_merge_size", NULL };
static const char *const lighton_keys[] = { "spatial_merge_size",
                                            "preproc_image_size", NULL };

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "spatial_merge_size", 1);
    media_check_heads(l, 4);
    l->e->model->hp.norms = MODEL_RMS_NORM;
    if (hp->image_size >= LONGEST)
        hp->longest = hp->image_size;
}

static void
hparams_lighton(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    hparams(l);
    hp->longest = graph_key_int(&l->keys, "preproc_image_size", 1,
                                MEDIA_MAX_SIDE, hp->image_size);
}

/* All but the embedding of breaks. */
static void
weights_lighton(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, w = e->hp.width;

    media_find_patches(l, false, false);
    e->pre_norm.weight =
        graph_find_vector(&l->l, "v.pre_ln", n, MODEL_REQUIRED);
    media_find_layers(l, MEDIA_GATED);
    if (e->hp.merge > 1) {
        e->norms[0].weight =
            graph_find_vector(&l->l, "mm.input_norm", n, MODEL_REQUIRED);
        e->linears[2].weight =
            graph_find_matrix(&l->l, "mm.patch_merger",
                              n * e->hp.merge * e->hp.merge, n, MODEL_REQUIRED);
        e->linears[2].scale = 1;
    }
    e->linears[0] = graph_find_linear(&l->l, "mm.1", n, w, MODEL_OPTIONAL);
    e->linears[1] = graph_find_linear(&l->l, "mm.2", w, w, MODEL_OPTIONAL);
}

static void
weights(struct media_loader *l)
{
    weights_lighton(l);
    l->e->row_break = graph_find_numbers(&l->l, "v.token_embd.img_break",
                                         l->e->hp.width, 1, true);
}

static void
plan_image(struct media_planner *p)
{
    struct media_size size = media_size_up(p);
    struct media_bounds b = media_bounds(p);
    uint32_t side = (uint32_t)(p->e->hp.patch * p->e->hp.merge);
    size_t nx, ny, n;
    int frame;

    if (b.max > 0 && p->status == GG_OK &&
        (uint64_t)(size.width / side) * (size.height / side) > (uint64_t)b.max)
        size = media_size_rounded(p);
    nx = size.width / side;
    ny = size.height / side;
    n = p->e->row_break ? (nx + 1) * ny - 1 : nx * ny;
    frame = media_plan_frame(p, MEDIA_SOURCE, size.width, size.height,
                             MEDIA_BICUBIC);
    media_plan_rows(p, frame, 0, 0, size.width, size.height, n, false);
}

static void
plan(struct media_planner *p)
{
    plan_image(p);
    media_plan_marker(p, "[IMG_END]");
}

static struct ggml_tensor *
turn(struct media_graph *m, struct ggml_tensor *x)
{
    static const struct media_halves halves = { .mode = GGML_ROPE_TYPE_NORMAL,
                                                .base = 10000,
                                                .turns = true };

    return media_turn_halves(m, x, &halves);
}

/* With the break, which is the last row, after each row of the image. */
static struct ggml_tensor *
with_breaks(struct media_graph *m, struct ggml_tensor *x)
{
    int32_t nx = m->nx / m->e->hp.merge, ny = m->ny / m->e->hp.merge, *to;
    int32_t n = (nx + 1) * ny - 1;

    x = ggml_concat(m->g.ctx, x, m->e->row_break, 1);
    x = media_pick(m, x, n, &to);
    for (int32_t i = 0; i < n && to; i++)
        to[i] = i % (nx + 1) < nx ? i / (nx + 1) * nx + i % (nx + 1) : nx * ny;
    return x;
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = graph_norm(&m->g, media_embed(m), &e->pre_norm);
    x = media_vit(m, x, &(struct media_vit){ .turn = turn });
    if (e->linears[2].weight) {
        x = graph_norm(&m->g, x, &e->norms[0]);
        x = graph_linear(&m->g, media_join_by_value(m, x, e->hp.merge),
                         &e->linears[2]);
    }
    x = media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
    return e->row_break ? with_breaks(m, x) : x;
}

const struct media_type media_projector_pixtral[] = {
    { .name = "pixtral",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { .name = "lightonocr",
      .kind = GG_MEDIA_IMAGE,
      .keys = lighton_keys,
      .hparams = hparams_lighton,
      .weights = weights_lighton,
      .plan = plan_image,
      .graph = graph },
    { 0 },
};
