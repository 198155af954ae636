/* rwkv.c - what RWKV 6 and 7 share: layers that read the id before each id, and
 * states of heads (Peng et al. 2024, 2025)
 *
 * x = norm(embed(ids))
 * x = x + time_mix(c), c = norm(x)           rwkv6.c, rwkv7.c
 * x = x + channel_mix(c), c = norm(x)        in each layer
 * logits = output(norm(x))
 *
 * Both read mixes c + m * (c' - c) of what stands in c's place one id before,
 * c', which is 0 before the first id. Channel mixing: V relu(K c_k)^2, in
 * version 6 times sigmoid(R c_r). */
#include "graph/arch.h"

/* The epsilon of the norm of what each head gives. */
#define HEAD_EPS 64e-5f

/* ---- tensors ------------------------------------------------------------ */

void
graph_find_low_rank(struct model_loader *l, struct model_low_rank *r,
                    const char *const names[3])
{
    int64_t e = l->model->hp.n_embd;
    const struct gguf_tensor *t = graph_peek(l, names[1]);
    int64_t rank = t ? t->ne[1] : 1;

    if (names[0])
        r->base = graph_find_vector(l, names[0], e, MODEL_REQUIRED);
    r->down = graph_find_matrix(l, names[1], e, rank, MODEL_REQUIRED);
    r->up = graph_find_matrix(l, names[2], rank, e, MODEL_REQUIRED);
}

void
graph_find_time_mix(struct model_loader *l, struct model_layer *layer,
                    enum model_need norm)
{
    int64_t e = l->model->hp.n_embd;
    enum model_need bias = MODEL_OPTIONAL;

    layer->attn_q = graph_find_linear(l, ".time_mix_receptance", e, e, bias);
    layer->attn_k = graph_find_linear(l, ".time_mix_key", e, e, bias);
    layer->attn_v = graph_find_linear(l, ".time_mix_value", e, e, bias);
    layer->attn_output = graph_find_linear(l, ".time_mix_output", e, e, bias);
    if (norm == MODEL_REQUIRED || graph_peek(l, ".time_mix_ln"))
        layer->attn_sub_norm =
            graph_find_norm(l, ".time_mix_ln", e, MODEL_REQUIRED);
}

void
graph_find_channel_mix(struct model_loader *l, struct model_layer *layer,
                       bool gated)
{
    int64_t e = l->model->hp.n_embd, f = l->hp->n_ff;
    enum model_need bias = MODEL_OPTIONAL;

    layer->rwkv.channel_up =
        graph_find_vector(l, ".channel_mix_lerp_k", e, MODEL_REQUIRED);
    layer->ffn_up = graph_find_linear(l, ".channel_mix_key", e, f, bias);
    layer->ffn_down = graph_find_linear(l, ".channel_mix_value", f, e, bias);
    if (!gated)
        return;
    layer->rwkv.channel_gate =
        graph_find_vector(l, ".channel_mix_lerp_r", e, MODEL_REQUIRED);
    layer->ffn_gate =
        graph_find_linear(l, ".channel_mix_receptance", e, e, bias);
}

void
graph_find_rwkv_norms(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    layer->ffn_norm = graph_find_norm(l, ".attn_norm_2", e, MODEL_REQUIRED);
}

void
graph_find_rwkv_embedding(struct model_loader *l)
{
    struct model *m = l->model;

    m->embd_norm =
        graph_find_norm(l, "token_embd_norm", m->hp.n_embd, MODEL_REQUIRED);
}

/* ---- parts -------------------------------------------------------------- */

struct ggml_tensor *
graph_low_rank(struct graph *g, const struct model_low_rank *r,
               struct ggml_tensor *x, enum graph_squash squash)
{
    x = graph_product(g, ggml_mul_mat(g->ctx, r->down, x));
    if (squash == GRAPH_TANH)
        x = ggml_tanh(g->ctx, x);
    else if (squash == GRAPH_SIGMOID)
        x = ggml_sigmoid(g->ctx, x);
    x = graph_product(g, ggml_mul_mat(g->ctx, r->up, x));
    return r->base ? ggml_add(g->ctx, x, r->base) : x;
}

struct ggml_tensor *
graph_mixed(struct graph *g, const struct graph_mix *m,
            struct ggml_tensor *share)
{
    return ggml_add(g->ctx, ggml_mul(g->ctx, m->step, share), m->x);
}

