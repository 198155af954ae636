/* llama4.c - Llama 4 Scout and Maverick (Meta 2025)
 *
 * Tiles of an image that is larger than one, and the whole in the size of a
 * tile. Of each: x = norm(embed(patches), class token + positions); layers,
 * which turn the halves of heads by the places of patches, counted from 1, and
 * the class token not at all; norm; rows = W gelu(down(gelu(up(join(x))))) of
 * all but the class token, which is the last.
 *
 * Tiles are those of llama.cpp: at most 3 x 3, by a cubic filter, in the middle
 * of black, without marks between them. Meta's processor has at most 16, by a
 * linear one, at the top left, with marks; rows of an image that is smaller
 * than a tile differ by an NMSE of 0.56, of the whole of a larger one by 8e-4.
 */
#include "media/graph.h"
#include "media/plan.h"
#include "media/tiles.h"

enum {
    MAX_SIDE = 3, /* tiles */
};

enum linears {
    UP,
    DOWN,
    PROJ,
};

static const char *const keys[] = { "projector.scale_factor", NULL };

static void
hparams(struct media_loader *l)
{
    struct media_hparams *hp = &l->e->hp;

    media_read_merge(l, "projector.scale_factor", 2);
    if (l->keys.status == GG_OK && hp->image_size % (hp->patch * hp->merge))
        graph_key_mismatch(&l->keys, "image_size", "is not divided by",
                           hp->image_size, hp->patch * hp->merge);
    media_check_heads(l, 4);
    hp->min_tiles = 2;
    hp->max_tiles = MAX_SIDE * MAX_SIDE;
    hp->max_side = MAX_SIDE;
    l->e->model->hp.activation = MODEL_GELU_ERF;
}

static void
find_map(struct media_loader *l, enum linears i, const char *name, int64_t n_in,
         int64_t n_out)
{
    l->e->linears[i].weight =
        graph_find_matrix(&l->l, name, n_in, n_out, MODEL_REQUIRED);
    l->e->linears[i].scale = 1;
}

static void
weights(struct media_loader *l)
{
    struct media_encoder *e = l->e;
    int64_t n = e->model->hp.n_embd, side = e->hp.image_size / e->hp.patch;
    int64_t joined = n * e->hp.merge * e->hp.merge, p = e->hp.patch;
    int64_t ff = media_peek(l, "mm.model.mlp.1.weight", 1);
    int64_t out = media_peek(l, "mm.model.mlp.2.weight", 1);

    e->patch = graph_find_matrix(&l->l, "v.patch_embd", p * p * MEDIA_CHANNELS,
                                 n, MODEL_REQUIRED);
    media_find_positions(l, side * side + 1, 1);
    e->class_embd = graph_find_numbers(&l->l, "v.class_embd", n, 1, true);
    e->pre_norm = graph_find_norm(&l->l, "v.pre_ln", n, MODEL_REQUIRED);
    media_find_layers(l, MEDIA_BIASED | MEDIA_NORM_BIAS);
    e->post_norm = graph_find_norm(&l->l, "v.post_ln", n, MODEL_REQUIRED);
    find_map(l, UP, "mm.model.mlp.1", joined, ff);
    find_map(l, DOWN, "mm.model.mlp.2", ff, out);
    find_map(l, PROJ, "mm.model.fc", out, e->hp.width);
}

static void
plan(struct media_planner *p)
{
    media_plan_marker(p, "<|image_start|>");
    media_tiles_plan(p);
    media_plan_marker(p, "<|image_end|>");
}

/* ---- what is computed ---------------------------------------------------- */

/* Places from 1, and 0, which turns nothing, of the class token. */
static struct ggml_tensor *
places(struct media_graph *m, bool x)
{
    int32_t *to;
    struct ggml_tensor *t = media_input(m, GGML_TYPE_I32, m->n + 1, 1, &to);

    for (int32_t i = 0; i < m->n && to; i++)
        to[i] = 1 + (x ? m->order[i] % m->nx : m->order[i] / m->nx);
    return ggml_reshape_1d(m->g.ctx, t, m->n + 1);
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
graph(struct media_graph *m)
{
    const struct media_encoder *e = m->e;
    struct ggml_tensor *x;

    media_order_squares(m, e->hp.merge);
    m->at_x = places(m, true);
    m->at_y = places(m, false);
    x = graph_norm(&m->g, media_append_class(m, media_embed(m)), &e->pre_norm);
    x = media_vit(m, x, &(struct media_vit){ .turn = turn });
    x = graph_norm(&m->g, x, &e->post_norm);
    x = ggml_view_2d(m->g.ctx, x, x->ne[0], m->n, x->nb[1], 0);
    x = media_mlp(m, media_join(m, x, e->hp.merge), &e->linears[UP],
                  &e->linears[DOWN], MODEL_GELU_ERF);
    return graph_linear(&m->g, ggml_gelu_erf(m->g.ctx, x), &e->linears[PROJ]);
}

const struct media_type media_projector_llama4[] = {
    { .name = "llama4",
      .kind = GG_MEDIA_IMAGE,
      .keys = keys,
      .hparams = hparams,
      .weights = weights,
      .plan = plan,
      .graph = graph },
    { 0 },
};
