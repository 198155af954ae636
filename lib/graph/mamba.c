/* mamba.c - Mamba 1 and 2: selective state spaces in attention's place (Gu and
 * Dao 2023, Dao and Gu 2024)
 *
 * Mamba 1, each channel with a state of its own:
 * x, z = in(c); x = silu(conv(x)); dt, B, C = x_proj(x), maybe normed
 * dt = softplus(dt_proj(dt) + b); S = exp(dt A) S + dt x B; y = S C + D x
 * out(y silu(z))
 *
 * Mamba 2, heads of channels, one rate of decay a head, B and C a group:
 * z, xBC, dt = in(c); x, B, C = silu(conv(xBC)); dt = softplus(dt + b)
 * S and y as above; out(norm(y silu(z))), each group normed alone
 *
 * PLaMo 2: families/plamo.c
 *
 * Files hold A < 0. */
#include "graph/loader.h"
#include "graph/recurrence.h"

/* ---- tensors ------------------------------------------------------------ */

void
graph_find_mamba(struct model_loader *l, struct model_layer *layer,
                 enum model_need norms)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t e = l->model->hp.n_embd, n = s->d_inner, d = s->d_state;
    int64_t rank = s->d_rank;

    layer->ssm_in = graph_find_linear(l, ".ssm_in", e, 2 * n, MODEL_OPTIONAL);
    graph_find_short_conv(l, layer, ".ssm_conv1d", MODEL_OPTIONAL);
    layer->ssm_x =
        graph_find_linear(l, ".ssm_x", n, rank + 2 * d, MODEL_OPTIONAL);
    layer->ssm_step = graph_find_linear(l, ".ssm_dt", rank, n, MODEL_REQUIRED);
    layer->ssm_a = graph_find_numbers(l, ".ssm_a", d, n, true);
    layer->ssm_d = graph_find_numbers(l, ".ssm_d", n, 1, true);
    if (norms == MODEL_REQUIRED) {
        layer->ssm_dt_norm.weight =
            graph_find_vector(l, ".ssm_dt_norm", rank, norms);
        layer->ssm_b_norm.weight =
            graph_find_vector(l, ".ssm_b_norm", d, norms);
        layer->ssm_c_norm.weight =
            graph_find_vector(l, ".ssm_c_norm", d, norms);
    }
    graph_find_ssm_out(l, layer);
}

void
graph_find_mamba2(struct model_loader *l, struct model_layer *layer,
                  enum model_need norm)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t n = s->d_inner + l->hp->n_channels + s->n_head;

    layer->ssm_in =
        graph_find_linear(l, ".ssm_in", l->model->hp.n_embd, n, MODEL_OPTIONAL);
    graph_find_short_conv(l, layer, ".ssm_conv1d", MODEL_OPTIONAL);
    layer->ssm_dt = graph_find_bias(l, ".ssm_dt", s->n_head, MODEL_REQUIRED);
    layer->ssm_a = graph_find_numbers(l, ".ssm_a", 1, s->n_head, true);
    layer->ssm_d = graph_find_numbers(l, ".ssm_d", 1, s->n_head, true);
    if (norm == MODEL_REQUIRED || graph_peek(l, ".ssm_norm"))
        layer->ssm_norm.weight = graph_find_numbers(
            l, ".ssm_norm.weight", s->d_inner / s->n_group, s->n_group, true);
    graph_find_ssm_out(l, layer);
}

/* ---- graph -------------------------------------------------------------- */

/* n rows of x from row `at` on. */
static struct ggml_tensor *
rows(struct graph *g, struct ggml_tensor *x, int64_t at, int64_t n)
{
    return ggml_view_2d(g->ctx, x, n, x->ne[1], x->nb[1],
                        (size_t)at * x->nb[0]);
}

/* n heads of d rows each, from row `at` of x on. */
static struct ggml_tensor *
heads(struct graph *g, struct ggml_tensor *x, int64_t at, int64_t d, int64_t n)
{
    return ggml_view_3d(g->ctx, x, d, n, x->ne[1], (size_t)d * x->nb[0],
                        x->nb[1], (size_t)at * x->nb[0]);
}

/* One half of each head's rows of x, from row `at` on. */
static struct ggml_tensor *
half_heads(struct graph *g, struct ggml_tensor *x, int64_t at)
{
    return ggml_view_3d(g->ctx, x, x->ne[0] / 2, x->ne[1], x->ne[2], x->nb[1],
                        x->nb[2], (size_t)at * x->nb[0]);
}

/* y silu(z); of the last layer the wanted rows. */
static struct ggml_tensor *
gate(struct graph *g, int32_t layer, struct ggml_tensor *y,
     struct ggml_tensor *z)
{
    return ggml_swiglu_split(g->ctx, graph_wanted(g, layer, z),
                             graph_wanted(g, layer, y));
}

/* dt, B or C, normed where the model does it: by a norm of the file, or, of
 * Falcon Mamba, by one without weights. */