struct graph_mix
graph_mix(struct graph *g, int32_t layer, struct ggml_tensor *x, int64_t first)
{
    struct ggml_tensor *before = graph_shift(g, layer, x, first);

    return (struct graph_mix){ x, ggml_sub(g->ctx, before, x) };
}

struct ggml_tensor *
graph_rwkv_heads(struct graph *g, struct ggml_tensor *x)
{
    const struct model_ssm *s = &g->model->hp.ssm;

    return ggml_reshape_3d(g->ctx, x, s->d_state, s->n_head, g->n_tokens);
}

struct ggml_tensor *
graph_norm_wkv(struct graph *g, const struct model_norm *norm,
               struct ggml_tensor *x)
{
    if (!norm->weight)
        return x;
    x = ggml_norm(g->ctx, graph_rwkv_heads(g, x), HEAD_EPS);
    x = ggml_reshape_2d(g->ctx, x, g->model->hp.n_embd, g->n_tokens);
    return graph_scale_norm(g, x, norm);
}

/* Channel mixing; of the last layer only the wanted rows. */
static struct ggml_tensor *
channel_mix(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct graph_mix m = graph_mix(g, layer, x, g->model->hp.n_embd);
    struct ggml_tensor *k, *r;

    m.x = graph_wanted(g, layer, m.x);
    m.step = graph_wanted(g, layer, m.step);
    k = graph_mixed(g, &m, l->rwkv.channel_up);
    k = ggml_relu(g->ctx, graph_linear(g, k, &l->ffn_up));
    k = graph_linear(g, ggml_sqr(g->ctx, k), &l->ffn_down);
    if (!l->ffn_gate.weight)
        return k;
    r = graph_mixed(g, &m, l->rwkv.channel_gate);
    r = ggml_sigmoid(g->ctx, graph_linear(g, r, &l->ffn_gate));
    return ggml_mul(g->ctx, r, k);
}

/* Channel mixing, or, of ARWKV, the usual block. */
static struct ggml_tensor *
second_block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];

    if (l->rwkv.channel_up)
        return channel_mix(g, layer, graph_norm(g, x, &l->ffn_norm));
    x = graph_norm(g, graph_wanted(g, layer, x), &l->ffn_norm);
    return graph_feed_forward(g, l, x);
}

/* Whether layers from this one on read the first one's values, too. */
static bool
carries_values(const struct graph *g, int32_t layer)
{
    return g->model->hp.first_values && layer > 0 &&
           layer < g->model->hp.n_layer;
}

/* One half of each column. */
static struct ggml_tensor *
half_of(struct graph *g, struct ggml_tensor *x, int which)
{
    int64_t n = x->ne[0] / 2;
    struct ggml_tensor *v = ggml_view_2d(g->ctx, x, n, x->ne[1], x->nb[1],
                                         (size_t)(which * n) * x->nb[0]);

    return ggml_cont(g->ctx, v);
}

/* Vectors that pass from layer to layer, with the values after them. */
static struct ggml_tensor *
enter(struct graph *g, struct ggml_tensor *x, struct ggml_tensor **v_first)
{
    if (!carries_values(g, g->first))
        return graph_enter(g, x);
    x = graph_enter(g, ggml_concat(g->ctx, x, x, 0));
    *v_first = half_of(g, x, 1);
    return half_of(g, x, 0);
}

static void
leave(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *v_first)
{
    if (carries_values(g, g->end))
        x = ggml_concat(g->ctx, x, v_first, 0);
    graph_leave(g, x);
}

struct ggml_tensor *
graph_rwkv(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed_normed(g, &m->embd_norm);
    struct ggml_tensor *y, *v_first = NULL;

    x = enter(g, x, &v_first);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *l = &m->layers[i];

        y = graph_norm(g, x, &l->attn_norm);
        x = ggml_add(g->ctx, x, m->arch->time_mix(g, i, y, &v_first));
        y = second_block(g, i, x);
        x = ggml_add(g->ctx, graph_wanted(g, i, x), y);
        if (m->hp.halve_every > 0 && (i + 1) % m->hp.halve_every == 0)
            x = ggml_scale(g->ctx, x, 0.5f);
        x = graph_steer(g, i, x);
    }
    leave(g, x, v_first);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}
