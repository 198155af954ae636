/* internvl.c - InternVL 2.5, 3, 3.5 (Chen et al. 2024): InternViT
 *
 * Tiles, and, last, the whole in the size of a tile. Of each: x = class token,
 * embed(patches) + positions; layers with a scale of what they add; rows =
 * down(gelu(up(norm(join(x))))) of all but the class token. InternViT of 6B
 * has RMS norms, and those of all queries and of all keys: the file shows it.
 */
#include "media/graph.h"
#include "media/plan.h"
#include "media/tiles.h"

static const char *const keys[] = { "projector.scale_factor",
                                    "preproc_min_tiles", "preproc_max_tiles",
                                    NULL };

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "projector.scale_factor", 2);
    hp->min_tiles =
        graph_key_int(&l->keys, "preproc_min_tiles", 1, MEDIA_MAX_TILES, 1);
    hp->max_tiles =
        graph_key_int(&l->keys, "preproc_max_tiles", 1, MEDIA_MAX_TILES, 12);
    if (hp->min_tiles > hp->max_tiles)
        graph_key_mismatch(&l->keys, "preproc_min_tiles", "exceeds",
                           hp->min_tiles, hp->max_tiles);
    if (l->keys.status == GG_OK && hp->image_size % (hp->patch * hp->merge))
        graph_key_mismatch(&l->keys, "image_size", "is not divided by",
                           hp->image_size, hp->patch * hp->merge);
    l->e->model->hp.activation = MODEL_GELU_ERF;
}

static bool
has(const struct media_loader *l, const char *name)
{
    return gguf_tensor_named(l->l.gguf, name) != NULL;
}

/* All layers have what the first one has. */
static unsigned
parts_of(const struct media_loader *l)
{
    unsigned parts = MEDIA_BIASED | MEDIA_LAYER_SCALE;

    if (has(l, "v.blk.0.ln1.bias"))
        parts |= MEDIA_NORM_BIAS;
    if (has(l, "v.blk.0.attn_q_norm.weight"))
        parts |= MEDIA_WHOLE_NORMS;
    if (!has(l, "v.blk.0.attn_q.bias"))
        parts |= MEDIA_QKV_UNBIASED;
    return parts;
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, side = e->hp.image_size / e->hp.patch;
    int64_t joined = n * e->hp.merge * e->hp.merge, w = e->hp.width;

    media_find_patches(l, false, true);
    media_find_positions(l, side * side + 1, 1);
    e->class_embd = graph_find_numbers(&l->l, "v.class_embd", n, 1, true);
    if (!has(l, "v.blk.0.ln1.bias"))
        e->model->hp.norms = MODEL_RMS_NORM;
    media_find_layers(l, parts_of(l));
    e->norms[0] =
        graph_find_norm(&l->l, "mm.model.mlp.0", joined, MODEL_REQUIRED);
    e->linears[0] =
        graph_find_linear(&l->l, "mm.model.mlp.1", joined, w, MODEL_REQUIRED);
    e->linears[1] =
        graph_find_linear(&l->l, "mm.model.mlp.3", w, w, MODEL_REQUIRED);
}

static void
plan(struct media_planner *p)
{
    media_plan_marker(p, "<img>");
    media_tiles_plan(p);
    media_plan_marker(p, "</img>");
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    x = media_vit(m, media_add_class(m, media_embed(m)),
                  &(struct media_vit){ 0 });
    x = media_join(m, media_drop_class(m, x), e->hp.merge);
    x = media_layer_norm(m, x, &e->norms[0]);
    return media_mlp(m, x, &e->linears[0], &e->linears[1], MODEL_GELU_ERF);
}

const struct media_type media_projector_internvl[] = {
    { .name = "internvl",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
