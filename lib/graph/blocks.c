/* blocks.c - attention and feed-forward blocks that families share */
#include "graph/arch.h"

#include <assert.h>
#include <math.h>

/* ---- attention ---------------------------------------------------------- */

/* Part of a product whose rows hold queries, keys and values side by side:
 * n heads of length d from value *at on, which moves past them. */
static struct ggml_tensor *
part(struct graph *g, struct ggml_tensor *qkv, int32_t d, int32_t n, size_t *at)
{
    size_t head = (size_t)d * qkv->nb[0];
    struct ggml_tensor *t = ggml_view_3d(g->ctx, qkv, d, n, g->n_tokens, head,
                                         qkv->nb[1], *at * qkv->nb[0]);

    *at += (size_t)d * (size_t)n;
    return t;
}

static struct ggml_tensor *
clamp(struct graph *g, struct ggml_tensor *x)
{
    float c = g->model->hp.qkv_clamp;

    return c > 0 ? ggml_clamp(g->ctx, x, -c, c) : x;
}

static struct graph_heads
project_fused(struct graph *g, const struct model_layer *l,
              struct ggml_tensor *cur)
{
    const struct model_layer_hparams *hp = l->hp;
    struct graph_heads h = { 0 };
    size_t at = 0;

    cur = clamp(g, graph_linear(g, cur, &l->attn_qkv));
    h.q = part(g, cur, hp->d_key, hp->n_head, &at);
    h.k = part(g, cur, hp->d_key, hp->n_head_kv, &at);
    h.v = part(g, cur, hp->d_value, hp->n_head_kv, &at);
    return h;
}

/* One after the other is recorded at once: the same input, read once. */
static struct ggml_tensor *
project_one(struct graph *g, const struct model_linear *linear,
            struct ggml_tensor *cur)
{
    struct ggml_tensor *x;

    if (!linear->weight)
        return NULL;
    x = clamp(g, graph_linear(g, cur, linear));
    ggml_build_forward_expand(g->cgraph, x);
    return x;
}

/* Of each head first the query, then its gate. */
static void
split_gates(struct graph *g, const struct model_layer_hparams *hp,
            struct graph_heads *h)
{
    struct ggml_tensor *x = h->q;
    size_t half = (size_t)hp->d_key * x->nb[0];

    h->q = ggml_view_3d(g->ctx, x, hp->d_key, hp->n_head, g->n_tokens, 2 * half,
                        x->nb[1], 0);
    h->gate = ggml_view_3d(g->ctx, x, hp->d_key, hp->n_head, g->n_tokens,
                           2 * half, x->nb[1], half);
}

/* Keys and values of matrices of their own. */
static void
project_keys(struct graph *g, const struct model_layer *l,
             struct ggml_tensor *cur, struct graph_heads *h)
{
    const struct model_layer_hparams *hp = l->hp;

    h->k = project_one(g, &l->attn_k, cur);
    h->v = project_one(g, &l->attn_v, cur);
    if (h->k)
        h->k = graph_heads(g, h->k, hp->d_key, hp->n_head_kv);
    h->v = h->v ? graph_heads(g, h->v, hp->d_value, hp->n_head_kv) : h->k;
}

struct graph_heads
graph_project(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_layer_hparams *hp = l->hp;
    struct graph_heads h = { 0 };

    if (l->attn_qkv.weight)
        return project_fused(g, l, cur);
    h.q = project_one(g, &l->attn_q, cur);
    project_keys(g, l, cur, &h);
    if (g->model->hp.gated_queries)
        split_gates(g, hp, &h);
    else
        h.q = graph_heads(g, h.q, hp->d_key, hp->n_head);
    return h;
}

struct ggml_tensor *
graph_norm_heads(struct graph *g, struct ggml_tensor *x,
                 const struct model_norm *norm)
{
    int64_t d = x->ne[0], n = x->ne[1];

    if (!norm->weight)
        return x;
    if (norm->weight->ne[0] == d)
        return graph_norm(g, x, norm);
    x = ggml_reshape_2d(g->ctx, x, d * n, g->n_tokens);
    return graph_heads(g, graph_norm(g, x, norm), (int32_t)d, (int32_t)n);
}

struct ggml_tensor *
graph_temper(struct graph *g, struct ggml_tensor *q)
{
    struct ggml_tensor *t = g->temperature;

    return t ? ggml_mul(g->ctx, q,
                        ggml_reshape_3d(g->ctx, t, 1, 1, g->n_tokens))
             : q;
}

static struct ggml_tensor *
turn_one(struct graph *g, int32_t layer, struct ggml_tensor *x,
         const struct model_norm *norm)
{
    if (!x)
        return NULL;
    if (g->model->hp.norm_after_rope)
        return graph_norm_heads(g, graph_rope(g, layer, x), norm);
    return graph_rope(g, layer, graph_norm_heads(g, x, norm));
}

