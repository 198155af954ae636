/* gemma3n.c - Gemma 3n: parallel hidden vectors, of which one is computed
 *
 * x = [x0, match(P1 x0), ...]          x0 = sqrt(n_embd) embed(ids)
 * p = x + predict(x)                   n vectors from n, a = p[active]
 * c = norm(a)
 * y = (a + norm(attention(c)) + c + norm(R L c)) / sqrt(2)
 * y = y + norm(down(gelu(sparse(gate(d))) * up(d))), d = norm(y)
 * x = p + (y - a) correct(y)
 * x[1..] = x[1..] + norm(proj(gelu(gate(s x[active])) * e))    in each layer
 * logits = cap(output(norm(mean([x[0], match(U1 x[1]), ...]))))
 *
 * AltUp (Baykal et al. 2023) predicts the vectors that are not computed; LAuReL
 * (Menghani et al. 2024) adds a residual of low rank, R L; e are embeddings
 * that each layer has of its own. match() scales to x0's root mean square. The
 * last layers read the keys and values of those before them. */
#include <math.h>

#include "graph/arch.h"

enum {
    PERIOD = 5,       /* the last of N layers sees all keys */
    OWN_KEYS = 20,    /* layers with keys of their own, */
    N_SPARSE = 10,    /* and with sparse gates, where the file says neither */
    LAYER_EMBD = 256, /* as all models have, whose files do not say it */
    N_ALTUP = 4,
    MAX_LAYER_EMBD = 1 << 16,
    MAX_ALTUP = 16,
    MAX_RANK = 1 << 16,
};

/* 0.95 of a normal distribution lies below SPARSITY standard deviations. */
#define SPARSITY 1.6448536f
/* Mean squares below it count as it. */
#define LEAST_SQUARE 1e-5f

/* Where the file does not say it, the deviation is a sample's, of n - 1: so
 * compute the programs that do not read it, and nobody else writes such files.
 */
static float
usual_sparsity(const struct model_hparams *hp)
{
    float n = (float)hp->layers[0].n_ff;

    return n > 1 ? SPARSITY * sqrtf(n / (n - 1)) : SPARSITY;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    int32_t shared;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows(keys, hp, 0, PERIOD);
    graph_keys_rope_local(keys, hp, 10000);
    shared = hp->n_layer > OWN_KEYS ? hp->n_layer - OWN_KEYS : 0;
    graph_keys_shared(keys, hp, shared);
    graph_keys_sparsity(keys, hp, N_SPARSE, usual_sparsity(hp));
    hp->n_embd_layer = graph_key_int(keys, "embedding_length_per_layer_input",
                                     1, MAX_LAYER_EMBD, LAYER_EMBD);
    hp->n_altup =
        graph_key_int(keys, "altup.num_inputs", 2, MAX_ALTUP, N_ALTUP);
    hp->altup_active =
        graph_key_int(keys, "altup.active_idx", 0, hp->n_altup - 1, 0);
    hp->embd_scale = sqrtf((float)hp->n_embd);
    hp->activation = MODEL_GELU;
    hp->attn_scale = 1;
    hp->values_normed = true;
    hp->logit_softcap =
        graph_key_float(keys, "final_logit_softcapping", 0, 1e6f, 30);
}

/* ---- weights ------------------------------------------------------------- */

static void
embedding(struct model_loader *l)
{
    struct model *m = l->model;
    int64_t e = m->hp.n_embd, n = m->hp.n_altup - 1;

    graph_find_layer_embd(l);
    m->altup_proj = graph_find_matrices(l, "altup_proj", e, e, n);
    m->altup_unembd = graph_find_matrices(l, "altup_unembd_proj", e, e, n);
}

static void
find_altup(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, n = l->model->hp.n_altup;
    enum model_need bias = MODEL_OPTIONAL;

    layer->altup_router_norm =
        graph_find_norm(l, ".altup_router_norm", e, bias);
    layer->altup_router = graph_find_linear(l, ".altup_router", e, n, bias);
    layer->altup_predict =
        graph_find_linear(l, ".altup_predict_coef", n, n * n, bias);
    layer->altup_correct =
        graph_find_linear(l, ".altup_correct_coef", n, n, bias);
    layer->altup_scale =
        graph_find_vector(l, ".altup_correct_scale", e, MODEL_REQUIRED);
}

/* Its rank is what the file has. */
static int64_t
laurel_rank(const struct model_loader *l)
{
    const struct gguf_tensor *t =
        gguf_tensor_named(l->gguf, "blk.0.laurel_l.weight");

    return t && t->ne[1] <= MAX_RANK ? t->ne[1] : 64;
}

