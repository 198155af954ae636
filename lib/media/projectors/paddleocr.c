/* paddleocr.c - PaddleOCR-VL (Cui et al. 2025)
 *
 * x = embed(patches) + positions, resampled to the image; layers, which turn
 * heads by the places of patches; rows = down(gelu(up(join(norm(norm(x)))))).
 */
#include "media/graph.h"
#include "media/plan.h"

static const char *const keys[] = { "spatial_merge_size", "image_min_pixels",
                                    "image_max_pixels", NULL };

static void
hparams(struct media_loader *l)
{
    media_read_merge(l, "spatial_merge_size", 2);
    media_check_heads(l, 4);
    media_read_bounds(l, -1, -1);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, joined = n * e->hp.merge * e->hp.merge;
    int64_t ff = media_peek(l, "mm.1.weight", 1);

    media_find_patches(l, false, true);
    media_find_positions(l, 0, 1);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    e->norms[0] = graph_find_norm(&l->l, "mm.input_norm", n, MODEL_REQUIRED);
    e->linears[0] =
        graph_find_linear(&l->l, "mm.1", joined, ff, MODEL_REQUIRED);
    e->linears[1] =
        graph_find_linear(&l->l, "mm.2", ff, e->hp.width, MODEL_REQUIRED);
}

static void
plan(struct media_planner *p)
{
    media_plan_rounded(p, "<|IMAGE_START|>", "<|IMAGE_END|>");
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = ggml_add(m->g.ctx, media_embed(m), media_positions(m, MEDIA_CENTRES));
    x = media_vit(m, x, &(struct media_vit){ .turn = media_turn_sections });
    x = graph_norm(&m->g, x, &e->post_norm);
    x = media_join(m, media_layer_norm(m, x, &e->norms[0]), e->hp.merge);
    return media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
}

const struct media_type media_projector_paddleocr[] = {
    { .name = "paddleocr",
      .kind = GG_MEDIA_IMAGE,
      .sections = true,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
