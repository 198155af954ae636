/* rwkv7.c - RWKV 7, Goose: a delta rule with rates for each value (Peng et al.
 * 2025); ARWKV 7, which has it in attention's place (Yueyu et al. 2025)
 *
 * Time mixing of c, with c' of the id before: c_i = c + m_i * (c' - c) for i =
 * r, w, k, v, a, g; w = exp(-exp(-1/2) sigmoid(w_0 + W2 tanh(W1 c_w))); a =
 * sigmoid(a_0 + A2 A1 c_a); v = v + (v' - v) sigmoid(v_0 + V2 V1 c_v), v' the
 * first layer's; n = k * k_k of length 1 a head; k = k (1 + (a - 1) k_a); each
 * head: S = S diag(w) + v k^T - (S n) (n a)^T, y = S r; out((norm(y) + v sum(r
 * k r_k)) * G2 sigmoid(G1 c_g)). The rest is in model/rwkv.c.
 * ARWKV: layers are Qwen 2's but for that; heads are not normed, and some
 * models have no gate. */
#include <math.h>

#include "graph/arch.h"

enum {
    R,
    W,
    K,
    V,
    A,
    G,
    MIXES,
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rwkv(keys, hp, 2);
    hp->first_values = true;
}

static void
arwkv_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rwkv(keys, hp, 1);
    hp->first_values = true;
}

/* The first layer has nothing to mix its values with. */
static void
find_value(struct model_loader *l, struct model_layer *layer)
{
    static const char *const value[] = { ".time_mix_v0", ".time_mix_v1",
                                         ".time_mix_v2" };

    if (l->layer > 0)
        graph_find_low_rank(l, &layer->rwkv.value, value);
    for (int i = 0; i < 3 && l->layer == 0; i++)
        graph_pass_over(l, value[i]);
}

/* Time mixing with `mixes` shares; the last one is the gate's. */
static void
find_time_mix(struct model_loader *l, struct model_layer *layer, int mixes,
              enum model_need norm)
{
    static const char *const decay[] = { ".time_mix_w0", ".time_mix_w1",
                                         ".time_mix_w2" };
    static const char *const rate[] = { ".time_mix_a0", ".time_mix_a1",
                                        ".time_mix_a2" };
    static const char *const gate[] = { NULL, ".time_mix_g1", ".time_mix_g2" };
    struct model_rwkv *r = &layer->rwkv;
    int64_t e = l->model->hp.n_embd;

    r->shares = graph_find_shares(l, ".time_mix_lerp_fused", e, mixes);
    graph_find_low_rank(l, &r->decay, decay);
    graph_find_low_rank(l, &r->rate, rate);
    find_value(l, layer);
    if (mixes > G)
        graph_find_low_rank(l, &r->gate, gate);
    r->key_unit = graph_find_vector(l, ".time_mix_k_k", e, MODEL_REQUIRED);
    r->key_rate = graph_find_vector(l, ".time_mix_k_a", e, MODEL_REQUIRED);
    r->first = graph_find_vector(l, ".time_mix_r_k", e, MODEL_REQUIRED);
    graph_find_time_mix(l, layer, norm);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_rwkv_norms(l, layer);
    find_time_mix(l, layer, MIXES, MODEL_REQUIRED);
    graph_find_channel_mix(l, layer, false);
}

