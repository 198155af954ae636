/* blocks.c - attention and feed-forward blocks that families share */
#include "graph/arch.h"

/* ---- attention ---------------------------------------------------------- */

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

struct ggml_tensor *
graph_gate_attention(struct graph *g, const struct model_layer *l,
                     struct ggml_tensor *cur, struct ggml_tensor *x)
{
    if (!l->attn_gate.weight)
        return x;
    cur = graph_linear(g, cur, &l->attn_gate);
    cur = g->model->hp.gate_softplus ? ggml_softplus(g->ctx, cur)
                                     : ggml_sigmoid(g->ctx, cur);
    return multiply_heads(g, x, cur);
}

/* x is what attention gives of cur, and of h. */
static struct ggml_tensor *
gate_heads(struct graph *g, const struct model_layer *l,
           struct ggml_tensor *cur, const struct graph_heads *h,
           struct ggml_tensor *x)
{
    if (!h->gate)
        return graph_gate_attention(g, l, cur, x);
    cur = ggml_cont_2d(g->ctx, h->gate, x->ne[0], x->ne[1]);
    return ggml_mul(g->ctx, x, ggml_sigmoid(g->ctx, cur));
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
    if (l->hp->d_index > 0)
        graph_choose_blocks(g, layer, cur);
    h = graph_turn(g, layer, graph_project(g, layer, cur));
    x = graph_attention(g, layer, h.q, h.k, h.v);
    if (scale != 0)
        x = ggml_scale(g->ctx, x, scale);
    x = gate_heads(g, l, cur, &h, x);
    x = graph_norm(g, x, &l->attn_sub_norm);
    return graph_project_back(g, layer, x);
}

/* ---- feed-forward ------------------------------------------------------- */

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
    struct ggml_tensor *x = graph_enter(g, graph_embed(g));

    for (int32_t i = g->first; i < g->end; i++)
        x = m->arch->block ? m->arch->block(g, i, x) : graph_block(g, i, x);
    return finish(g, m, graph_leave(g, x));
}

/* ---- outside the layers ------------------------------------------------- */

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
    return hp->logit_softcap != 0 ? graph_softcap(g, x, hp->logit_softcap) : x;
}
