/* parts.c - embeddings, norms, linear maps and heads of a graph */
#include "graph/arch.h"

#include <math.h>
#include <string.h>

static struct ggml_tensor *
scaled(struct graph *g, struct ggml_tensor *x)
{
    float scale = g->model->hp.embd_scale;

    return scale != 0 ? ggml_scale(g->ctx, x, scale) : x;
}

static struct ggml_tensor *
with_given(struct graph *g, struct ggml_tensor *x)
{
    return g->given ? graph_put_rows(g, x, g->given) : x;
}

struct ggml_tensor *
graph_embed(struct graph *g)
{
    return with_given(g, scaled(g, graph_embed_rows(g)));
}

struct ggml_tensor *
graph_embed_normed(struct graph *g, const struct model_norm *norm)
{
    struct ggml_tensor *x = scaled(g, graph_embed_rows(g));

    return with_given(g,
                      norm ? graph_norm(g, x, norm) : graph_norm_plain(g, x));
}

struct ggml_tensor *
graph_embed_by(struct graph *g, struct ggml_tensor *table)
{
    return with_given(g, scaled(g, ggml_get_rows(g->ctx, table, g->ids)));
}

bool
graph_gives_all_rows(const struct graph *g)
{
    return g->feeds || g->informs || (g->leaves && g->model->hp.n_mtp > 0);
}

struct ggml_tensor *
graph_enter(struct graph *g, struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;
    int64_t ne[GGML_MAX_DIMS];

    if (g->first == 0) {
        graph_note_feature(g, 0, x);
        return x;
    }
    memcpy(ne, x->ne, sizeof(ne));
    /* the last gave what is wanted */
    if (g->first == hp->n_layer && !graph_gives_all_rows(g))
        ne[hp->n_altup > 0 || hp->n_stream > 0 ? 2 : 1] = g->n_outputs;
    g->entered = ggml_new_tensor(g->ctx, GGML_TYPE_F32, GGML_MAX_DIMS, ne);
    ggml_set_name(g->entered, "entered");
    ggml_set_input(g->entered);
    return g->entered;
}

struct ggml_tensor *
graph_leave(struct graph *g, struct ggml_tensor *x)
{
    g->left = x;
    return g->informs ? graph_inform_drafter(g, x) : x;
}

struct ggml_tensor *
graph_embed_positions(struct graph *g)
{
    return ggml_get_rows(g->ctx, g->model->position_embd, g->positions);
}

struct ggml_tensor *
graph_add_token_type(struct graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *types = g->model->token_types, *first;

    if (!types)
        return x;
    if (g->types)
        return ggml_add(g->ctx, x, ggml_get_rows(g->ctx, types, g->types));
    first = ggml_view_1d(g->ctx, types, types->ne[0], 0);
    if (types->type != GGML_TYPE_F32)
        first = ggml_cast(g->ctx, first, GGML_TYPE_F32);
    return ggml_add(g->ctx, x, first);
}

struct ggml_tensor *
graph_norm_plain(struct graph *g, struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;

    return hp->norms == MODEL_LAYER_NORM ? ggml_norm(g->ctx, x, hp->eps)
                                         : ggml_rms_norm(g->ctx, x, hp->eps);
}

struct ggml_tensor *
graph_norm(struct graph *g, struct ggml_tensor *x,
           const struct model_norm *norm)
{
    if (!norm->weight)
        return x;
    return graph_scale_norm(g, graph_norm_plain(g, x), norm);
}

struct ggml_tensor *
graph_scale_norm(struct graph *g, struct ggml_tensor *x,
                 const struct model_norm *norm)
{
    x = ggml_mul(g->ctx, x, graph_weight(g, norm->weight));
    return norm->bias ? ggml_add(g->ctx, x, graph_weight(g, norm->bias)) : x;
}

