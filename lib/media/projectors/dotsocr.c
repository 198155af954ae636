/* dotsocr.c - dots.ocr (rednote-hilab 2025)
 *
 * x = rms(embed(patches)); layers, which turn heads by the places of patches;
 * rms; rows = down(gelu(up(join(norm(x))))). The formula is that of the maker's
 * modeling_dots_vision.py.
 */
#include "media/graph.h"
#include "media/plan.h"

static const char *const keys[] = { "projector.scale_factor",
                                    "image_min_pixels", "image_max_pixels",
                                    NULL };

static void
hparams(struct media_loader *l)
{
    media_read_merge(l, "projector.scale_factor", 2);
    media_check_heads(l, 4);
    media_read_bounds(l, -1, -1);
    l->e->model->hp.norms = MODEL_RMS_NORM;
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, joined = n * e->hp.merge * e->hp.merge;
    int64_t ff = media_peek(l, "mm.0.weight", 1);

    media_find_patches(l, false, true);
    e->pre_norm.weight =
        graph_find_vector(&l->l, "v.norm_embd", n, MODEL_REQUIRED);
    media_find_layers(l, MEDIA_FUSED | MEDIA_GATED);
    e->post_norm.weight =
        graph_find_vector(&l->l, "mm.post_norm", n, MODEL_REQUIRED);
    e->norms[0] = graph_find_norm(&l->l, "mm.input_norm", n, MODEL_REQUIRED);
    e->linears[0] =
        graph_find_linear(&l->l, "mm.0", joined, ff, MODEL_REQUIRED);
    e->linears[1] =
        graph_find_linear(&l->l, "mm.2", ff, e->hp.width, MODEL_REQUIRED);
}

static void
plan(struct media_planner *p)
{
    media_plan_rounded(p, "<|img|>", "<|endofimg|>");
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = graph_norm(&m->g, media_embed(m), &e->pre_norm);
    x = media_vit(m, x, &(struct media_vit){ .turn = media_turn_sections });
    x = graph_norm(&m->g, x, &e->post_norm);
    x = graph_scale_norm(&m->g, ggml_norm(m->g.ctx, x, 1e-6f), &e->norms[0]);
    return media_mlp(m, media_join(m, x, e->hp.merge), &e->linears[0],
                     &e->linears[1], MODEL_GELU_ERF);
}

const struct media_type media_projector_dotsocr[] = {
    { .name = "dots_ocr",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
