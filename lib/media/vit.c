/* vit.c - layers of a vision transformer (Dosovitskiy et al. 2021), without a
 * mask */
#include "media/graph.h"

#include <math.h>

#include "core/mem.h"

/* ---- inputs -------------------------------------------------------------- */

struct ggml_tensor *
media_input(struct media_graph *m, enum ggml_type type, int64_t n0, int64_t n1,
            void *data)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(m->g.ctx, type, n0, n1);
    struct media_input *in = &m->inputs[m->n_inputs++];

    ggml_format_name(t, "input.%d", (int)m->n_inputs);
    ggml_set_input(t);
    *in = (struct media_input){ t, mem_zalloc(ggml_nbytes(t)) };
    m->failed = m->failed || !in->data;
    *(void **)data = in->data;
    return t;
}

void
media_order_squares(struct media_graph *m, int32_t merge)
{
    int32_t wide = m->nx / merge;

    for (int32_t i = 0; i < m->n; i++) {
        int32_t square = i / (merge * merge), at = i % (merge * merge);
        int32_t x = square % wide * merge + at % merge;
        int32_t y = square / wide * merge + at / merge;

        m->order[i] = y * m->nx + x;
    }
}

/* ---- places -------------------------------------------------------------- */

/* Gives the x or the y of each patch. */
static struct ggml_tensor *
places(struct media_graph *m, bool x)
{
    int32_t *to;
    struct ggml_tensor *t = media_input(m, GGML_TYPE_I32, m->n, 1, &to);

    for (int32_t i = 0; i < m->n && to; i++)
        to[i] = x ? m->order[i] % m->nx : m->order[i] / m->nx;
    return ggml_reshape_1d(m->g.ctx, t, m->n);
}

static struct ggml_tensor *
section_places(struct media_graph *m)
{
    int32_t *to;
    struct ggml_tensor *t =
        media_input(m, GGML_TYPE_I32, GGML_MROPE_SECTIONS * m->n, 1, &to);

    for (int32_t i = 0; i < m->n && to; i++) {
        to[i] = to[2 * m->n + i] = m->order[i] / m->nx;
        to[m->n + i] = to[3 * m->n + i] = m->order[i] % m->nx;
    }
    return ggml_reshape_1d(m->g.ctx, t, GGML_MROPE_SECTIONS * m->n);
}

struct ggml_tensor *
media_turn_sections(struct media_graph *m, struct ggml_tensor *x)
{
    int quarter = (int)x->ne[0] / 4;
    int sections[GGML_MROPE_SECTIONS] = { quarter, quarter, quarter, quarter };

    if (!m->at_sections)
        m->at_sections = section_places(m);
    return ggml_rope_multi(m->g.ctx, x, m->at_sections, NULL, 2 * quarter,
                           sections, GGML_ROPE_TYPE_VISION, 0, 10000, 1, 0, 1,
                           0, 0);
}

struct ggml_tensor *
media_turn_halves(struct media_graph *m, struct ggml_tensor *x,
                  const struct media_halves *h)
{
    int half = (int)x->ne[0] / 2;
    float step = h->turns ? powf(h->base, -1.0f / (float)half) : 1;

    if (!m->at_x) {
        m->at_x = places(m, true);
        m->at_y = places(m, false);
    }
    x = ggml_rope_ext(m->g.ctx, x, h->x_first ? m->at_x : m->at_y, NULL, half,
                      h->mode, 0, h->base, 1, 0, 1, 0, 0);
    x = ggml_rope_ext(m->g.ctx, x, h->x_first ? m->at_y : m->at_x, NULL, half,
                      h->mode, 0, h->base, step, 0, 1, 0, 0);
    return ggml_rope_set_offset(x, half);
}

/* ---- attention ----------------------------------------------------------- */

static float
attention_scale(const struct media_graph *m, int64_t d)
{
    float scale = m->e->model->hp.attn_scale;

    return scale != 0 ? scale : 1 / sqrtf((float)d);
}

struct ggml_tensor *
media_attend(struct media_graph *m, struct ggml_tensor *q,
             struct ggml_tensor *k, struct ggml_tensor *v)
{
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *r = ggml_flash_attn_ext(
        ctx, ggml_permute(ctx, q, 0, 2, 1, 3), ggml_permute(ctx, k, 0, 2, 1, 3),
        ggml_permute(ctx, v, 0, 2, 1, 3), NULL, attention_scale(m, q->ne[0]), 0,
        0);

    ggml_flash_attn_ext_set_prec(r, GGML_PREC_F32);
    return ggml_reshape_2d(ctx, r, r->ne[0] * r->ne[1], r->ne[2] * r->ne[3]);
}

/* Heads of n windows as n batches. */
static struct ggml_tensor *
batches(struct media_graph *m, struct ggml_tensor *x,
        const struct media_windows *w, size_t first)
{
    return ggml_view_4d(m->g.ctx, x, x->ne[0], x->ne[1], w->size, w->n,
                        x->nb[1], x->nb[2], x->nb[2] * (size_t)w->size,
                        x->nb[2] * first);
}