struct graph_heads
graph_turn(struct graph *g, int32_t layer, struct graph_heads h)
{
    const struct model_layer *l = &g->model->layers[layer];

    if (h.q)
        h.q = graph_temper(g, turn_one(g, layer, h.q, &l->attn_q_norm));
    h.k = turn_one(g, layer, h.k, &l->attn_k_norm);
    if (h.v && g->model->hp.values_normed)
        h.v = ggml_rms_norm(g->ctx, h.v, g->model->hp.eps);
    return h;
}

struct ggml_tensor *
graph_project_back(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    return graph_linear(g, graph_wanted(g, layer, cur),
                        &g->model->layers[layer].attn_output);
}

/* x: d * heads x n_tokens; by: a value each, or one a head. */
static struct ggml_tensor *
multiply_heads(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *by)
{
    int64_t n = x->ne[0], heads = by->ne[0], n_tokens = x->ne[1];

    if (heads == n)
        return ggml_mul(g->ctx, x, by);
    x = ggml_reshape_3d(g->ctx, x, n / heads, heads, n_tokens);
    by = ggml_reshape_3d(g->ctx, by, 1, heads, n_tokens);
    return ggml_reshape_2d(g->ctx, ggml_mul(g->ctx, x, by), n, n_tokens);
}

/* x is what attention gives of cur, and of h. */
static struct ggml_tensor *
gate_attention(struct graph *g, const struct model_layer *l,
               struct ggml_tensor *cur, const struct graph_heads *h,
               struct ggml_tensor *x)
{
    if (h->gate) {
        cur = ggml_cont_2d(g->ctx, h->gate, x->ne[0], x->ne[1]);
        return ggml_mul(g->ctx, x, ggml_sigmoid(g->ctx, cur));
    }
    if (!l->attn_gate.weight)
        return x;
    cur = graph_linear(g, cur, &l->attn_gate);
    cur = g->model->hp.gate_softplus ? ggml_softplus(g->ctx, cur)
                                     : ggml_sigmoid(g->ctx, cur);
    return multiply_heads(g, x, cur);
}

struct ggml_tensor *
graph_self_attention(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    float scale = g->model->hp.value_scale;
    struct graph_heads h;
    struct ggml_tensor *x;

    if (g->model->hp.latent.n > 0)
        return graph_latent_attention(g, layer, cur);
    h = graph_turn(g, layer, graph_project(g, layer, cur));
    x = graph_attention(g, layer, h.q, h.k, h.v);
    if (scale != 0)
        x = ggml_scale(g->ctx, x, scale);
    x = gate_attention(g, l, cur, &h, x);
    x = graph_norm(g, x, &l->attn_sub_norm);
    return graph_project_back(g, layer, x);
}

void
graph_keep_attention(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct graph_heads h = { 0 };

    if (g->model->hp.latent.n > 0) {
        graph_keep_latent(g, layer, cur);
        return;
    }
    if (l->attn_qkv.weight)
        h = project_fused(g, l, cur);
    else
        project_keys(g, l, cur, &h);
    h.q = NULL;
    h = graph_turn(g, layer, h);
    graph_keep(g, layer, h.k, h.v);
}

/* ---- feed-forward ------------------------------------------------------- */

struct ggml_tensor *
graph_activate(struct graph *g, struct ggml_tensor *x,
               enum model_activation act)
{
    switch (act) {
    case MODEL_SILU:
        return ggml_silu(g->ctx, x);
    case MODEL_GELU:
        return ggml_gelu(g->ctx, x);
    case MODEL_RELU:
        return ggml_relu(g->ctx, x);
    case MODEL_RELU_SQUARED:
        return ggml_sqr(g->ctx, ggml_relu(g->ctx, x));
    default:
        assert(act == MODEL_GELU_ERF);
        return ggml_gelu_erf(g->ctx, x);
    }
}

struct ggml_tensor *
graph_gated(struct graph *g, struct ggml_tensor *gate, struct ggml_tensor *up,
            enum model_activation act)
{
    switch (act) {
    case MODEL_SILU:
        return ggml_swiglu_split(g->ctx, gate, up);
    case MODEL_SILU_CLAMPED:
        return ggml_swiglu_oai(g->ctx, gate, up, 1.702f, 7);
    case MODEL_GELU:
        return ggml_geglu_split(g->ctx, gate, up);
    case MODEL_RELU:
        return ggml_reglu_split(g->ctx, gate, up);
    default:
        return ggml_mul(g->ctx, graph_activate(g, gate, act), up);
    }
}

struct ggml_tensor *
graph_limited(struct graph *g, struct ggml_tensor *gate, struct ggml_tensor *up,
              float limit)
{
    enum model_activation act = g->model->hp.activation;

    if (limit == 0)
        return graph_gated(g, gate, up, act);
    gate = ggml_clamp(g->ctx, graph_activate(g, gate, act), -INFINITY, limit);
    return ggml_mul(g->ctx, gate, ggml_clamp(g->ctx, up, -limit, limit));
}

struct ggml_tensor *
graph_gated_by_itself(struct graph *g, struct ggml_tensor *x,
                      enum model_activation act)
{
    int64_t n = x->ne[0] / 2;
    size_t half = (size_t)n * x->nb[0];
    struct ggml_tensor *gate, *up;

