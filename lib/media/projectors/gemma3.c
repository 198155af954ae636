/* gemma3.c - Gemma 3 (Gemma team 2025): SigLIP on a square, averaged
 *
 * x = embed(patches) + positions; layers; norm; the mean of each square;
 * rms(x) W, with W as it stands: its first dimension is the result's.
 */
#include "media/graph.h"
#include "media/plan.h"

static const char *const keys[] = { "projector.scale_factor", NULL };

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "projector.scale_factor", 4);
    if (l->keys.status == GG_OK && hp->image_size % (hp->patch * hp->merge))
        graph_key_mismatch(&l->keys, "image_size", "is not divided by",
                           hp->image_size, hp->patch * hp->merge);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, side = e->hp.image_size / e->hp.patch;
    int64_t ne[GGML_MAX_DIMS] = { e->hp.width, n, 1, 1 };

    media_find_patches(l, false, true);
    media_find_positions(l, side * side, 1);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    e->norms[0].weight =
        graph_find_vector(&l->l, "mm.soft_emb_norm", n, MODEL_REQUIRED);
    e->filters[0] = graph_find_filters(&l->l, "mm.input_projection.weight", ne);
}

static void
plan(struct media_planner *p)
{
    uint32_t side = (uint32_t)p->e->hp.image_size;

    media_plan_marker(p, "<start_of_image>");
    media_plan_whole(
        p, media_plan_frame(p, MEDIA_SOURCE, side, side, MEDIA_BILINEAR), true);
    media_plan_marker(p, "<end_of_image>");
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = ggml_add(ctx, media_embed(m), media_positions(m, MEDIA_AS_IS));
    x = media_vit(m, x, &(struct media_vit){ 0 });
    x = graph_norm(&m->g, x, &e->post_norm);
    x = media_average(m, x, e->hp.merge);
    x = ggml_mul(ctx, ggml_rms_norm(ctx, x, e->model->hp.eps),
                 e->norms[0].weight);
    return ggml_mul_mat(ctx, ggml_cont(ctx, ggml_transpose(ctx, e->filters[0])),
                        x);
}

const struct media_type media_projector_gemma3[] = {
    { .name = "gemma3",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
