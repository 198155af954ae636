/* towers.c - CLIP (Radford et al. 2021) and SigLIP (Zhai et al. 2023): images
 * as vectors in a space that texts share
 *
 * CLIP: x = norm(class token, embed(patches) + positions); layers; the vector
 * is W norm(x) of the class token. SigLIP: x = norm(layers(embed(patches) +
 * positions)); a learnt query attends to all of x, p, and the vector is
 * p + down(gelu(up(norm(p)))). A vector's length becomes 1. */
#include <string.h>

#include "media/graph.h"
#include "media/plan.h"

enum {
    BILINEAR = 2, /* as Pillow counts its filters */
    BICUBIC = 3,
};

static const char *const clip_keys[] = {
    "image_resample",
    "image_crop",
    ".text.vocab_size",
    ".text.context_length",
    ".text.embedding_length",
    ".text.feed_forward_length",
    ".text.block_count",
    ".text.attention.head_count",
    ".text.projection_dim",
    ".text.attention.layer_norm_epsilon",
    NULL,
};
static const char *const siglip_keys[] = { "image_resample", NULL };

/* ---- numbers ------------------------------------------------------------- */

/* MEDIA_BICUBIC unless the file says otherwise. */
static void
read_filter(struct media_loader *l)
{
    l->e->hp.filter = media_key_int(l, "image_resample", BILINEAR, BICUBIC,
                                    BICUBIC) == BILINEAR
                          ? MEDIA_BILINEAR
                          : MEDIA_BICUBIC;
}

static void
check_patches(struct media_loader *l)
{
    const struct media_hparams *hp = &l->e->hp;

    if (l->keys.status == GG_OK && hp->image_size % hp->patch)
        graph_key_mismatch(&l->keys, "image_size", "is not divided by",
                           hp->image_size, hp->patch);
}

/* The name gelu means erf's here. */
static void
clip_hparams(struct media_loader *l)
{
    struct model_hparams *hp = &l->e->model->hp;

    if (hp->activation == MODEL_GELU)
        hp->activation = MODEL_GELU_ERF;
    read_filter(l);
    check_patches(l);
}

static void
siglip_hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    read_filter(l);
    check_patches(l);
    if (l->keys.status == GG_OK && hp->width != l->e->model->hp.n_embd)
        graph_key_mismatch(&l->keys, "projection_dim", "is not the length",
                           hp->width, l->e->model->hp.n_embd);
}

/* ---- weights ------------------------------------------------------------- */

/* Files of both towers have that of texts, which gg-eval takes of a file of
 * its own. */
static void
pass_over_texts(struct media_loader *l)
{
    int64_t n = gguf_get_n_tensors(l->l.gguf);

    for (int64_t i = 0; i < n; i++) {
        const char *name = gguf_get_tensor_name(l->l.gguf, i);

        if (strncmp(name, "t.", 2) == 0)
            media_pass_over(l, name);
    }
    media_pass_over(l, "text_projection.weight");
}

static void
clip_weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, side = e->hp.image_size / e->hp.patch;

    media_find_patches(l, false, false);
    media_find_positions(l, side * side + 1, 1);
    e->class_embd = graph_find_numbers(&l->l, "v.class_embd", n, 1, true);
    e->pre_norm = graph_find_norm(&l->l, "v.pre_ln", n, MODEL_REQUIRED);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    e->linears[0] = (struct model_linear){
        .weight = graph_find_matrix(&l->l, "visual_projection", n, e->hp.width,
                                    MODEL_REQUIRED),
        .scale = 1,
    };
    pass_over_texts(l);
}

static void
siglip_weights(struct media_loader *l)
{
    static const char *const attention[4] = { "v.head.attn_q", "v.head.attn_k",
                                              "v.head.attn_v",
                                              "v.head.attn_out" };
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, side = e->hp.image_size / e->hp.patch;
    int64_t f = e->model->hp.layers[0].n_ff;

    media_find_patches(l, false, true);
    media_find_positions(l, side * side, 1);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    e->query = graph_find_numbers(&l->l, "v.head.probe", n, 1, true);
    for (int i = 0; i < 4; i++)
        e->linears[i] =
            graph_find_linear(&l->l, attention[i], n, n, MODEL_REQUIRED);
    e->norms[0] = graph_find_norm(&l->l, "v.head.ln", n, MODEL_REQUIRED);
    e->linears[4] =
        graph_find_linear(&l->l, "v.head.ffn_up", n, f, MODEL_REQUIRED);
    e->linears[5] =
        graph_find_linear(&l->l, "v.head.ffn_down", f, n, MODEL_REQUIRED);
}

