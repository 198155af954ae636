/* rwkv6.c - RWKV 6, Finch: decays and mixes that depend on the id (Peng et al.
 * 2024); QRWKV 6, which has it in attention's place in Qwen 2
 *
 * Time mixing of c, with c' of the id before, d = c' - c:
 * t = tanh(W1 (c + d * m_x)); c_i = c + d * (m_i + W2_i t_i) for i = w, k, v,
 * r, g; w = exp(-exp(w_0 + D2 tanh(D1 c_w))); each head: y = (S + u k v^T)^T r,
 * S = w S + k v^T; out(norm(y) * silu(G c_g)). The rest is in model/rwkv.c.
 * QRWKV: layers are Qwen 2's but for that, with few heads of keys and values;
 * k = k (1 - w); S = w S + k v^T; y = S^T r / sqrt(d); out(y * sigmoid(G c_g)).
 */
#include "graph/arch.h"

enum {
    MIXES = RWKV_MIXES, /* w, k, v, r, g */
};

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rwkv(keys, hp, 2);
    hp->halve_every =
        graph_key_int(keys, "rescale_every_n_layers", 0, MODEL_MAX_LAYERS, 0);
}

/* Heads share keys and values as those of attention do: ssm.n_group. Files say
 * that there are none other than these. */
static void
qrwkv_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t n;

    keys->headless = true;
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rwkv(keys, hp, 1);
    n = graph_key_int(keys, "attention.head_count_kv", 0, hp->ssm.n_head, 0);
    hp->ssm.n_group = n > 0 ? n : hp->ssm.n_head;
    if (keys->status == GG_OK && hp->ssm.n_head % hp->ssm.n_group)
        graph_key_mismatch(keys, "attention.head_count_kv",
                           "does not divide the number of heads",
                           hp->ssm.n_group, hp->ssm.n_head);
}

/* ---- tensors ------------------------------------------------------------ */

/* All in one tensor; older files have one each, newer ones may have both. */
static void
find_shares(struct model_loader *l, struct model_layer *layer)
{
    static const char *const names[MIXES] = {
        ".time_mix_lerp_w", ".time_mix_lerp_k", ".time_mix_lerp_v",
        ".time_mix_lerp_r", ".time_mix_lerp_g",
    };
    int64_t e = l->model->hp.n_embd;
    bool fused = graph_peek(l, ".time_mix_lerp_fused") != NULL;

    if (fused)
        layer->rwkv.shares =
            graph_find_shares(l, ".time_mix_lerp_fused", e, MIXES);
    for (int i = 0; i < MIXES; i++)
        if (fused)
            graph_pass_over(l, names[i]);
        else
            layer->rwkv.share[i] =
                graph_find_vector(l, names[i], e, MODEL_REQUIRED);
}

static void
find_own_shares(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    const struct gguf_tensor *t = graph_peek(l, ".time_mix_w2");
    int64_t rank = t ? t->ne[0] : 1;

    layer->rwkv.shares_of =
        graph_find_vector(l, ".time_mix_lerp_x", e, MODEL_REQUIRED);
    layer->rwkv.shares_down =
        graph_find_matrix(l, ".time_mix_w1", e, MIXES * rank, MODEL_REQUIRED);
    layer->rwkv.shares_up =
        graph_find_matrices(l, ".time_mix_w2", rank, e, MIXES);
}

static void
find_mixes(struct model_loader *l, struct model_layer *layer)
{
    static const char *const decay[] = { ".time_mix_decay",
                                         ".time_mix_decay_w1",
                                         ".time_mix_decay_w2" };
    int64_t e = l->model->hp.n_embd;

    find_shares(l, layer);
    find_own_shares(l, layer);
    graph_find_low_rank(l, &layer->rwkv.decay, decay);
    layer->attn_gate =
        graph_find_linear(l, ".time_mix_gate", e, e, MODEL_OPTIONAL);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_ssm *s = &l->model->hp.ssm;

    graph_find_rwkv_norms(l, layer);
    find_mixes(l, layer);
    layer->rwkv.first = graph_find_numbers(l, ".time_mix_first.weight",
                                           s->d_state, s->n_head, true);
    graph_find_time_mix(l, layer, MODEL_REQUIRED);
    graph_find_channel_mix(l, layer, true);
}

static void
qrwkv_layer(struct model_loader *l, struct model_layer *layer)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t e = l->model->hp.n_embd, n = (int64_t)s->n_group * s->d_state;
    enum model_need bias = MODEL_OPTIONAL;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, bias);
    find_mixes(l, layer);
    layer->attn_q = graph_find_linear(l, ".time_mix_receptance", e, e, bias);
    layer->attn_k = graph_find_linear(l, ".time_mix_key", e, n, bias);
    layer->attn_v = graph_find_linear(l, ".time_mix_value", e, n, bias);
    layer->attn_output = graph_find_linear(l, ".time_mix_output", e, e, bias);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, bias);
    graph_find_feed_forward(l, layer, true, bias);
}