static void
find_laurel(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, rank = laurel_rank(l);
    enum model_need bias = MODEL_OPTIONAL;

    layer->laurel_left = graph_find_linear(l, ".laurel_l", e, rank, bias);
    layer->laurel_right = graph_find_linear(l, ".laurel_r", rank, e, bias);
    layer->laurel_norm = graph_find_norm(l, ".laurel_post_norm", e, bias);
}

/* No model that its maker has released has biases; llama.cpp leaves those of
 * queries out where a layer reads another's keys. */
static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
    if (l->hp->kv_layer != l->layer)
        layer->attn_q.bias = NULL;
    find_altup(l, layer);
    find_laurel(l, layer);
    graph_find_layer_embd_block(l, layer);
}

/* ---- parallel vectors: x is n_embd x n_altup x ids ----------------------- */

/* Vector i of each id. */
static struct ggml_tensor *
vector(struct graph *g, struct ggml_tensor *x, int32_t i)
{
    return ggml_cont(g->ctx, ggml_view_2d(g->ctx, x, x->ne[0], x->ne[2],
                                          x->nb[2], (size_t)i * x->nb[1]));
}

static struct ggml_tensor *
active(struct graph *g, struct ggml_tensor *x)
{
    return vector(g, x, g->model->hp.altup_active);
}

/* All but vector 0. */
static struct ggml_tensor *
others(struct graph *g, struct ggml_tensor *x)
{
    return ggml_view_3d(g->ctx, x, x->ne[0], x->ne[1] - 1, x->ne[2], x->nb[1],
                        x->nb[2], x->nb[1]);
}

/* `first`, n_embd x ids, in front of the others. */
static struct ggml_tensor *
join(struct graph *g, struct ggml_tensor *first, struct ggml_tensor *rest)
{
    first = ggml_reshape_3d(g->ctx, first, first->ne[0], 1, first->ne[1]);
    return ggml_concat(g->ctx, first, rest, 1);
}

static struct ggml_tensor *
wanted(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    int64_t e = x->ne[0], n = x->ne[1];

    x = ggml_reshape_2d(g->ctx, x, e * n, x->ne[2]);
    x = graph_wanted(g, layer, x);
    return ggml_reshape_3d(g->ctx, x, e, n, x->ne[1]);
}

static struct ggml_tensor *
mean_square(struct graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *sum = ggml_sum_rows(g->ctx, ggml_sqr(g->ctx, x));

    return ggml_scale(g->ctx, sum, 1 / (float)x->ne[0]);
}

/* y, n_embd x ids x n, times what gives it x's root mean square. */
static struct ggml_tensor *
match(struct graph *g, struct ggml_tensor *y, struct ggml_tensor *x)
{
    struct ggml_tensor *is = mean_square(g, y);

    is = ggml_sqrt(g->ctx, ggml_clamp(g->ctx, is, LEAST_SQUARE, INFINITY));
    y = ggml_mul(g->ctx, y, ggml_sqrt(g->ctx, mean_square(g, x)));
    return ggml_div(g->ctx, y, is);
}

/* Between n_embd x n x ids and n_embd x ids x n. */
static struct ggml_tensor *
swap(struct graph *g, struct ggml_tensor *x)
{
    return ggml_cont(g->ctx, ggml_permute(g->ctx, x, 0, 2, 1, 3));
}

static struct ggml_tensor *
spread(struct graph *g, struct ggml_tensor *x)
{
    const struct model *m = g->model;
    struct ggml_tensor *y;

    y = ggml_repeat_4d(g->ctx, x, x->ne[0], x->ne[1], m->hp.n_altup - 1, 1);
    y = ggml_mul_mat(g->ctx, m->altup_proj, y);
    return join(g, x, swap(g, match(g, y, x)));
}

static struct ggml_tensor *
gather(struct graph *g, struct ggml_tensor *x)
{
    struct ggml_tensor *sum = vector(g, x, 0), *y;

    y = ggml_mul_mat(g->ctx, g->model->altup_unembd, swap(g, others(g, x)));
    y = match(g, y, sum);
    for (int64_t i = 0; i < y->ne[2]; i++)
        sum = ggml_add(g->ctx, sum,
                       ggml_view_2d(g->ctx, y, y->ne[0], y->ne[1], y->nb[1],
                                    (size_t)i * y->nb[2]));
    return ggml_scale(g->ctx, sum, 1 / (float)x->ne[1]);
}

/* n_altup x ids */
static struct ggml_tensor *
modalities(struct graph *g, const struct model_layer *l, struct ggml_tensor *x)
{
    x = graph_norm(g, x, &l->altup_router_norm);
    x = ggml_scale(g->ctx, x, 1 / (float)x->ne[0]);
    return ggml_tanh(g->ctx, graph_linear(g, x, &l->altup_router));
}

