/* kimi_k3.c - Kimi K3: Kimi's delta attention in most layers, in the others
 * gated latent attention without positions; layers read a mean of
 * earlier hidden vectors
 *
 * x = embed(ids)
 * c = mean(x, bank)                    before the first of every N
 *                                      layers x joins the bank and is 0 then
 * x = x + attention(norm(c)) or o(norm(c))      latent.c, delta_attention.c
 * c = norm(mean(x, bank))
 * x = x + up(norm(mixture(down(c)))) + shared(c)     the first layers are dense
 * logits = output(norm(mean(x, bank)))
 *
 * mean(x, bank) = sum w_i b_i, b the bank's and x, w = softmax(s . norm(b_i)),
 * with s of each place. All feed-forward vectors are gated by SiTU; decays may
 * have a floor, and files hold negative rates. */
#include "graph/arch.h"

static void
read_situ(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_situ *s = &hp->situ;

    s->gate = graph_key_float(keys, "activation.situ_beta", 1e-6f, 1e6f, -1);
    s->linear = graph_key_float(keys, "activation.situ_linear_beta", -1e6f,
                                1e6f, -1e7f);
    if (s->linear <= 0)
        s->linear = 0;
    hp->activation = MODEL_SITU;
}

static void
read_experts(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    if (hp->n_ff_shared == 0)
        hp->n_ff_shared = hp->n_ff_expert;
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    hp->n_embd_expert =
        graph_key_int(keys, "expert_latent_length", 0, MODEL_MAX_FF, 0);
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t d_shared;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_delta_attention(keys, hp);
    graph_keys_decay_floor(keys, hp, false);
    d_shared = graph_key_int(keys, "rope.dimension_count", 1, 1 << 16, 0);
    graph_keys_latent(keys, hp, d_shared, graph_is_absorbed(keys, hp));
    read_experts(keys, hp);
    read_situ(keys, hp);
    hp->bank_every =
        graph_key_int(keys, "attn_res.block_size", 0, MODEL_MAX_LAYERS, -1);
}

/* ---- tensors ------------------------------------------------------------ */

static void
find_mixture(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, n = l->model->hp.n_embd_expert;
    enum model_need bias = MODEL_OPTIONAL;

    graph_find_mixture(l, layer, bias);
    graph_find_choice(l, layer, MODEL_REQUIRED);
    if (n > 0) {
        layer->experts_in =
            graph_find_linear(l, ".ffn_routed_down", e, n, bias);
        layer->experts_out = graph_find_linear(l, ".ffn_routed_up", n, e, bias);
        layer->experts_out_norm =
            graph_find_norm_or_none(l, ".ffn_routed_norm", n, bias);
    }
    if (graph_peek(l, ".ffn_up_shexp"))
        graph_find_shared_expert(l, layer, false);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;
    enum model_need bias = MODEL_OPTIONAL;

    if (l->model->hp.bank_every > 0) {
        layer->attn_bank = graph_find_norm(l, ".attn_res_score", e, bias);
        layer->ffn_bank = graph_find_norm(l, ".ffn_res_score", e, bias);
    }
    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, bias);
    if (l->hp->recurs)
        graph_find_delta_attention(l, layer);
    else
        graph_find_latent_attention(l, layer);
    if (!l->hp->recurs && graph_peek(l, ".attn_gate"))
        graph_find_attention_gate(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, bias);
    if (graph_mixes(&l->model->hp, l->layer))
        find_mixture(l, layer);
    else
        graph_find_feed_forward(l, layer, true, bias);
}

static void
find_head(struct model_loader *l)
{
    struct model *m = l->model;

    graph_find_head(l);
    if (m->hp.bank_every > 0)
        m->output_bank = graph_find_norm(l, "output_res_score", m->hp.n_embd,
                                         MODEL_OPTIONAL);
}

/* ---- the bank ----------------------------------------------------------- */

/* The residual stream x, n_embd x ids, which is NULL where it begins anew; and
 * what the bank has of each id, n hidden vectors one after the other. */
struct stream {
    struct ggml_tensor *x, *bank;
    struct ggml_tensor *vectors; /* n_embd x n x ids */
    struct ggml_tensor *turned;  /* n x n_embd x ids */
};

static void
set_bank(struct graph *g, struct stream *s, struct ggml_tensor *bank)
{
    int64_t e = g->model->hp.n_embd;

    s->bank = bank;
    s->vectors = ggml_reshape_3d(g->ctx, bank, e, bank->ne[0] / e, bank->ne[1]);
    s->turned = ggml_cont(g->ctx, ggml_permute(g->ctx, s->vectors, 1, 0, 2, 3));
}