static struct ggml_tensor *
norm_part(struct graph *g, struct ggml_tensor *x, const struct model_norm *norm)
{
    float eps = g->model->hp.ssm.parts_eps;

    if (norm->weight)
        return graph_norm(g, x, norm);
    return eps > 0 ? ggml_rms_norm(g->ctx, x, eps) : x;
}

struct ggml_tensor *
graph_mamba(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_ssm *s = &g->model->hp.ssm;
    int64_t n = s->d_inner, d = s->d_state, rank = s->d_rank;
    struct ggml_tensor *x, *z, *parts;
    struct graph_scan p;

    cur = graph_linear(g, cur, &l->ssm_in);
    z = rows(g, cur, n, n);
    x = graph_short_conv(g, layer, rows(g, cur, 0, n));
    x = ggml_silu(g->ctx, x);
    parts = graph_linear(g, x, &l->ssm_x);
    p.dt = norm_part(g, rows(g, parts, 0, rank), &l->ssm_dt_norm);
    p.dt = graph_linear(g, p.dt, &l->ssm_step);
    p.b = norm_part(g, heads(g, parts, rank, d, 1), &l->ssm_b_norm);
    p.c = norm_part(g, heads(g, parts, rank + d, d, 1), &l->ssm_c_norm);
    p.x = heads(g, x, 0, 1, n);
    cur = graph_scan(g, layer, &p);
    cur = ggml_add(g->ctx, cur, ggml_mul(g->ctx, x, l->ssm_d));
    return graph_linear(g, gate(g, layer, cur, z), &l->ssm_out);
}

/* Each group of x normed alone. */
static struct ggml_tensor *
norm_groups(struct graph *g, const struct model_layer *l, struct ggml_tensor *x)
{
    int64_t n = x->ne[0], groups = g->model->hp.ssm.n_group;

    if (!l->ssm_norm.weight)
        return x;
    x = ggml_reshape_3d(g->ctx, x, n / groups, groups, x->ne[1]);
    x = graph_norm(g, x, &l->ssm_norm);
    return ggml_reshape_2d(g->ctx, x, n, x->ne[2]);
}

struct ggml_tensor *
graph_mamba2(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_ssm *s = &g->model->hp.ssm;
    int64_t n = s->d_inner, d = n / s->n_head, keys = s->d_state * s->n_group;
    struct ggml_tensor *x, *z;
    struct graph_scan p;

    cur = graph_linear(g, cur, &l->ssm_in);
    z = rows(g, cur, 0, n);
    x = graph_short_conv(g, layer, rows(g, cur, n, n + 2 * keys));
    x = ggml_silu(g->ctx, x);
    p.dt = rows(g, cur, 2 * (n + keys), s->n_head);
    p.dt = ggml_add(g->ctx, p.dt, l->ssm_dt);
    p.b = heads(g, x, n, s->d_state, s->n_group);
    p.c = heads(g, x, n + keys, s->d_state, s->n_group);
    p.x = heads(g, x, 0, d, s->n_head);
    cur = graph_scan(g, layer, &p);
    x = ggml_mul(g->ctx, p.x, l->ssm_d);
    cur = ggml_add(g->ctx, cur, ggml_reshape_2d(g->ctx, x, n, x->ne[2]));
    cur = norm_groups(g, l, gate(g, layer, cur, z));
    return graph_linear(g, cur, &l->ssm_out);
}

struct ggml_tensor *
graph_mamba_heads(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_ssm *s = &g->model->hp.ssm;
    int64_t n = s->d_inner, head = n / s->n_head, d = s->d_state;
    struct ggml_tensor *x, *z, *parts;
    struct graph_scan p;

    cur = graph_linear(g, cur, &l->ssm_in);
    cur = ggml_reshape_3d(g->ctx, cur, 2 * head, s->n_head, cur->ne[1]);
    z = ggml_cont_2d(g->ctx, half_heads(g, cur, 0), n, cur->ne[2]);
    x = ggml_cont_2d(g->ctx, half_heads(g, cur, head), n, cur->ne[2]);
    x = ggml_silu(g->ctx, graph_short_conv(g, layer, x));
    parts = graph_linear(g, x, &l->ssm_x);
    p.b = norm_part(g, heads(g, parts, 0, d, 1), &l->ssm_b_norm);
    p.c = norm_part(g, heads(g, parts, d, d, 1), &l->ssm_c_norm);
    p.dt = norm_part(g, rows(g, parts, 2 * d, s->d_rank), &l->ssm_dt_norm);
    p.dt = graph_linear(g, p.dt, &l->ssm_step);
    p.x = heads(g, x, 0, head, s->n_head);
    cur = graph_scan(g, layer, &p);
    x = ggml_mul(g->ctx, p.x, ggml_reshape_2d(g->ctx, l->ssm_d, 1, s->n_head));
    cur = ggml_add(g->ctx, cur, ggml_reshape_2d(g->ctx, x, n, x->ne[2]));
    return graph_linear(g, gate(g, layer, cur, z), &l->ssm_out);
}