static struct ggml_tensor *
predict(struct graph *g, const struct model_layer *l, struct ggml_tensor *x)
{
    struct ggml_tensor *c = modalities(g, l, active(g, x)), *turned;

    c = graph_linear(g, c, &l->altup_predict);
    c = ggml_reshape_3d(g->ctx, c, x->ne[1], x->ne[1], x->ne[2]);
    turned = ggml_cont(g->ctx, ggml_permute(g->ctx, x, 1, 0, 2, 3));
    return ggml_add(g->ctx, ggml_mul_mat(g->ctx, turned, c), x);
}

/* p: what was predicted; y: what the active vector has become. */
static struct ggml_tensor *
correct(struct graph *g, const struct model_layer *l, struct ggml_tensor *p,
        struct ggml_tensor *y)
{
    int64_t e = p->ne[0], n = p->ne[1], n_ids = p->ne[2];
    struct ggml_tensor *c = modalities(g, l, y), *more;

    c = graph_linear(g, c, &l->altup_correct);
    c = ggml_reshape_3d(g->ctx, ggml_scale_bias(g->ctx, c, 1, 1), 1, n, n_ids);
    more = ggml_sub(g->ctx, y, active(g, p));
    more = ggml_reshape_3d(g->ctx, more, e, 1, n_ids);
    more = ggml_repeat_4d(g->ctx, more, e, n, n_ids, 1);
    return ggml_add(g->ctx, ggml_mul(g->ctx, more, c), p);
}

/* ---- layers -------------------------------------------------------------- */

static struct ggml_tensor *
laurel(struct graph *g, const struct model_layer *l, struct ggml_tensor *x)
{
    struct ggml_tensor *y = graph_linear(g, x, &l->laurel_left);

    y = graph_linear(g, y, &l->laurel_right);
    return ggml_add(g->ctx, x, graph_norm(g, y, &l->laurel_norm));
}

/* The part of each gate that exceeds the mean by more than hp.sparsity standard
 * deviations. */
static struct ggml_tensor *
sparse(struct graph *g, const struct model_layer *l, struct ggml_tensor *x)
{
    float n = (float)x->ne[0];
    struct ggml_tensor *mean, *cut;

    if (!l->hp->sparse)
        return x;
    mean = ggml_scale(g->ctx, ggml_sum_rows(g->ctx, x), 1 / n);
    x = ggml_sub(g->ctx, x, mean);
    cut = ggml_sqrt(g->ctx, mean_square(g, x));
    cut = ggml_scale(g->ctx, cut, l->hp->sparsity);
    return ggml_relu(g->ctx, ggml_sub(g->ctx, x, cut));
}

static struct ggml_tensor *
feed_forward(struct graph *g, const struct model_layer *l,
             struct ggml_tensor *x)
{
    struct ggml_tensor *gate = graph_linear(g, x, &l->ffn_gate);
    struct ggml_tensor *up = graph_linear(g, x, &l->ffn_up);

    up = graph_gated(g, sparse(g, l, gate), up, MODEL_GELU);
    return graph_linear(g, up, &l->ffn_down);
}

/* The vector that the active one becomes. */
static struct ggml_tensor *
transform(struct graph *g, int32_t layer, struct ggml_tensor *a)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *c = graph_norm(g, a, &l->attn_norm), *y;

    y = graph_self_attention(g, layer, c);
    y = graph_norm(g, y, &l->attn_post_norm);
    y = ggml_add(g->ctx, graph_wanted(g, layer, a), y);
    c = laurel(g, l, graph_wanted(g, layer, c));
    y = ggml_scale(g->ctx, ggml_add(g->ctx, y, c), sqrtf(0.5f));
    c = feed_forward(g, l, graph_norm(g, y, &l->ffn_norm));
    return ggml_add(g->ctx, y, graph_norm(g, c, &l->ffn_post_norm));
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x,
      struct ggml_tensor *embedded)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *p = predict(g, l, x), *y;

    y = transform(g, layer, active(g, p));
    x = correct(g, l, wanted(g, layer, p), y);
    y = ggml_mul(g->ctx, active(g, x), l->altup_scale);
    y = graph_layer_embd(g, layer, y, embedded);
    y = ggml_reshape_3d(g->ctx, y, y->ne[0], 1, y->ne[1]);
    return join(g, vector(g, x, 0), ggml_add(g->ctx, others(g, x), y));
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);
    struct ggml_tensor *embedded = graph_embed_layers(g, x);

    x = spread(g, x);
    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_steer(g, i, block(g, i, x, embedded));
    x = graph_leave(g, x);
    x = gather(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_gemma3n[] = {
    { .name = "gemma3n",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .embedding = embedding },
    { 0 },
};