/* x joins the bank. */
static void
put_in_bank(struct graph *g, struct stream *s)
{
    set_bank(g, s, s->bank ? ggml_concat(g->ctx, s->bank, s->x, 0) : s->x);
    s->x = NULL;
}

/* One a vector: n x ids */
static struct ggml_tensor *
score(struct graph *g, struct ggml_tensor *x, const struct model_norm *norm,
      int64_t n)
{
    x = ggml_sum_rows(g->ctx, graph_norm(g, x, norm));
    return ggml_reshape_2d(g->ctx, x, n, ggml_nelements(x) / n);
}

/* n rows of p, from row `first` on: n x 1 x ids */
static struct ggml_tensor *
shares(struct graph *g, struct ggml_tensor *p, int64_t n, int64_t first)
{
    p = ggml_view_2d(g->ctx, p, n, p->ne[1], p->nb[1],
                     (size_t)first * p->nb[0]);
    return ggml_cont_3d(g->ctx, p, n, 1, p->ne[1]);
}

/* The mean of x and the bank's vectors, by scores of the norm. */
static struct ggml_tensor *
mean(struct graph *g, const struct stream *s, const struct model_norm *norm)
{
    int64_t n, ids = s->x->ne[1];
    struct ggml_tensor *p, *y, *own;

    if (!s->bank)
        return s->x;
    n = s->vectors->ne[1];
    p = ggml_concat(g->ctx, score(g, s->vectors, norm, n),
                    score(g, s->x, norm, 1), 0);
    p = ggml_soft_max(g->ctx, p);
    y = ggml_mul_mat(g->ctx, s->turned, shares(g, p, n, 0));
    y = ggml_reshape_2d(g->ctx, y, y->ne[0], ids);
    own = ggml_reshape_2d(g->ctx, shares(g, p, 1, n), 1, ids);
    return ggml_add(g->ctx, y, ggml_mul(g->ctx, s->x, own));
}

/* ---- layers ------------------------------------------------------------- */

/* The last layer has the wanted rows only; y is attention's result for them. */
static void
add_mixed(struct graph *g, int32_t layer, struct stream *s,
          struct ggml_tensor *y)
{
    struct ggml_tensor *bank = s->bank;

    s->x = s->x ? ggml_add(g->ctx, graph_wanted(g, layer, s->x), y) : y;
    if (bank)
        bank = graph_wanted(g, layer, bank);
    if (bank != s->bank)
        set_bank(g, s, bank);
}

static void
block(struct graph *g, int32_t layer, struct stream *s)
{
    const struct model_layer *l = &g->model->layers[layer];
    int32_t every = g->model->hp.bank_every;
    struct ggml_tensor *c;

    c = graph_norm(g, mean(g, s, &l->attn_bank), &l->attn_norm);
    if (every > 0 && layer % every == 0)
        put_in_bank(g, s);
    c = l->hp->recurs ? graph_delta_attention(g, layer, c)
                      : graph_latent_attention(g, layer, c);
    add_mixed(g, layer, s, c);
    c = graph_norm(g, mean(g, s, &l->ffn_bank), &l->ffn_norm);
    c = graph_mixture_or_dense(g, l, c);
    s->x = graph_steer(g, layer, ggml_add(g->ctx, s->x, c));
}

/* Vectors that the bank has before a layer. */
static int64_t
banked_before(const struct model_hparams *hp, int32_t layer)
{
    return hp->bank_every > 0 ? (layer + hp->bank_every - 1) / hp->bank_every
                              : 0;
}

/* Between processes the bank goes before x. */
static struct stream
enter(struct graph *g)
{
    struct ggml_tensor *x = graph_embed(g);
    int64_t e = g->model->hp.n_embd;
    int64_t n = e * banked_before(&g->model->hp, g->first);
    struct stream s = { 0 };

    if (n > 0)
        x = ggml_new_tensor_2d(g->ctx, x->type, n + e, x->ne[1]);
    s.x = x = graph_enter(g, x);
    if (n == 0)
        return s;
    s.x = ggml_view_2d(g->ctx, x, e, x->ne[1], x->nb[1], (size_t)n * x->nb[0]);
    s.x = ggml_cont(g->ctx, s.x);
    x = ggml_view_2d(g->ctx, x, n, x->ne[1], x->nb[1], 0);
    set_bank(g, &s, ggml_cont(g->ctx, x));
    return s;
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct stream s = enter(g);
    struct ggml_tensor *x;

    for (int32_t i = g->first; i < g->end; i++)
        block(g, i, &s);
    graph_leave(g, s.bank ? ggml_concat(g->ctx, s.bank, s.x, 0) : s.x);
    x = mean(g, &s, &m->output_bank);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_kimi_k3[] = {
    { .name = "kimi-k3",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .recur = graph_delta_attention,
      .head = find_head },
    { 0 },
};
