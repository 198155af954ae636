/* latent.c - latent attention: keys and values of all heads from one row a
 * position (DeepSeek-AI 2024, "DeepSeek-V2")
 *
 * c = norm(A x), r = rope(A' x), both of all heads; head h has the query (q,
 * p), p rotated, the key (K c, r) and the value V c, with K and V of its own.
 * q . K c is K^T q . c, and the sum of w V c is V times that of w c: so
 * attention is between (K^T q, p) and (c, r), whose first part stands for the
 * values as well, and V comes after it. r is normed before it is rotated, if
 * the layer has attn_k_norm. A gate of cur stands before the matrix
 * that projects back, if the layer has one. An indexer, if it has one, chooses
 * the positions that it reads. */
#include "graph/graph.h"

/* norm(x); of latents epsilon is the same in most models, whatever that of
 * hidden vectors is. */
static struct ggml_tensor *
norm_latent(struct graph *g, struct ggml_tensor *x,
            const struct model_norm *norm)
{
    float eps = g->model->hp.latent.eps;

    return graph_scale_norm(g, ggml_rms_norm(g->ctx, x, eps > 0 ? eps : 1e-6f),
                            norm);
}

/* n values of each row of x, heads x n_tokens rows, from value `first` on. */
static struct ggml_tensor *
latent_part(struct graph *g, struct ggml_tensor *x, int64_t n, int64_t first)
{
    return ggml_view_3d(g->ctx, x, n, x->ne[1], x->ne[2], x->nb[1], x->nb[2],
                        (size_t)first * x->nb[0]);
}

/* Heads and tokens change places. */
static struct ggml_tensor *
swap(struct graph *g, struct ggml_tensor *x)
{
    return ggml_permute(g->ctx, x, 0, 2, 1, 3);
}

/* The vector that queries are projected from. */
static struct ggml_tensor *
latent_query(struct graph *g, const struct model_layer *l,
             struct ggml_tensor *cur)
{
    return l->attn_q_a.weight
               ? norm_latent(g, graph_linear(g, cur, &l->attn_q_a),
                             &l->attn_q_a_norm)
               : cur;
}

/* The latent row c, n x n_tokens; *shared: r, d_shared x 1 x n_tokens, NULL
 * where heads share nothing else. */
static struct ggml_tensor *
latent_row(struct graph *g, int32_t layer, struct ggml_tensor *cur,
           struct ggml_tensor **shared)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_latent *x = graph_latent_of(&g->model->hp, layer);

    *shared = NULL;
    cur = graph_linear(g, cur, &l->attn_kv_a);
    if (x->d_shared == 0)
        return norm_latent(g, cur, &l->attn_kv_a_norm);
    *shared = latent_part(g, graph_heads(g, cur, x->n + x->d_shared, 1),
                          x->d_shared, x->n);
    if (l->attn_k_norm.weight)
        *shared = norm_latent(g, *shared, &l->attn_k_norm);
    *shared = graph_rope(g, layer, *shared);
    cur = ggml_view_2d(g->ctx, cur, x->n, g->n_tokens, cur->nb[1], 0);
    return norm_latent(g, cur, &l->attn_kv_a_norm);
}

/* (a, b), row by row; a NULL: b; b NULL: a */
static struct ggml_tensor *
join(struct graph *g, struct ggml_tensor *a, struct ggml_tensor *b)
{
    if (!b)
        return ggml_cont(g->ctx, a);
    return a ? ggml_concat(g->ctx, a, b, 0) : b;
}

/* The rotated part of queries, d_shared x n_head x n_tokens; NULL: nothing. */
static struct ggml_tensor *
turned_part(struct graph *g, int32_t layer, struct ggml_tensor *q)
{
    const struct model_latent *x = graph_latent_of(&g->model->hp, layer);

    if (x->d_shared == 0)
        return NULL;
    return graph_rope(g, layer,
                      latent_part(g, q, x->d_shared, x->d_key - x->d_shared));
}