    if (act == MODEL_SILU)
        return ggml_swiglu(g->ctx, x);
    if (act == MODEL_GELU)
        return ggml_geglu(g->ctx, x);
    gate = ggml_view_2d(g->ctx, x, n, x->ne[1], x->nb[1], 0);
    up = ggml_view_2d(g->ctx, x, n, x->ne[1], x->nb[1], half);
    return graph_gated(g, ggml_cont(g->ctx, gate), ggml_cont(g->ctx, up), act);
}

struct ggml_tensor *
graph_feed_forward(struct graph *g, const struct model_layer *layer,
                   struct ggml_tensor *x)
{
    struct ggml_tensor *up = graph_linear(g, x, &layer->ffn_up);
    enum model_activation act = g->model->hp.activation;

    if (layer->ffn_gate.weight)
        up = graph_limited(g, graph_linear(g, x, &layer->ffn_gate), up,
                           layer->hp->ff_limit);
    else if (up->ne[0] == 2 * layer->ffn_down.weight->ne[0])
        up = graph_gated_by_itself(g, up, act);
    else if (act == MODEL_XIELU)
        up = ggml_xielu(g->ctx, up, layer->hp->xielu[0], layer->hp->xielu[1],
                        layer->hp->xielu[2], layer->hp->xielu[3]);
    else
        up = graph_activate(g, up, act);
    up = graph_norm(g, up, &layer->ffn_sub_norm);
    return graph_linear(g, up, &layer->ffn_down);
}

struct ggml_tensor *
graph_mixture_or_dense(struct graph *g, const struct model_layer *layer,
                       struct ggml_tensor *x)
{
    return layer->router.weight ? graph_mixture(g, layer, x)
                                : graph_feed_forward(g, layer, x);
}

/* ---- layers ------------------------------------------------------------- */

/* Attention, a recurrence, or both; of the last layer the wanted rows. */
static struct ggml_tensor *
mix_tokens(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    bool attends = g->model->hp.layers[layer].n_head > 0;
    struct ggml_tensor *r;

    if (!graph_recurs(&g->model->hp, layer))
        return graph_self_attention(g, layer, cur);
    r = g->model->arch->recur(g, layer, cur);
    return attends ? ggml_add(g->ctx, graph_self_attention(g, layer, cur), r)
                   : r;
}

static struct ggml_tensor *
add_mixed(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *cur;

    if (l->hp->n_head == 0 && !l->hp->recurs)
        return graph_wanted(g, layer, x);
    cur = mix_tokens(g, layer, graph_norm(g, x, &l->attn_norm));
    cur = graph_norm(g, cur, &l->attn_post_norm);
    return graph_add(g, graph_wanted(g, layer, x), cur);
}

struct ggml_tensor *
graph_block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *cur;

    x = add_mixed(g, layer, x);
    if (l->hp->n_ff == 0)
        return graph_steer(g, layer, x);
    cur = graph_norm(g, x, &l->ffn_norm);
    cur = graph_mixture_or_dense(g, l, cur);
    cur = graph_norm(g, cur, &l->ffn_post_norm);
    return graph_steer(g, layer, graph_add(g, x, cur));
}

struct ggml_tensor *
graph_parallel_block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *c = graph_norm(g, x, &l->attn_norm), *a, *f;

    a = graph_self_attention(g, layer, c);
    f = graph_mixture_or_dense(g, l, graph_wanted(g, layer, c));
    x = graph_add(g, graph_wanted(g, layer, x), ggml_add(g->ctx, a, f));
    return graph_steer(g, layer, x);
}

/* After the layers. */
static struct ggml_tensor *
finish(struct graph *g, const struct model *m, struct ggml_tensor *x)
{
    struct ggml_tensor *y = graph_norm(g, x, &m->output_norm);

    return graph_logits(g, g->feeds ? graph_feed_mtp(g, x, y) : y);
}

struct ggml_tensor *
graph_decoder(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_block(g, i, x);
    x = graph_leave(g, x);
    return finish(g, m, x);
}

struct ggml_tensor *
graph_parallel_decoder(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_parallel_block(g, i, x);
    x = graph_leave(g, x);
    return finish(g, m, x);
}

/* ---- beside the layers -------------------------------------------------- */

struct ggml_tensor *
graph_add(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *y)
{
    float scale = g->model->hp.residual_scale;

    return ggml_add(g->ctx, x, scale != 0 ? ggml_scale(g->ctx, y, scale) : y);
}

struct ggml_tensor *
graph_logits(struct graph *g, struct ggml_tensor *x)
{
    return graph_logits_by(g, &g->model->output, x);
}

struct ggml_tensor *
graph_logits_by(struct graph *g, const struct model_linear *output,
                struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;

    if (g->hidden)
        return x;
    x = graph_linear(g, x, output);
    if (hp->logit_scale != 0)
        x = ggml_scale(g->ctx, x, hp->logit_scale);
    if (hp->logit_softcap != 0) {
        x = ggml_tanh(g->ctx, ggml_scale(g->ctx, x, 1 / hp->logit_softcap));
        x = ggml_scale(g->ctx, x, hp->logit_softcap);
    }
    return x;
}
