/* projections.c - queries, keys and values of a layer */
#include "graph/arch.h"

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

/* Splits each head of q: its query comes first, then its gate. */
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
    if (!ggml_is_contiguous(x)) /* of queries, keys and values in one */
        x = ggml_cont(g->ctx, x);
    x = ggml_reshape_2d(g->ctx, x, d * n, g->n_tokens);
    return graph_heads(g, graph_norm(g, x, norm), (int32_t)d, (int32_t)n);
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
