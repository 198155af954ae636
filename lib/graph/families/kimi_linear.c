/* kimi_linear.c - Kimi Linear: of four layers three have Kimi's delta attention
 * (Kimi Team 2025), the fourth latent attention without positions
 *
 * x = embed(ids)
 * x = x + attention(c) or o(c), c = norm(x)     attention: latent.c
 * x = x + mixture(c) + shared(c), c = norm(x)   the first layers are dense
 * logits = output(norm(x))
 *
 * o: q, k, v = silu(conv(Q c)), silu(conv(K c)), silu(conv(V c)), q and k of
 * length 1; S = exp(g) S, a decay for each value of a key; S = S + beta (v - S
 * k) k^T; norm(S q) * sigmoid(G' G c) projected back; with g = a softplus(F' F
 * c
 * + dt), beta = sigmoid(B c). Files hold a < 0. */
#include <stdio.h>

#include "graph/arch.h"

/* In layers with attention; 0: none has any. */
static int32_t
count_heads(const struct model_hparams *hp)
{
    int32_t n = 0;

    for (int32_t i = 0; i < hp->n_layer; i++)
        n = hp->layers[i].n_head > n ? hp->layers[i].n_head : n;
    return n;
}

/* Early files have what was not split yet. */
static bool
is_absorbed(const struct model_keys *keys, const struct model_hparams *hp)
{
    char name[64];

    for (int32_t i = 0; i < hp->n_layer; i++) {
        snprintf(name, sizeof(name), "blk.%d.attn_kv_b.weight", (int)i);
        if (gguf_tensor_named(keys->gguf, name))
            return false;
    }
    return true;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t d_shared;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_delta_net_heads(keys, hp, count_heads(hp));
    d_shared = graph_key_int(keys, "rope.dimension_count", 1, 1 << 16, 0);
    graph_keys_latent(keys, hp, d_shared, is_absorbed(keys, hp));
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    hp->routing.normed = true;
}

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

static void
find_delta_attention(struct model_loader *l, struct model_layer *layer)
{
    const struct model_ssm *s = &l->model->hp.ssm;
    int64_t e = l->model->hp.n_embd, n = s->d_inner, d = s->d_state;
    enum model_need bias = MODEL_OPTIONAL;

    find_convolved(l, layer);
    layer->ssm_f_a = graph_find_linear(l, ".ssm_f_a", e, d, bias);
    layer->ssm_f_b = graph_find_linear(l, ".ssm_f_b", d, n, bias);
    layer->ssm_g_a = graph_find_linear(l, ".ssm_g_a", e, d, bias);
    layer->ssm_g_b = graph_find_linear(l, ".ssm_g_b", d, n, bias);
    layer->ssm_beta = graph_find_linear(l, ".ssm_beta", e, s->n_head, bias);
    layer->ssm_a = graph_find_numbers(l, ".ssm_a", 1, s->n_head);
    layer->ssm_dt = graph_find_bias(l, ".ssm_dt", n, MODEL_REQUIRED);
    layer->ssm_norm = graph_find_norm(l, ".ssm_norm", d, bias);
    layer->attn_output = graph_find_linear(l, ".attn_output", n, e, bias);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs)
        find_delta_attention(l, layer);
    else
        graph_find_latent_attention(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_OPTIONAL);
}

/* ---- delta attention ---------------------------------------------------- */

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

/* d_state x n_head x n_tokens */
static struct ggml_tensor *
decays(struct graph *g, const struct model_layer *l, struct ggml_tensor *cur)
{
    const struct model_ssm *s = &g->model->hp.ssm;

    cur = graph_linear(g, cur, &l->ssm_f_a);
    cur = graph_linear(g, cur, &l->ssm_f_b);
    cur = ggml_softplus(g->ctx, ggml_add(g->ctx, cur, l->ssm_dt));
    cur = graph_heads(g, cur, s->d_state, s->n_head);
    return ggml_mul(g->ctx, cur, l->ssm_a);
}

static struct ggml_tensor *
recur(struct graph *g, int32_t layer, struct ggml_tensor *cur)
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
    cur = graph_linear(g, graph_wanted(g, layer, cur), &l->ssm_g_a);
    cur = ggml_sigmoid(g->ctx, graph_linear(g, cur, &l->ssm_g_b));
    x = ggml_reshape_3d(g->ctx, x, s->d_state, s->n_head, x->ne[1]);
    x = graph_norm(g, x, &l->ssm_norm);
    x = ggml_mul(g->ctx, ggml_reshape_2d(g->ctx, x, s->d_inner, cur->ne[1]),
                 cur);
    return graph_linear(g, x, &l->attn_output);
}

const struct model_arch graph_family_kimi_linear[] = {
    { .name = "kimi-linear",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = recur },
    { 0 },
};
