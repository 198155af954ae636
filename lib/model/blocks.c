/* blocks.c - attention and feed-forward blocks that families share */
#include "model/graph.h"

#include <assert.h>

/* ---- attention ---------------------------------------------------------- */

/* Queries, keys and values: d_key x heads x n_tokens. */
struct heads {
    struct ggml_tensor *q, *k, *v;
};

/* Part of a product whose rows hold queries, keys and values side by side. */
static struct ggml_tensor *
part(struct graph *g, struct ggml_tensor *qkv, int32_t n_head, int32_t before)
{
    const struct model_hparams *hp = &g->model->hp;
    size_t head = (size_t)hp->d_key * qkv->nb[0];

    return ggml_view_3d(g->ctx, qkv, hp->d_key, n_head, g->n_tokens, head,
                        qkv->nb[1], (size_t)before * head);
}

static struct heads
project(struct graph *g, const struct model_layer *layer,
        struct ggml_tensor *cur)
{
    const struct model_hparams *hp = &g->model->hp;
    struct ggml_tensor *qkv;
    struct heads h;

    if (layer->attn_qkv.weight) {
        qkv = model_graph_linear(g, cur, &layer->attn_qkv);
        h.q = part(g, qkv, hp->n_head, 0);
        h.k = part(g, qkv, hp->n_head_kv, hp->n_head);
        h.v = part(g, qkv, hp->n_head_kv, hp->n_head + hp->n_head_kv);
        return h;
    }
    h.q = model_graph_linear(g, cur, &layer->attn_q);
    h.k = model_graph_linear(g, cur, &layer->attn_k);
    h.v = model_graph_linear(g, cur, &layer->attn_v);
    /* one after the other: the same input, read once */
    ggml_build_forward_expand(g->cgraph, h.q);
    ggml_build_forward_expand(g->cgraph, h.k);
    ggml_build_forward_expand(g->cgraph, h.v);
    h.q = model_graph_heads(g, h.q, hp->d_key, hp->n_head);
    h.k = model_graph_heads(g, h.k, hp->d_key, hp->n_head_kv);
    h.v = model_graph_heads(g, h.v, hp->d_value, hp->n_head_kv);
    return h;
}

/* A norm is as long as a head, or as all heads together. */
static struct ggml_tensor *
norm_heads(struct graph *g, struct ggml_tensor *x,
           const struct model_norm *norm)
{
    int64_t d = x->ne[0], n = x->ne[1];

    if (!norm->weight)
        return x;
    if (norm->weight->ne[0] == d)
        return model_graph_rms_norm(g, x, norm);
    x = ggml_reshape_2d(g->ctx, x, d * n, g->n_tokens);
    x = model_graph_rms_norm(g, x, norm);
    return ggml_reshape_3d(g->ctx, x, d, n, g->n_tokens);
}

struct ggml_tensor *
model_graph_self_attention(struct graph *g, int32_t layer,
                           struct ggml_tensor *cur)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct heads h = project(g, l, cur);

    h.q = model_graph_rope(g, layer, norm_heads(g, h.q, &l->attn_q_norm));
    h.k = model_graph_rope(g, layer, norm_heads(g, h.k, &l->attn_k_norm));
    cur = model_graph_attention(g, layer, h.q, h.k, h.v);
    return model_graph_linear(g, model_graph_wanted(g, layer, cur),
                              &l->attn_output);
}

/* ---- feed-forward ------------------------------------------------------- */

static struct ggml_tensor *
activate(struct graph *g, struct ggml_tensor *x, enum graph_activation act)
{
    switch (act) {
    case GRAPH_SILU:
        return ggml_silu(g->ctx, x);
    case GRAPH_GELU:
        return ggml_gelu(g->ctx, x);
    default:
        assert(act == GRAPH_GELU_ERF);
        return ggml_gelu_erf(g->ctx, x);
    }
}