static void
arwkv_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    bool gated = graph_peek(l, ".time_mix_g1") != NULL;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    find_time_mix(l, layer, gated ? MIXES : G, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

/* ---- time mixing -------------------------------------------------------- */

static struct ggml_tensor *
mixed(struct graph *g, const struct model_rwkv *r, const struct graph_mix *m,
      int i)
{
    return graph_mixed(g, m,
                       ggml_view_1d(g->ctx, r->shares, r->shares->ne[0],
                                    (size_t)i * r->shares->nb[3]));
}

static struct ggml_tensor *
sigmoid_of(struct graph *g, const struct model_low_rank *r,
           struct ggml_tensor *x, enum graph_squash squash)
{
    return ggml_sigmoid(g->ctx, graph_low_rank(g, r, x, squash));
}

/* x: c_v */
static struct ggml_tensor *
values(struct graph *g, const struct model_layer *l, struct ggml_tensor *x,
       struct ggml_tensor **v_first)
{
    struct ggml_tensor *v = graph_linear(g, x, &l->attn_v), *part;

    if (!*v_first) {
        *v_first = v;
        return v;
    }
    part = sigmoid_of(g, &l->rwkv.value, x, GRAPH_PLAIN);
    x = ggml_mul(g->ctx, ggml_sub(g->ctx, *v_first, v), part);
    return ggml_add(g->ctx, v, x);
}

/* The part of the output that passes by the state: v sum(r k r_k), of each
 * head. */
static struct ggml_tensor *
bonus(struct graph *g, const struct model_layer *l, const struct graph_wkv *p)
{
    const struct model_ssm *s = &g->model->hp.ssm;
    struct ggml_tensor *u =
        ggml_reshape_2d(g->ctx, l->rwkv.first, s->d_state, s->n_head);
    struct ggml_tensor *x = ggml_mul(g->ctx, p->k, p->r);

    x = ggml_sum_rows(g->ctx, ggml_mul(g->ctx, x, u));
    x = ggml_mul(g->ctx, p->v, x);
    return ggml_reshape_2d(g->ctx, x, g->model->hp.n_embd, g->n_tokens);
}

/* Keys: p's k, a and b, of c_k and c_a. */
static void
set_keys(struct graph *g, const struct model_layer *l, struct ggml_tensor *k,
         struct ggml_tensor *a, struct graph_wkv *p)
{
    const struct model_rwkv *r = &l->rwkv;
    struct ggml_tensor *n, *ka;

    k = graph_linear(g, k, &l->attn_k);
    a = sigmoid_of(g, &r->rate, a, GRAPH_PLAIN);
    n = graph_rwkv_heads(g, ggml_mul(g->ctx, k, r->key_unit));
    n = ggml_l2_norm(g->ctx, n, 1e-12f);
    ka = ggml_mul(g->ctx, k, r->key_rate);
    k = ggml_add(g->ctx, k, ggml_sub(g->ctx, ggml_mul(g->ctx, a, ka), ka));
    p->k = graph_rwkv_heads(g, k);
    p->a = ggml_neg(g->ctx, n);
    p->b = ggml_mul(g->ctx, n, graph_rwkv_heads(g, a));
}

static struct ggml_tensor *
time_mix(struct graph *g, int32_t layer, struct ggml_tensor *x,
         struct ggml_tensor **v_first)
{
    const struct model_layer *l = &g->model->layers[layer];
    const struct model_rwkv *r = &l->rwkv;
    struct graph_mix m = graph_mix(g, layer, x, 0);
    struct ggml_tensor *c[MIXES], *w;
    struct graph_wkv p = { 0 };

    for (int i = 0; i < MIXES; i++)
        c[i] = i < r->shares->ne[3] ? mixed(g, r, &m, i) : NULL;
    p.r = graph_rwkv_heads(g, graph_linear(g, c[R], &l->attn_q));
    w = ggml_scale(g->ctx, sigmoid_of(g, &r->decay, c[W], GRAPH_TANH),
                   -expf(-0.5f));
    p.w = graph_rwkv_heads(g, ggml_exp(g->ctx, w));
    set_keys(g, l, c[K], c[A], &p);
    p.v = graph_rwkv_heads(g, values(g, l, c[V], v_first));
    x = graph_wkv(g, layer, &p);
    x = graph_norm_wkv(g, &l->attn_sub_norm, x);
    x = ggml_add(g->ctx, x, bonus(g, l, &p));
    if (c[G])
        x = ggml_mul(g->ctx, x,
                     graph_low_rank(g, &r->gate, c[G], GRAPH_SIGMOID));
    return graph_linear(g, x, &l->attn_output);
}

const struct model_arch graph_family_rwkv7[] = {
    { .name = "rwkv7",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph_rwkv,
      .time_mix = time_mix,
      .embedding = graph_find_rwkv_embedding },
    { .name = "arwkv7",
      .hparams = arwkv_hparams,
      .layer = arwkv_layer,
      .graph = graph_rwkv,
      .time_mix = time_mix },
    { 0 },
};
