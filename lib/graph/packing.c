/* packing.c - attention over packed rows, by ops that have a gradient each
 *
 * Heads of all rows stand in one dimension, those of a row side by side: so a
 * head of keys serves its group of queries as it does in one row. */
#include "graph/graph.h"

/* d x heads x n_tokens as length x d x heads of all rows, or, if `turned`, as
 * d x length x heads of all rows; contiguous. */
static struct ggml_tensor *
heads_of_rows(struct graph *g, struct ggml_tensor *x, bool turned)
{
    const struct graph_packing *p = &g->packing;
    int64_t d = x->ne[0], n_head = x->ne[1];

    if (!ggml_is_contiguous(x))
        x = ggml_cont(g->ctx, x);
    x = ggml_reshape_4d(g->ctx, x, d, n_head, p->length, p->n_rows);
    if (turned) {
        x = ggml_cont(g->ctx, ggml_permute(g->ctx, x, 0, 2, 1, 3));
        return ggml_reshape_3d(g->ctx, x, d, p->length, n_head * p->n_rows);
    }
    x = ggml_cont(g->ctx, ggml_permute(g->ctx, x, 1, 2, 0, 3));
    return ggml_reshape_3d(g->ctx, x, p->length, d, n_head * p->n_rows);
}

/* softmax(q k * scale + mask): length x length x heads of all rows. */
static struct ggml_tensor *
weights(struct graph *g, int32_t layer, struct ggml_tensor *q,
        struct ggml_tensor *k)
{
    const struct model_hparams *hp = &g->model->hp;
    const struct graph_packing *p = &g->packing;
    bool windowed = g->model->layers[layer].windowed;
    float scale = graph_attention_scale(g->model, layer);
    float cap = hp->attn_softcap;
    struct ggml_tensor *x = ggml_mul_mat(g->ctx, k, q);
    int64_t n_heads = x->ne[2];

    if (cap != 0) {
        x = ggml_tanh(g->ctx, ggml_scale(g->ctx, x, scale / cap));
        scale = cap;
    }
    x = ggml_reshape_4d(g->ctx, x, p->length, p->length, n_heads / p->n_rows,
                        p->n_rows);
    x = ggml_soft_max_ext(g->ctx, x,
                          p->masks[windowed ? CACHE_WINDOW : CACHE_ALL], scale,
                          hp->attn_max_bias);
    return ggml_reshape_3d(g->ctx, x, p->length, p->length, n_heads);
}

struct ggml_tensor *
graph_packed_attention(struct graph *g, int32_t layer,
                       const struct graph_heads *h)
{
    const struct model_layer_hparams *hp = &g->model->hp.layers[layer];
    const struct graph_packing *p = &g->packing;
    struct ggml_tensor *q = heads_of_rows(g, h->q, true);
    struct ggml_tensor *k = heads_of_rows(g, h->k, true);
    struct ggml_tensor *v = heads_of_rows(g, h->v, false), *x;

    x = ggml_mul_mat(g->ctx, v, weights(g, layer, q, k));
    x = ggml_reshape_4d(g->ctx, x, hp->d_value, p->length, hp->n_head,
                        p->n_rows);
    x = ggml_permute(g->ctx, x, 0, 2, 1, 3);
    return ggml_cont_2d(g->ctx, x, (int64_t)hp->d_value * hp->n_head,
                        g->n_tokens);
}