struct ggml_tensor *
model_graph_gated(struct graph *g, struct ggml_tensor *gate,
                  struct ggml_tensor *up, enum graph_activation act)
{
    switch (act) {
    case GRAPH_SILU:
        return ggml_swiglu_split(g->ctx, gate, up);
    case GRAPH_SILU_CLAMPED:
        return ggml_swiglu_oai(g->ctx, gate, up, 1.702f, 7);
    default:
        assert(act == GRAPH_GELU);
        return ggml_geglu_split(g->ctx, gate, up);
    }
}

struct ggml_tensor *
model_graph_feed_forward(struct graph *g, const struct model_layer *layer,
                         struct ggml_tensor *x, enum graph_activation act)
{
    struct ggml_tensor *up = model_graph_linear(g, x, &layer->ffn_up);

    if (layer->ffn_gate.weight)
        up = model_graph_gated(g, model_graph_linear(g, x, &layer->ffn_gate),
                               up, act);
    else if (up->ne[0] == 2 * layer->ffn_down.weight->ne[0])
        up = act == GRAPH_SILU ? ggml_swiglu(g->ctx, up)
                               : ggml_geglu(g->ctx, up);
    else
        up = activate(g, up, act);
    return model_graph_linear(g, up, &layer->ffn_down);
}

/* ---- layers ------------------------------------------------------------- */

struct ggml_tensor *
model_graph_rms_block(struct graph *g, int32_t layer, struct ggml_tensor *x,
                      enum graph_activation act)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *cur = model_graph_rms_norm(g, x, &l->attn_norm);

    cur = model_graph_self_attention(g, layer, cur);
    x = model_graph_add(g, model_graph_wanted(g, layer, x), cur);
    cur = model_graph_rms_norm(g, x, &l->ffn_norm);
    return model_graph_add(g, x, model_graph_feed_forward(g, l, cur, act));
}

struct ggml_tensor *
model_graph_sandwich_block(struct graph *g, int32_t layer,
                           struct ggml_tensor *x, enum graph_activation act)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *cur = model_graph_rms_norm(g, x, &l->attn_norm);

    cur = model_graph_self_attention(g, layer, cur);
    cur = model_graph_rms_norm(g, cur, &l->attn_post_norm);
    x = model_graph_add(g, model_graph_wanted(g, layer, x), cur);
    cur = model_graph_rms_norm(g, x, &l->ffn_norm);
    cur = model_graph_feed_forward(g, l, cur, act);
    return model_graph_add(g, x,
                           model_graph_rms_norm(g, cur, &l->ffn_post_norm));
}

struct ggml_tensor *
model_graph_parallel_block(struct graph *g, int32_t layer,
                           struct ggml_tensor *x, enum graph_activation act)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *c = model_graph_layer_norm(g, x, &l->attn_norm), *a, *f;

    a = model_graph_self_attention(g, layer, c);
    f = model_graph_feed_forward(g, l, model_graph_wanted(g, layer, c), act);
    return model_graph_add(g, model_graph_wanted(g, layer, x),
                           ggml_add(g->ctx, a, f));
}

/* ---- beside the layers -------------------------------------------------- */

struct ggml_tensor *
model_graph_add(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *y)
{
    float scale = g->model->hp.residual_scale;

    return ggml_add(g->ctx, x, scale != 0 ? ggml_scale(g->ctx, y, scale) : y);
}

struct ggml_tensor *
model_graph_logits(struct graph *g, struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;

    if (g->hidden)
        return x;
    x = model_graph_linear(g, x, &g->model->output);
    if (hp->logit_scale != 0)
        x = ggml_scale(g->ctx, x, hp->logit_scale);
    if (hp->logit_softcap != 0) {
        x = ggml_tanh(g->ctx, ggml_scale(g->ctx, x, 1 / hp->logit_softcap));
        x = ggml_scale(g->ctx, x, hp->logit_softcap);
    }
    return x;
}