/* ---- sizes --------------------------------------------------------------- */

/* A side, when the shorter one becomes `to`; one too long is refused. */
static uint32_t
scaled_side(uint32_t side, uint32_t shorter, uint32_t to)
{
    uint64_t n = (uint64_t)side * to / shorter;

    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* The shorter side becomes that of the square, whose middle is what is seen. */
static void
clip_plan(struct media_planner *p)
{
    uint32_t side = (uint32_t)p->e->hp.image_size;
    uint32_t shorter = p->width < p->height ? p->width : p->height;
    uint32_t width = scaled_side(p->width, shorter, side);
    uint32_t height = scaled_side(p->height, shorter, side);
    int frame =
        media_plan_frame(p, MEDIA_SOURCE, width, height, p->e->hp.filter);

    media_plan_rows(p, frame, (width - side) / 2, (height - side) / 2, side,
                    side, 1, false);
}

/* The whole image becomes the square. */
static void
siglip_plan(struct media_planner *p)
{
    uint32_t side = (uint32_t)p->e->hp.image_size;

    media_plan_rows(
        p, media_plan_frame(p, MEDIA_SOURCE, side, side, p->e->hp.filter), 0, 0,
        side, side, 1, false);
}

/* ---- what is computed ---------------------------------------------------- */

static struct ggml_tensor *
to_length_1(struct media_graph *m, struct ggml_tensor *x)
{
    return ggml_l2_norm(m->g.ctx, x, 1e-12f);
}

static struct ggml_tensor *
clip_graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x = media_add_class(m, media_embed(m));

    x = media_vit(m, graph_norm(&m->g, x, &e->pre_norm),
                  &(struct media_vit){ 0 });
    x = ggml_view_2d(m->g.ctx, x, x->ne[0], 1, x->nb[1], 0);
    x = graph_norm(&m->g, x, &e->post_norm);
    return to_length_1(m, graph_linear(&m->g, x, &e->linears[0]));
}

static struct ggml_tensor *
in_heads(struct media_graph *m, struct ggml_tensor *x)
{
    const struct model_layer_hparams *hp = &m->e->model->hp.layers[0];

    return ggml_reshape_3d(m->g.ctx, x, hp->d_key, hp->n_head, x->ne[1]);
}

/* One query for all of x. */
static struct ggml_tensor *
attend_by_query(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *q =
        ggml_reshape_2d(m->g.ctx, e->query, e->model->hp.n_embd, 1);

    q = in_heads(m, graph_linear(&m->g, q, &e->linears[0]));
    x = media_attend(m, q, in_heads(m, graph_linear(&m->g, x, &e->linears[1])),
                     in_heads(m, graph_linear(&m->g, x, &e->linears[2])));
    return graph_linear(&m->g, x, &e->linears[3]);
}

static struct ggml_tensor *
siglip_graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x =
        ggml_add(m->g.ctx, media_embed(m), media_positions(m, MEDIA_AS_IS));
    struct ggml_tensor *cur;

    x = media_vit(m, x, &(struct media_vit){ 0 });
    x = attend_by_query(m, graph_norm(&m->g, x, &e->post_norm));
    cur = graph_norm(&m->g, x, &e->norms[0]);
    cur = media_mlp(m, cur, &e->linears[4], &e->linears[5],
                    e->model->hp.activation);
    return to_length_1(m, ggml_add(m->g.ctx, x, cur));
}

const struct media_type media_projector_towers[] = {
    { .name = "clip",
      .kind = GG_MEDIA_IMAGE,
      .embeds = true,
      .keys = clip_keys,
      .hparams = clip_hparams,
      .weights = clip_weights,
      .plan = clip_plan,
      .graph = clip_graph },
    { .name = "siglip",
      .kind = GG_MEDIA_IMAGE,
      .embeds = true,
      .keys = siglip_keys,
      .hparams = siglip_hparams,
      .weights = siglip_weights,
      .plan = siglip_plan,
      .graph = siglip_graph },
    { 0 },
};