struct ggml_tensor *
graph_linear(struct graph *g, struct ggml_tensor *x,
             const struct model_linear *linear)
{
    struct ggml_tensor *w = graph_weight(g, linear->weight), *y;
    const float *b = linear->bounds;

    if (b)
        x = ggml_clamp(g->ctx, x, b[0], b[1]);
    y = graph_product(g, ggml_mul_mat(g->ctx, w, x));
    if (linear->scale != 1 && w == linear->weight)
        y = ggml_scale(g->ctx, y, linear->scale);
    y = graph_add_adapters(g, y, linear->weight, x, NULL);
    if (linear->bias)
        y = ggml_add(g->ctx, y, graph_weight(g, linear->bias));
    return b ? ggml_clamp(g->ctx, y, b[2], b[3]) : y;
}

struct ggml_tensor *
graph_heads(struct graph *g, struct ggml_tensor *x, int32_t d, int32_t n_head)
{
    return ggml_reshape_3d(g->ctx, x, d, n_head, g->n_tokens);
}

bool
graph_rope_has_sections(const struct model_hparams *hp)
{
    return hp->rope.section_mode != 0;
}

/* Each pair by the position of its section. */
static struct ggml_tensor *
turn_by_sections(struct graph *g, const struct model_rope *r,
                 struct ggml_tensor *x, struct ggml_tensor *positions,
                 struct ggml_tensor *divisors)
{
    int sections[GGML_MROPE_SECTIONS];

    for (int i = 0; i < GGML_MROPE_SECTIONS; i++)
        sections[i] = r->params.sections[i];
    return ggml_rope_multi(g->ctx, x, positions, divisors, r->params.n_rot,
                           sections, r->params.section_mode,
                           r->params.n_ctx_orig, r->params.base, r->scale, 0,
                           r->magnitude, 32, 1);
}

struct ggml_tensor *
graph_rope_at(struct graph *g, const struct model_rope *rope,
              struct ggml_tensor *x, struct ggml_tensor *positions)
{
    const struct model_rope *r = rope;
    struct ggml_tensor *divisors;
    int32_t n_ctx;

    /* Packed rows are as a session of the model's own context. */
    n_ctx = g->packing.n_rows > 0 ? g->model->hp.n_ctx_train : g->cache->n_ctx;
    divisors = r->divisors;
    if (r->divisors_long && n_ctx > r->params.n_ctx_orig)
        divisors = r->divisors_long;
    if (g->turned && r->params.section_mode != 0)
        return turn_by_sections(g, r, x, positions, divisors);
    if (g->turned) /* a drafter's turn by time alone */
        positions = ggml_view_1d(g->ctx, positions, x->ne[2], 0);
    return ggml_rope_ext(g->ctx, x, positions, divisors, r->params.n_rot,
                         r->params.mode, r->params.n_ctx_orig, r->params.base,
                         r->scale, 0, r->magnitude, 32, 1);
}

struct ggml_tensor *
graph_rope_by(struct graph *g, const struct model_rope *rope,
              struct ggml_tensor *x)
{
    return graph_rope_at(g, rope, x, g->positions);
}

struct ggml_tensor *
graph_rope(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_rope *r = g->model->layers[layer].rope;

    return r ? graph_rope_by(g, r, x) : x;
}

float
graph_attention_scale(const struct model *m, int32_t layer)
{
    const struct model_rope *rope = m->layers[layer].rope;
    const struct model_latent *latent = graph_latent_of(&m->hp, layer);
    float scale = m->hp.attn_scale != 0
                      ? m->hp.attn_scale
                      : 1 / sqrtf((float)m->hp.layers[layer].d_key);

    if (latent == &m->hp.latent_local)
        scale = 1 / sqrtf((float)latent->d_key);

    return rope ? scale * rope->attention : scale;
}

struct ggml_tensor *
graph_project_back(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    return graph_linear(g, graph_wanted(g, layer, cur),
                        &g->model->layers[layer].attn_output);
}

struct ggml_tensor *
graph_temper(struct graph *g, struct ggml_tensor *q)
{
    struct ggml_tensor *t = g->temperature;

    if (g->model->hp.temperature_scale == 0) /* a drafter, of one with it */
        return q;
    return t ? ggml_mul(g->ctx, q,
                        ggml_reshape_3d(g->ctx, t, 1, 1, g->n_tokens))
             : q;
}

struct ggml_tensor *
graph_wanted(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    if (layer == g->last && g->rows)
        return ggml_get_rows(g->ctx, x, g->rows);
    return x;
}
