/* glm4v.c - GLM-4.1V, GLM-4.5V (GLM-V team 2025), GLM-OCR
 *
 * x = rms(embed(patches)) + positions, resampled to the image; layers, which
 * turn heads by the places of patches; norm; a convolution of squares; x =
 * gelu(norm(W x)); rows = down(silu(gate(x)) * up(x)). What only some of them
 * have is there where the file has it.
 */
#include "media/graph.h"
#include "media/plan.h"

enum linears {
    FC,
    GATE,
    UP,
    DOWN,
};

static const char *const keys[] = { "spatial_merge_size", NULL };

static void
hparams(struct media_loader *l)
{
    media_read_merge(l, "spatial_merge_size", 2);
    media_check_heads(l, 4);
    l->e->model->hp.norms = MODEL_RMS_NORM;
    l->e->hp.min_rows = 8;
    l->e->hp.max_rows = 4096;
}

static bool
has(const struct media_loader *l, const char *name)
{
    return gguf_tensor_named(l->l.gguf, name) != NULL;
}

static void
find_projector(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = media_peek(l, "mm.patch_merger.weight", 3), w = e->hp.width;
    int64_t ff = media_peek(l, "mm.up.weight", 1), s = e->hp.merge;
    int64_t ne[GGML_MAX_DIMS] = { s, s, e->model->hp.n_embd, n };

    e->filters[0] = graph_find_filters(&l->l, "mm.patch_merger.weight", ne);
    e->filter_bias[0] =
        graph_find_bias(&l->l, "mm.patch_merger", n, MODEL_REQUIRED);
    e->linears[FC] =
        graph_find_linear(&l->l, "mm.model.fc", n, n, MODEL_OPTIONAL);
    e->norms[0] = graph_find_norm(&l->l, "mm.post_norm", n, MODEL_REQUIRED);
    e->linears[GATE] =
        graph_find_linear(&l->l, "mm.gate", n, ff, MODEL_OPTIONAL);
    e->linears[UP] = graph_find_linear(&l->l, "mm.up", n, ff, MODEL_OPTIONAL);
    e->linears[DOWN] =
        graph_find_linear(&l->l, "mm.down", ff, w, MODEL_OPTIONAL);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd;
    unsigned parts = MEDIA_FUSED | MEDIA_GATED;

    media_find_patches(l, true, true);
    if (has(l, "v.position_embd.weight"))
        media_find_positions(l, 0, 1);
    e->pre_norm =
        graph_find_norm_or_none(&l->l, "v.norm_embd", n, MODEL_OPTIONAL);
    if (has(l, "v.blk.0.attn_qkv.bias"))
        parts |= MEDIA_BIASED;
    if (has(l, "v.blk.0.attn_q_norm.weight"))
        parts |= MEDIA_HEAD_NORMS;
    media_find_layers(l, parts);
    e->post_norm.weight =
        graph_find_vector(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    find_projector(l);
}

static void
plan(struct media_planner *p)
{
    media_plan_rounded(p, "<|begin_of_image|>", "<|end_of_image|>");
}

static struct ggml_tensor *
project(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_encoder *e = m->e;
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *w;

    x = media_join_by_value(m, x, e->hp.merge);
    w = ggml_reshape_2d(ctx, e->filters[0], x->ne[0], e->filters[0]->ne[3]);
    x = ggml_add(ctx, ggml_mul_mat(ctx, w, x), e->filter_bias[0]);
    x = graph_linear(&m->g, x, &e->linears[FC]);
    x = ggml_gelu_erf(ctx, media_layer_norm(m, x, &e->norms[0]));
    x = graph_gated(&m->g, graph_linear(&m->g, x, &e->linears[GATE]),
                    graph_linear(&m->g, x, &e->linears[UP]), MODEL_SILU);
    return graph_linear(&m->g, x, &e->linears[DOWN]);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = graph_norm(&m->g, media_embed(m), &e->pre_norm);
    if (e->positions.x)
        x = ggml_add(m->g.ctx, x, media_positions(m, MEDIA_BICUBIC_POSITIONS));
    x = media_vit(m, x, &(struct media_vit){ .turn = media_turn_sections });
    return project(m, graph_norm(&m->g, x, &e->post_norm));
}

const struct media_type media_projector_glm4v[] = {
    { .name = "glm4v",
      .kind = GG_MEDIA_IMAGE,
      .sections = true,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