/* The key that absorbed attention keeps. */
static struct ggml_tensor *
latent_key(struct graph *g, struct ggml_tensor *row, struct ggml_tensor *shared)
{
    return join(g, graph_heads(g, row, (int32_t)row->ne[0], 1), shared);
}

static struct ggml_tensor *
attend_latent(struct graph *g, int32_t layer, struct ggml_tensor *cur,
              struct ggml_tensor *q, struct ggml_tensor *row,
              struct ggml_tensor *shared)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_latent *x = graph_latent_of(&g->model->hp, layer);
    int64_t own = x->d_key - x->d_shared, n_head = l->hp->n_head;
    struct ggml_tensor *into = swap(g, latent_part(g, q, own, 0)), *k, *y;

    into = graph_product(g, ggml_mul_mat(g->ctx, l->attn_k_b, into));
    q = join(g, swap(g, into), turned_part(g, layer, q));
    k = latent_key(g, row, shared);
    y = graph_attention(g, layer, graph_temper(g, q), k, NULL);
    y = graph_wanted(g, layer, y);
    y = swap(g, ggml_reshape_3d(g->ctx, y, x->n, n_head, y->ne[1]));
    y = graph_product(g, ggml_mul_mat(g->ctx, l->attn_v_b, y));
    y = ggml_cont_2d(g->ctx, swap(g, y), x->d_value * n_head, y->ne[1]);
    if (l->attn_gate.weight)
        y = graph_gate_attention(g, l, graph_wanted(g, layer, cur), y);
    return graph_linear(g, y, &l->attn_output);
}

/* Each head's keys, and its values to *v. */
static struct ggml_tensor *
head_keys(struct graph *g, int32_t layer, struct ggml_tensor *row,
          struct ggml_tensor *shared, struct ggml_tensor **v)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_latent *x = graph_latent_of(&g->model->hp, layer);
    int32_t own = x->d_key - x->d_shared, n_head = l->hp->n_head;
    struct ggml_tensor *kv = graph_linear(g, row, &l->attn_kv_b);

    kv = graph_heads(g, kv, own + x->d_value, n_head);
    *v = ggml_cont(g->ctx, latent_part(g, kv, x->d_value, own));
    shared =
        ggml_repeat_4d(g->ctx, shared, x->d_shared, n_head, g->n_tokens, 1);
    return join(g, own > 0 ? latent_part(g, kv, own, 0) : NULL, shared);
}

static struct ggml_tensor *
attend_heads(struct graph *g, int32_t layer, struct ggml_tensor *cur,
             struct ggml_tensor *q, struct ggml_tensor *row,
             struct ggml_tensor *shared)
{
    const struct model_latent *x = graph_latent_of(&g->model->hp, layer);
    int32_t own = x->d_key - x->d_shared;
    struct ggml_tensor *v, *k = head_keys(g, layer, row, shared, &v);

    q = join(g, own > 0 ? latent_part(g, q, own, 0) : NULL,
             turned_part(g, layer, q));
    q = graph_attention(g, layer, graph_temper(g, q), k, v);
    q = graph_gate_attention(g, &g->model->layers[layer], cur, q);
    return graph_project_back(g, layer, q);
}

struct ggml_tensor *
graph_latent_attention(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *q = latent_query(g, l, cur), *shared, *row;

    if (graph_chooses(l->hp))
        graph_choose(g, layer, q, cur);
    q = graph_heads(g, graph_linear(g, q, &l->attn_q),
                    graph_latent_of(&g->model->hp, layer)->d_key,
                    l->hp->n_head);
    row = latent_row(g, layer, cur, &shared);
    return g->model->hp.latent.absorbed
               ? attend_latent(g, layer, cur, q, row, shared)
               : attend_heads(g, layer, cur, q, row, shared);
}

void
graph_keep_latent(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    struct ggml_tensor *shared, *v = NULL, *k;
    struct ggml_tensor *row = latent_row(g, layer, cur, &shared);

    k = g->model->hp.latent.absorbed ? latent_key(g, row, shared)
                                     : head_keys(g, layer, row, shared, &v);
    graph_keep(g, layer, k, v);
    graph_keep_index(g, layer, cur);
}