/* ---- time mixing -------------------------------------------------------- */

/* tanh(W1 ...), rank * MIXES x n_tokens */
static struct ggml_tensor *
low_shares(struct graph *g, const struct model_rwkv *r,
           const struct graph_mix *m)
{
    struct ggml_tensor *x = graph_mixed(g, m, r->shares_of);

    x = graph_product(g, ggml_mul_mat(g->ctx, r->shares_down, x));
    return ggml_tanh(g->ctx, x);
}

/* c_i; low: what the above gives. */
static struct ggml_tensor *
mixed(struct graph *g, const struct model_rwkv *r, const struct graph_mix *m,
      struct ggml_tensor *low, int i)
{
    struct ggml_tensor *up = r->shares_up, *share = r->share[i];
    int64_t rank = up->ne[0];
    size_t at = (size_t)i * (size_t)rank * low->nb[0];

    if (r->shares)
        share = ggml_view_1d(g->ctx, r->shares, r->shares->ne[0],
                             (size_t)i * r->shares->nb[3]);
    up = ggml_view_2d(g->ctx, up, rank, up->ne[1], up->nb[1],
                      (size_t)i * up->nb[2]);
    low = ggml_view_2d(g->ctx, low, rank, low->ne[1], low->nb[1], at);
    low = graph_product(g, ggml_mul_mat(g->ctx, up, low));
    return graph_mixed(g, m, ggml_add(g->ctx, low, share));
}

static struct ggml_tensor *
decays(struct graph *g, const struct model_rwkv *r, struct ggml_tensor *x)
{
    x = graph_low_rank(g, &r->decay, x, GRAPH_TANH);
    return ggml_exp(g->ctx, ggml_neg(g->ctx, ggml_exp(g->ctx, x)));
}

/* Keys or values, x, of as many heads as there are of queries. */
static struct ggml_tensor *
shared_heads(struct graph *g, struct ggml_tensor *x)
{
    const struct model_ssm *s = &g->model->hp.ssm;
    int64_t n = x->ne[0] / s->d_state;

    if (n < s->n_head) {
        x = ggml_reshape_4d(g->ctx, x, s->d_state, 1, n, g->n_tokens);
        x = ggml_repeat_4d(g->ctx, x, s->d_state, s->n_head / n, n,
                           g->n_tokens);
    }
    return graph_rwkv_heads(g, x);
}

static struct ggml_tensor *
time_mix(struct graph *g, int32_t layer, struct ggml_tensor *x,
         struct ggml_tensor **v_first)
{
    enum {
        W,
        K,
        V,
        R,
        G
    };
    const struct model_layer *l = &g->model->layers[layer];
    struct graph_mix m = graph_mix(g, layer, x, 0);
    struct ggml_tensor *low = low_shares(g, &l->rwkv, &m), *c[MIXES], *gate;
    struct graph_wkv p = { 0 };

    (void)v_first;
    for (int i = 0; i < MIXES; i++)
        c[i] = mixed(g, &l->rwkv, &m, low, i);
    p.r = graph_rwkv_heads(g, graph_linear(g, c[R], &l->attn_q));
    p.k = shared_heads(g, graph_linear(g, c[K], &l->attn_k));
    p.v = shared_heads(g, graph_linear(g, c[V], &l->attn_v));
    p.w = graph_rwkv_heads(g, decays(g, &l->rwkv, c[W]));
    gate = graph_linear(g, c[G], &l->attn_gate);
    if (!l->rwkv.first)
        p.k = ggml_sub(g->ctx, p.k, ggml_mul(g->ctx, p.k, p.w));
    gate = l->rwkv.first ? ggml_silu(g->ctx, gate) : ggml_sigmoid(g->ctx, gate);
    x = graph_wkv(g, layer, &p);
    x = graph_norm_wkv(g, &l->attn_sub_norm, x);
    return graph_linear(g, ggml_mul(g->ctx, x, gate), &l->attn_output);
}

const struct model_arch graph_family_rwkv6[] = {
    { .name = "rwkv6",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph_rwkv,
      .time_mix = time_mix,
      .embedding = graph_find_rwkv_embedding },
    { .name = "rwkv6qwen2",
      .hparams = qrwkv_hparams,
      .layer = qrwkv_layer,
      .graph = graph_rwkv,
      .time_mix = time_mix },
    { 0 },
};
