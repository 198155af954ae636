/* gated_delta.c - the gated delta rule (Yang et al. 2024) as Qwen has it
 *
 * q, k, v = silu(conv(qkv c)), q and k of length 1; S = exp(g) S; S = S + beta
 * (v - S k) k^T; norm(S q) * gate(z c) projected back; with g = a
 * softplus(alpha c + dt), beta = sigmoid(beta c), and a SiLU or a sigmoid for a
 * gate. */
#include "graph/arch.h"

/* ---- tensors ------------------------------------------------------------ */

/* Decays and strengths in one matrix, as Qwen3-Next has them, or in two. */
static void
find_delta_gates(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, n = l->model->hp.ssm.n_head;

    layer->ssm_beta_alpha =
        graph_find_linear_or_none(l, ".ssm_ba", e, 2 * n, MODEL_OPTIONAL);
    if (layer->ssm_beta_alpha.weight)
        return;
    layer->ssm_beta = graph_find_linear(l, ".ssm_beta", e, n, MODEL_OPTIONAL);
    layer->ssm_alpha = graph_find_linear(l, ".ssm_alpha", e, n, MODEL_OPTIONAL);
}

void
graph_find_gated_delta(struct model_loader *l, struct model_layer *layer)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t e = l->model->hp.n_embd;

    if (graph_peek(l, ".attn_qkv")) {
        layer->attn_qkv = graph_find_linear(l, ".attn_qkv", e,
                                            l->hp->n_channels, MODEL_OPTIONAL);
        layer->attn_gate =
            graph_find_linear(l, ".attn_gate", e, s->d_inner, MODEL_OPTIONAL);
        graph_pass_over(l, ".ssm_in");
    } else {
        layer->ssm_in = graph_find_linear(
            l, ".ssm_in", e, l->hp->n_channels + s->d_inner, MODEL_OPTIONAL);
    }
    graph_find_short_conv(l, layer, ".ssm_conv1d", MODEL_OPTIONAL);
    layer->ssm_dt = graph_find_bias(l, ".ssm_dt", s->n_head, MODEL_REQUIRED);
    layer->ssm_a = graph_find_numbers(l, ".ssm_a", s->n_head, 1, true);
    layer->ssm_norm =
        graph_find_norm(l, ".ssm_norm", s->d_inner / s->n_head, MODEL_OPTIONAL);
    graph_find_ssm_out(l, layer);
    find_delta_gates(l, layer);
}

/* ---- graph --------------------------------------------------------------- */

/* Queries or keys, each repeated for the heads of its group where these are
 * neighbours; ggml_gated_delta_net() goes around the others. */
static struct ggml_tensor *
spread_keys(struct graph *g, struct ggml_tensor *x)
{
    const struct model_ssm *s = &g->model->hp.ssm;
    int64_t each = s->n_head / s->n_group;

    x = graph_unit(g, x);
    if (!s->neighbours || each == 1)
        return x;
    x = ggml_reshape_4d(g->ctx, x, s->d_state, 1, s->n_group, g->n_tokens);
    x = ggml_repeat_4d(g->ctx, x, s->d_state, each, s->n_group, g->n_tokens);
    return ggml_reshape_3d(g->ctx, x, s->d_state, s->n_head, g->n_tokens);
}

/* n heads of the convolution's columns, from channel `at` on. */
static struct ggml_tensor *
columns_as_heads(struct graph *g, struct ggml_tensor *x, int32_t d, int32_t n,
                 int64_t at)
{
    return ggml_view_3d(g->ctx, x, d, n, g->n_tokens, (size_t)d * x->nb[0],
                        x->nb[1], (size_t)at * x->nb[0]);
}

/* Rows first .. first + n - 1 of each group of x. */
static struct ggml_tensor *
group_rows(struct graph *g, struct ggml_tensor *x, int64_t first, int64_t n)
{
    int64_t groups = g->model->hp.ssm.n_group;
    size_t row = x->nb[0];
    struct ggml_tensor *v = ggml_view_3d(g->ctx, x, n, groups, g->n_tokens,
                                         (size_t)(x->ne[0] / groups) * row,
                                         x->nb[1], (size_t)first * row);

    return ggml_cont_2d(g->ctx, v, n * groups, g->n_tokens);
}

/* The convolution's input, and z: by two matrices, or by one in which they
 * stand group by group, as early files of Qwen3-Next have it. */
static struct ggml_tensor *
project_delta(struct graph *g, const struct model_layer *l,
              struct ggml_tensor *cur, struct ggml_tensor **z)
{
    const struct model_ssm *s = &g->model->hp.ssm;
    int64_t d = s->d_state, values = s->d_inner / s->n_group;
    struct ggml_tensor *q, *k, *v;

    if (!l->ssm_in.weight) {
        *z = graph_linear(g, cur, &l->attn_gate);
        return graph_linear(g, cur, &l->attn_qkv);
    }
    cur = graph_linear(g, cur, &l->ssm_in);
    q = group_rows(g, cur, 0, d);
    k = group_rows(g, cur, d, d);
    v = group_rows(g, cur, 2 * d, values);
    *z = group_rows(g, cur, 2 * d + values, values);
    return ggml_concat(g->ctx, ggml_concat(g->ctx, q, k, 0), v, 0);
}

static void
delta_gates(struct graph *g, const struct model_layer *l,
            struct ggml_tensor *cur, struct graph_delta *d)
{
    int32_t each = g->model->hp.ssm.n_head / g->model->hp.ssm.n_group;
    struct ggml_tensor *alpha, *beta;

    if (l->ssm_beta_alpha.weight) {
        cur = graph_linear(g, cur, &l->ssm_beta_alpha);
        beta = group_rows(g, cur, 0, each);
        alpha = group_rows(g, cur, each, each);
    } else {
        beta = graph_linear(g, cur, &l->ssm_beta);
        alpha = graph_linear(g, cur, &l->ssm_alpha);
    }
    alpha = ggml_softplus(g->ctx, ggml_add(g->ctx, alpha, l->ssm_dt));
    d->gate = ggml_mul(g->ctx, alpha, l->ssm_a);
    d->beta = ggml_sigmoid(g->ctx, beta);
}

struct ggml_tensor *
graph_gated_delta(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_ssm *s = &g->model->hp.ssm;
    int32_t d_value = s->d_inner / s->n_head, keys = s->d_state * s->n_group;
    struct ggml_tensor *z, *x = project_delta(g, l, cur, &z);
    struct graph_delta d;

    x = ggml_silu(g->ctx, graph_short_conv(g, layer, x));
    d.q = spread_keys(g, columns_as_heads(g, x, s->d_state, s->n_group, 0));
    d.k = spread_keys(g, columns_as_heads(g, x, s->d_state, s->n_group, keys));
    d.v = columns_as_heads(g, x, d_value, s->n_head, 2 * keys);
    delta_gates(g, l, cur, &d);
    x = graph_wanted(g, layer, graph_delta_net(g, layer, &d));
    z = graph_wanted(g, layer, z);
    z = s->sigmoid_gate ? ggml_sigmoid(g->ctx, z) : ggml_silu(g->ctx, z);
    x = ggml_reshape_3d(g->ctx, x, d_value, s->n_head, x->ne[1]);
    x = graph_norm(g, x, &l->ssm_norm);
    x = ggml_mul(g->ctx, ggml_reshape_2d(g->ctx, x, s->d_inner, z->ne[1]), z);
    return graph_linear(g, x, &l->ssm_out);
}
