/* delta_attention.c - Kimi's delta attention (Kimi Team 2025): a gated delta
 * rule that each value of a key has a decay of its own in
 *
 * q, k, v = silu(conv(Q c)), silu(conv(K c)), silu(conv(V c)), q and k of
 * length 1; S = exp(g) S, a decay for each value of a key; S = S + beta (v - S
 * k) k^T; norm(S q) * sigmoid(G c) projected back
 *
 * beta = sigmoid(B c); g = -a softplus(F c + dt) or floor * sigmoid(a (F c +
 * dt)), with a rate a > 0 of each head. F and G are one matrix each or two of
 * low rank. */
#include <stdio.h>

#include "graph/arch.h"

/* ---- tensors ------------------------------------------------------------ */

/* The model has no biases there, though some programs write them. */
static struct model_linear
find_unbiased(struct model_loader *l, const char *name, int64_t n_in,
              int64_t n_out)
{
    struct model_linear r =
        graph_find_linear(l, name, n_in, n_out, MODEL_OPTIONAL);

    r.bias = NULL;
    return r;
}

static void
find_convolved(struct model_loader *l, struct model_layer *layer)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t e = l->model->hp.n_embd, n = s->d_inner, d = s->d_conv;

    layer->attn_q = find_unbiased(l, ".attn_q", e, n);
    layer->attn_k = find_unbiased(l, ".attn_k", e, n);
    layer->attn_v = find_unbiased(l, ".attn_v", e, n);
    layer->conv_q = graph_find_kernel(l, ".ssm_conv1d_q", d, n);
    layer->conv_k = graph_find_kernel(l, ".ssm_conv1d_k", d, n);
    layer->conv_v = graph_find_kernel(l, ".ssm_conv1d_v", d, n);
}

/* Two matrices, through heads' length, where the file has the second; else one.
 */
static void
find_low_rank(struct model_loader *l, const char *first, const char *second,
              struct model_linear *a, struct model_linear *b)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t e = l->model->hp.n_embd, n = s->d_inner, d = s->d_state;

    *b = graph_find_linear_or_none(l, second, d, n, MODEL_OPTIONAL);
    *a = graph_find_linear(l, first, e, b->weight ? d : n, MODEL_OPTIONAL);
}

/* One a head: a column, or, as some converters write it, a row. */
static struct ggml_tensor *
find_rates(struct model_loader *l)
{
    int64_t n = l->model->hp.ssm.n_head;
    char name[32];
    const struct gguf_tensor *t;

    snprintf(name, sizeof(name), "blk.%d.ssm_a", (int)l->layer);
    t = gguf_tensor_named(l->gguf, name);
    return t && t->ne[0] == n ? graph_find_numbers(l, ".ssm_a", n, 1, true)
                              : graph_find_numbers(l, ".ssm_a", 1, n, true);
}

void
graph_find_delta_attention(struct model_loader *l, struct model_layer *layer)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t e = l->model->hp.n_embd, n = s->d_inner;
    enum model_need bias = MODEL_OPTIONAL;

    find_convolved(l, layer);
    find_low_rank(l, ".ssm_f_a", ".ssm_f_b", &layer->ssm_f_a, &layer->ssm_f_b);
    if (graph_peek(l, ".ssm_g"))
        layer->ssm_g_a = graph_find_linear(l, ".ssm_g", e, n, bias);
    else
        find_low_rank(l, ".ssm_g_a", ".ssm_g_b", &layer->ssm_g_a,
                      &layer->ssm_g_b);
    layer->ssm_beta = graph_find_linear(l, ".ssm_beta", e, s->n_head, bias);
    layer->ssm_a = find_rates(l);
    layer->ssm_dt = graph_find_bias(l, ".ssm_dt", n, MODEL_REQUIRED);
    layer->ssm_norm = graph_find_norm(l, ".ssm_norm", s->d_state, bias);
    layer->attn_output = graph_find_linear(l, ".attn_output", n, e, bias);
}

/* ---- graphs ------------------------------------------------------------- */

/* silu(conv(projected)), the n-th third of what is convolved: heads. */
static struct ggml_tensor *
convolved(struct graph *g, int32_t layer, struct ggml_tensor *cur,
          const struct model_linear *linear, struct ggml_tensor *weight, int n)
{
    const struct model_ssm *s = &g->model->hp.ssm;

    cur = graph_linear(g, cur, linear);
    weight = ggml_reshape_2d(g->ctx, weight, s->d_conv, s->d_inner);
    cur = graph_short_conv_part(g, layer, cur, weight, (int64_t)n * s->d_inner);
    return graph_heads(g, ggml_silu(g->ctx, cur), s->d_state, s->n_head);
}

/* b a x, or, without b, a x */
static struct ggml_tensor *
through(struct graph *g, struct ggml_tensor *x, const struct model_linear *a,
        const struct model_linear *b)
{
    x = graph_linear(g, x, a);
    return b->weight ? graph_linear(g, x, b) : x;
}

/* Logarithms of decays: d_state x n_head x n_tokens */
static struct ggml_tensor *
decays(struct graph *g, const struct model_layer *l, struct ggml_tensor *cur)
{
    const struct model_ssm *s = &g->model->hp.ssm;
    struct ggml_tensor *a = l->ssm_a;

    if (a->ne[0] != 1)
        a = ggml_reshape_2d(g->ctx, a, 1, s->n_head);
    cur = through(g, cur, &l->ssm_f_a, &l->ssm_f_b);
    cur = ggml_add(g->ctx, cur, l->ssm_dt);
    if (s->floor == 0)
        cur = ggml_softplus(g->ctx, cur);
    cur = ggml_mul(g->ctx, graph_heads(g, cur, s->d_state, s->n_head), a);
    if (s->floor == 0)
        return cur;
    if (!s->positive)
        cur = ggml_neg(g->ctx, cur);
    return ggml_scale(g->ctx, ggml_sigmoid(g->ctx, cur), s->floor);
}

struct ggml_tensor *
graph_delta_attention(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_ssm *s = &g->model->hp.ssm;
    struct graph_delta d;
    struct ggml_tensor *x;

    d.q = convolved(g, layer, cur, &l->attn_q, l->conv_q, 0);
    d.k = convolved(g, layer, cur, &l->attn_k, l->conv_k, 1);
    d.v = convolved(g, layer, cur, &l->attn_v, l->conv_v, 2);
    d.q = graph_unit(g, d.q);
    d.k = graph_unit(g, d.k);
    d.gate = decays(g, l, cur);
    d.beta = ggml_sigmoid(g->ctx, graph_linear(g, cur, &l->ssm_beta));
    x = graph_wanted(g, layer, graph_delta_net(g, layer, &d));
    cur = through(g, graph_wanted(g, layer, cur), &l->ssm_g_a, &l->ssm_g_b);
    cur = ggml_sigmoid(g->ctx, cur);
    x = ggml_reshape_3d(g->ctx, x, s->d_state, s->n_head, x->ne[1]);
    x = graph_norm(g, x, &l->ssm_norm);
    x = ggml_mul(g->ctx, ggml_reshape_2d(g->ctx, x, s->d_inner, cur->ne[1]),
                 cur);
    return graph_linear(g, x, &l->attn_output);
}
