/* kimivl.c - Kimi-VL (Kimi team 2025), Kimi K2.5: MoonViT
 *
 * x = embed(patches) + positions, resampled to the image; layers, which turn
 * the halves of heads by the places of patches; norm; rows =
 * down(gelu(up(join(norm(x))))).
 */
#include <math.h>

#include "media/graph.h"
#include "media/plan.h"

static const char *const keys[] = { "projector.scale_factor",
                                    "image_min_pixels", "image_max_pixels",
                                    NULL };

enum {
    MAX_PIXELS = 1 << 28,
    MOST_PATCHES = 512, /* of a side */
};

static void
hparams(struct media_loader *l)
{
    media_read_merge(l, "projector.scale_factor", 2);
    media_check_heads(l, 4);
    l->e->hp.min_rows = 8;
    l->e->hp.max_rows = 1024;
}

static void
hparams_25(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;
    int32_t area, min, max;

    hparams(l);
    area = hp->patch * hp->merge * hp->patch * hp->merge;
    min = graph_key_int(&l->keys, "image_min_pixels", 0, MAX_PIXELS, 0);
    max = graph_key_int(&l->keys, "image_max_pixels", 0, MAX_PIXELS, 0);
    hp->min_rows = min && max ? min / area : 2;
    hp->max_rows = min && max ? max / area : 4096;
    if (l->keys.status == GG_OK &&
        (hp->max_rows == 0 || hp->min_rows > hp->max_rows))
        graph_key_mismatch(&l->keys, "image_max_pixels",
                           "rows are less than the least,", hp->max_rows,
                           hp->min_rows);
}

static void
find_rest(struct media_loader *l, unsigned parts)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, joined = n * e->hp.merge * e->hp.merge;
    int64_t ff = media_peek(l, "mm.1.weight", 1);

    media_find_layers(l, parts);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    e->norms[0] = graph_find_norm(&l->l, "mm.input_norm", n, MODEL_REQUIRED);
    e->linears[0] =
        graph_find_linear(&l->l, "mm.1", joined, ff, MODEL_REQUIRED);
    e->linears[1] =
        graph_find_linear(&l->l, "mm.2", ff, e->hp.width, MODEL_REQUIRED);
}

static void
weights(struct media_loader *l)
{
    media_find_patches(l, false, true);
    media_find_positions(l, 0, 1);
    find_rest(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
}

static void
weights_25(struct media_loader *l)
{
    bool fused =
        gguf_tensor_named(l->l.gguf, "v.blk.0.attn_qkv.weight") != NULL;

    media_find_patches(l, false, true);
    media_find_square_positions(l);
    find_rest(l, MEDIA_BIASED | MEDIA_NORM_BIAS | (fused ? MEDIA_FUSED : 0));
}

static void
plan(struct media_planner *p)
{
    static const uint8_t black[MEDIA_CHANNELS];
    struct media_size size = media_size_rounded(p);

    media_plan_marker(p, "<|media_start|>");
    media_plan_whole(
        p, media_plan_padded(p, size.width, size.height, MEDIA_BICUBIC, black),
        false);
    media_plan_marker(p, "<|media_end|>");
}

/* Kimi K2.5 makes no image larger, but to have the least rows that the user
 * asks for; patches are counted before they are rounded up to squares. */
static double
scale_25(const struct media_planner *p)
{
    double patch = p->e->hp.patch, merge = p->e->hp.merge;
    double w = p->width, h = p->height, scale = 1;
    double n = fmax(1, floor(w / patch)) * fmax(1, floor(h / patch));
    struct media_bounds b = media_bounds(p);

    if (p->projector->min_rows > 0)
        scale = fmax(1, sqrt(b.min * merge * merge / n));
    scale = fmin(scale, sqrt(b.max * merge * merge / n));
    return fmin(scale, MOST_PATCHES * patch / fmax(w, h));
}

static void
plan_25(struct media_planner *p)
{
    double scale = scale_25(p);
    uint32_t of = (uint32_t)(p->e->hp.patch * p->e->hp.merge);
    struct media_size inner = { (uint32_t)fmax(1, floor(p->width * scale)),
                                (uint32_t)fmax(1, floor(p->height * scale)) };
    uint32_t w = (inner.width + of - 1) / of * of;
    uint32_t h = (inner.height + of - 1) / of * of;

    media_plan_marker(p, "<|media_begin|>");
    media_plan_text(p, "image");
    media_plan_marker(p, "<|media_content|>");
    media_plan_whole(p, media_plan_inner(p, inner, w, h, MEDIA_BICUBIC, true),
                     false);
    media_plan_marker(p, "<|media_end|>");
}

static struct ggml_tensor *
turn(struct media_graph *m, struct ggml_tensor *x)
{
    static const struct media_halves halves = { .mode = GGML_ROPE_TYPE_NORMAL,
                                                .base = 10000,
                                                .x_first = true };

    return media_turn_halves(m, x, &halves);
}

static struct ggml_tensor *
encode(struct media_graph *m, enum media_positions how)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = ggml_add(m->g.ctx, media_embed(m), media_positions(m, how));
    x = media_vit(m, x, &(struct media_vit){ .turn = turn });
    return graph_norm(&m->g, x, &e->post_norm);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x = encode(m, MEDIA_SMOOTHED);

    x = media_join(m, media_layer_norm(m, x, &e->norms[0]), e->hp.merge);
    return media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
}

static struct ggml_tensor *
graph_25(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x = encode(m, MEDIA_BICUBIC_POSITIONS);

    x = media_join(m, graph_norm(&m->g, x, &e->norms[0]), e->hp.merge);
    return media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
}

const struct media_type media_projector_kimivl[] = {
    { .name = "kimivl",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { .name = "kimik25",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams_25,
      .weights = weights_25,
      .plan = plan_25,
      .graph = graph_25 },
    { 0 },
};