struct ggml_tensor *
media_attend_windows(struct media_graph *m, int32_t layer,
                     const struct graph_heads *h)
{
    struct ggml_tensor *all = NULL, *r;
    size_t first = 0;

    (void)layer;
    for (int i = 0; i < MEDIA_WINDOW_KINDS; i++) {
        const struct media_windows *w = &m->windows[i];

        if (w->n == 0)
            continue;
        r = media_attend(m, batches(m, h->q, w, first),
                         batches(m, h->k, w, first),
                         batches(m, h->v, w, first));
        all = all ? ggml_concat(m->g.ctx, all, r, 1) : r;
        first += (size_t)w->n * (size_t)w->size;
    }
    return all;
}

static struct ggml_tensor *
self_attention(struct media_graph *m, int32_t layer, struct ggml_tensor *x,
               const struct media_vit *vit)
{
    const struct model_layer *l = &m->e->model->layers[layer];
    struct graph_heads h = graph_project(&m->g, layer, x);

    h.q = graph_norm_heads(&m->g, h.q, &l->attn_q_norm);
    h.k = graph_norm_heads(&m->g, h.k, &l->attn_k_norm);
    if (m->e->model->hp.values_normed)
        h.v = ggml_rms_norm(m->g.ctx, h.v, m->e->model->hp.eps);
    if (vit->turn) {
        h.q = vit->turn(m, h.q);
        h.k = vit->turn(m, h.k);
    }
    x = vit->attend ? vit->attend(m, layer, &h)
                    : media_attend(m, h.q, h.k, h.v);
    return graph_linear(&m->g, x, &l->attn_output);
}

/* ---- layers -------------------------------------------------------------- */

static struct ggml_tensor *
scaled(struct media_graph *m, struct ggml_tensor *x, struct ggml_tensor *scale)
{
    return scale ? ggml_mul(m->g.ctx, x, scale) : x;
}

static struct ggml_tensor *
block(struct media_graph *m, int32_t layer, struct ggml_tensor *x,
      const struct media_vit *vit)
{
    const struct model_layer *l = &m->e->model->layers[layer];
    const struct media_layer *own = &m->e->layers[layer];
    struct graph *g = &m->g;
    struct ggml_tensor *cur;

    cur = self_attention(m, layer, graph_norm(g, x, &l->attn_norm), vit);
    cur = graph_norm(g, scaled(m, cur, own->attn_scale), &l->attn_post_norm);
    x = ggml_add(g->ctx, x, cur);
    cur = graph_feed_forward(g, l, graph_norm(g, x, &l->ffn_norm));
    cur = graph_norm(g, scaled(m, cur, own->ffn_scale), &l->ffn_post_norm);
    return ggml_add(g->ctx, x, cur);
}

struct ggml_tensor *
media_vit(struct media_graph *m, struct ggml_tensor *x,
          const struct media_vit *vit)
{
    int32_t n = vit->n_layer ? vit->n_layer : m->e->model->hp.n_layer;

    m->g.n_tokens = (int32_t)x->ne[1];
    for (int32_t i = vit->first; i < n; i++) {
        x = block(m, i, x, vit);
        if (vit->after)
            vit->after(m, i, x);
    }
    return x;
}

/* ---- after them ---------------------------------------------------------- */

struct ggml_tensor *
media_join(struct media_graph *m, struct ggml_tensor *x, int32_t merge)
{
    int64_t n = (int64_t)merge * merge;

    return ggml_reshape_2d(m->g.ctx, x, x->ne[0] * n, x->ne[1] / n);
}

/* n_embd x squares x patches of each, with the last first. */
static struct ggml_tensor *
by_value(struct media_graph *m, struct ggml_tensor *x, int32_t merge)
{
    int64_t n = (int64_t)merge * merge;

    x = ggml_reshape_3d(m->g.ctx, x, x->ne[0], n, x->ne[1] / n);
    return ggml_cont(m->g.ctx, ggml_permute(m->g.ctx, x, 1, 0, 2, 3));
}

struct ggml_tensor *
media_join_by_value(struct media_graph *m, struct ggml_tensor *x, int32_t merge)
{
    x = by_value(m, x, merge);
    return ggml_reshape_2d(m->g.ctx, x, x->ne[0] * x->ne[1], x->ne[2]);
}

struct ggml_tensor *
media_average(struct media_graph *m, struct ggml_tensor *x, int32_t merge)
{
    x = ggml_mean(m->g.ctx, by_value(m, x, merge));
    return ggml_reshape_2d(m->g.ctx, x, x->ne[1], x->ne[2]);
}

struct ggml_tensor *
media_layer_norm(struct media_graph *m, struct ggml_tensor *x,
                 const struct model_norm *norm)
{
    return graph_scale_norm(&m->g, ggml_norm(m->g.ctx, x, 1e-5f), norm);
}

struct ggml_tensor *
media_mlp(struct media_graph *m, struct ggml_tensor *x,
          const struct model_linear *up, const struct model_linear *down,
          enum model_activation act)
{
    x = graph_activate(&m->g, graph_linear(&m->g, x, up), act);
    return graph_linear(&m->g, x, down);
}

struct ggml_tensor *
media_pick(struct media_graph *m, struct ggml_tensor *x, int64_t n,
           int32_t **rows)
{
    struct ggml_tensor *ids = media_input(m, GGML_TYPE_I32, n, 1, rows);

    return ggml_get_rows(m->g.ctx, x, ggml_reshape_1d(m->g.ctx, ids, n));
}
