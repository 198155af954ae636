/* gemma4.c - Gemma 4 (Gemma team 2026): encoders of any shape, and none
 *
 * gemma4v: x = embed(patches) + positions of x and of y; layers with norms on
 * both sides, which turn the halves of heads by the places of patches; the mean
 * of each square, times sqrt(n_embd); rows = W rms(x).
 * gemma4uv: no layers: x = norm(norm(W norm(pixels)) + positions); rows = W
 * rms(x).
 */
#include <math.h>

#include "media/graph.h"
#include "media/plan.h"

enum {
    BUDGET = 280, /* rows that an image is made to fill */
};

static const char *const keys[] = { "projector.scale_factor",
                                    "image_max_pixels", NULL };

/* ---- both ---------------------------------------------------------------- */

/* Pixels go in from -1 to 1, whatever the file says of mean and deviation. */
static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "projector.scale_factor", 3);
    media_check_heads(l, 4);
    media_read_bounds(l, 0, BUDGET);
    for (int i = 0; i < MEDIA_CHANNELS && l->keys.status == GG_OK; i++) {
        if (hp->mean[i] != 0 || hp->std[i] != 1)
            graph_key_refuse(&l->keys, GG_ERR_UNSUPPORTED, "image_mean",
                             "0, and a deviation of 1, is what Gemma 4 has");
        hp->mean[i] = hp->std[i] = 0.5f;
    }
    l->e->model->hp.norms = MODEL_RMS_NORM;
    l->e->model->hp.activation = MODEL_GELU; /* converters do not say it */
    l->e->model->hp.attn_scale = 1;
    l->e->model->hp.values_normed = true;
}

/* Models of these widths see an image's rows one after the other. */
static bool
is_causal(const struct media_encoder *e)
{
    return e->hp.width == 1536 || e->hp.width == 2560;
}

/* Rows of one of the two tables. */
static uint32_t
places(const struct media_planner *p)
{
    return (uint32_t)(p->e->positions.n / 2);
}

static void
plan(struct media_planner *p)
{
    struct media_size size = media_size_filling(p, media_bounds(p).max);
    uint32_t patch = (uint32_t)p->e->hp.patch;

    if (p->status == GG_OK &&
        (size.width / patch > places(p) || size.height / patch > places(p)))
        media_plan_refuse(p, GG_ERR_ARG,
                          "the image would have %u x %u patches, and positions "
                          "are there for %u",
                          size.width / patch, size.height / patch, places(p));
    media_plan_marker(p, "<|image>");
    media_plan_whole(p,
                     media_plan_frame(p, MEDIA_SOURCE, size.width, size.height,
                                      MEDIA_BICUBIC),
                     !is_causal(p->e));
    media_plan_marker(p, "<image|>");
}

static void
find_projection(struct media_loader *l, const char *name)
{
    struct media_encoder *e = l->e;

    e->linears[0].weight = graph_find_matrix(&l->l, name, e->model->hp.n_embd,
                                             e->hp.width, MODEL_REQUIRED);
    e->linears[0].scale = 1;
}

static struct ggml_tensor *
project(struct media_graph *m, struct ggml_tensor *x)
{
    x = ggml_rms_norm(m->g.ctx, x, m->e->model->hp.eps);
    return graph_linear(&m->g, x, &m->e->linears[0]);
}

/* ---- with layers --------------------------------------------------------- */

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd;

    media_find_patches(l, false, false);
    media_find_positions(l, 0, 2);
    media_find_layers(l, MEDIA_GATED | MEDIA_HEAD_NORMS | MEDIA_POST_NORMS |
                             MEDIA_BOUNDS);
    if (gguf_tensor_named(l->l.gguf, "v.std_bias")) {
        e->std_bias = graph_find_numbers(&l->l, "v.std_bias", n, 1, true);
        e->std_scale = graph_find_numbers(&l->l, "v.std_scale", n, 1, true);
    }
    find_projection(l, "mm.input_projection");
}

