/* llava.c - LLaVA 1.5 (Liu et al. 2023): CLIP on a square
 *
 * x = norm(class token, embed(patches) + positions); all layers but the last;
 * rows = down(gelu(up(x))) of all but the class token.
 */
#include "media/graph.h"
#include "media/plan.h"

static const char *const keys[] = { NULL };

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    if (l->keys.status == GG_OK && hp->image_size % hp->patch)
        graph_key_mismatch(&l->keys, "image_size", "is not divided by",
                           hp->image_size, hp->patch);
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, side = e->hp.image_size / e->hp.patch;
    int64_t w = e->hp.width;

    media_find_patches(l, false, false);
    media_find_positions(l, side * side + 1, 1);
    e->class_embd = graph_find_numbers(&l->l, "v.class_embd", n, 1);
    e->pre_norm = graph_find_norm(&l->l, "v.pre_ln", n, MODEL_REQUIRED);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    /* of what nobody asks for */
    media_pass_over(l, "v.post_ln.weight");
    media_pass_over(l, "v.post_ln.bias");
    e->linears[0] = graph_find_linear(&l->l, "mm.0", n, w, MODEL_REQUIRED);
    e->linears[1] = graph_find_linear(&l->l, "mm.2", w, w, MODEL_REQUIRED);
}

static void
plan(struct media_planner *p)
{
    static const uint8_t mean[MEDIA_CHANNELS] = { 122, 116, 104 };
    uint32_t side = (uint32_t)p->e->hp.image_size;

    media_plan_whole(p, media_plan_padded(p, side, side, MEDIA_BICUBIC, mean),
                     false);
}

static struct ggml_tensor *
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    int32_t n_layer = e->model->hp.n_layer - 1;
    struct ggml_tensor *x = media_add_class(m, media_embed(m));

    x = graph_norm(&m->g, x, &e->pre_norm);
    if (n_layer > 0)
        x = media_vit(m, x, &(struct media_vit){ .n_layer = n_layer });
    return media_mlp(m, media_drop_class(m, x), &e->linears[0], &e->linears[1],
                     MODEL_GELU_ERF);
}

const struct media_type media_projector_llava[] = {
    { .name = "mlp",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