static struct ggml_tensor *
turn(struct media_graph *m, struct ggml_tensor *x)
{
    static const struct media_halves halves = { .mode = GGML_ROPE_TYPE_NEOX,
                                                .base = 100,
                                                .x_first = true };

    return media_turn_halves(m, x, &halves);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = ggml_add(ctx, media_embed(m), media_positions(m, MEDIA_BY_AXES));
    x = media_vit(m, x, &(struct media_vit){ .turn = turn });
    x = ggml_scale(ctx, media_average(m, x, e->hp.merge),
                   sqrtf((float)e->model->hp.n_embd));
    if (e->std_bias)
        x = ggml_mul(ctx, ggml_sub(ctx, x, e->std_bias), e->std_scale);
    return project(m, x);
}

/* ---- without ------------------------------------------------------------- */

/* A patch is as large as a square of them. Pixels go in from 0 to 1. */
static void
hparams_flat(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "projector.scale_factor", 3);
    hp->patch *= hp->merge;
    hp->merge = 1;
    media_read_bounds(l, 0, BUDGET);
}

static void
weights_flat(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd;
    int64_t pixels = (int64_t)e->hp.patch * e->hp.patch * MEDIA_CHANNELS;

    e->linears[1] =
        graph_find_linear(&l->l, "v.patch_embd", pixels, n, MODEL_REQUIRED);
    e->norms[0] =
        graph_find_norm(&l->l, "v.patch_norm.1", pixels, MODEL_REQUIRED);
    e->norms[1] = graph_find_norm(&l->l, "v.patch_norm.2", n, MODEL_REQUIRED);
    e->norms[2] = graph_find_norm(&l->l, "v.patch_norm.3", n, MODEL_REQUIRED);
    media_find_positions(l, 0, 2);
    find_projection(l, "mm.input_projection");
}

static struct ggml_tensor *
graph_flat(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x = media_layer_norm(m, media_pixels(m), &e->norms[0]);

    x = graph_linear(&m->g, x, &e->linears[1]);
    x = media_layer_norm(m, x, &e->norms[1]);
    x = ggml_add(m->g.ctx, x, media_positions(m, MEDIA_BY_AXES));
    return project(m, media_layer_norm(m, x, &e->norms[2]));
}

/* ---- sounds without ------------------------------------------------------ */

enum {
    FRAME = 640, /* samples, which are a frame's values */
};

static void
hparams_sound(struct media_loader *l)
{
    if (l->keys.status == GG_OK && l->e->hp.n_mel != FRAME)
        graph_key_refuse(&l->keys, GG_ERR_UNSUPPORTED, "num_mel_bins",
                         "%d is not %d", (int)l->e->hp.n_mel, FRAME);
    if (l->keys.status == GG_OK && l->e->model->hp.n_embd != FRAME)
        graph_key_refuse(&l->keys, GG_ERR_UNSUPPORTED, "embedding_length",
                         "%d is not %d", (int)l->e->model->hp.n_embd, FRAME);
}

static void
weights_sound(struct media_loader *l)
{
    find_projection(l, "mm.a.input_projection");
}

static void
plan_sound(struct media_planner *p)
{
    size_t n = (p->plan->n_samples + FRAME - 1) / FRAME;
    float *frames = media_plan_new_mel(p, n, FRAME);

    for (size_t i = 0; i < p->plan->n_samples && frames; i++)
        frames[i % FRAME * n + i / FRAME] = p->plan->samples[i];
    media_plan_marker(p, "<|audio>");
    media_plan_sound(p, frames, n, n);
    media_plan_marker(p, "<audio|>");
}

static struct ggml_tensor *
graph_sound(struct media_graph *m)
{
    return project(m, media_frames(m));
}

const struct media_type media_projector_gemma4[] = {
    { .name = "gemma4v",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { .name = "gemma4uv",
      .kind = GG_MEDIA_IMAGE,
      .flat = true,
      .keys = keys,
      .hparams = hparams_flat,
      .weights = weights_flat,
      .plan = plan,
      .graph = graph_flat },
    { .name = "gemma4ua",
      .kind = GG_MEDIA_SOUND,
      .flat = true,
      .hparams = hparams_sound,
      .weights = weights_sound,
      .plan = plan_sound,
      .graph = graph_sound },
    { 0 },
};
