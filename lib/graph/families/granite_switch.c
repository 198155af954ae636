/* granite_switch.c - Granite with adapters of low rank in each matrix, which
 * ids of their own switch on
 *
 * x = s_e embed(ids)                   in place of an id that switches, another
 * x = x + s_r attention(norm(x))       softmax(s_a q k)
 * x = x + s_r down(silu(gate(c)) * up(c)), c = norm(x)
 * logits = output(norm(x)) / s_l
 *
 * M(x) is W x + B_s A_s x in each of these, with the s of the id: of the
 * numbers of the adapters that ids up to its own have switched on the mean,
 * rounded; 0, of which A and B are 0: none has. One whole number of one adapter
 * that is switched on is what these models are made for. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    if (graph_key_bool(keys, "rope.scaling.finetuned", true))
        graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    hp->embd_scale = graph_key_float(keys, "embedding_scale", 0, 1e6f, 0);
    hp->residual_scale = graph_key_float(keys, "residual_scale", 0, 1e6f, 0);
    hp->attn_scale = graph_key_float(keys, "attention.scale", 0, 1e6f, 0);
    hp->logit_scale = 1 / graph_key_float(keys, "logit_scale", 1e-6f, 1e6f, -1);
    graph_keys_switches(keys, hp);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    const struct model_layer_hparams *hp = l->hp;
    int64_t e = l->model->hp.n_embd, q = (int64_t)hp->d_key * hp->n_head;
    int64_t k = (int64_t)hp->d_key * hp->n_head_kv;
    int64_t v = (int64_t)hp->d_value * hp->n_head_kv;
    int64_t a = (int64_t)hp->d_value * hp->n_head, f = hp->n_ff;
    struct model_switched *x = layer->switched;

    graph_find_usual_block(l, layer);
    x[MODEL_SWITCHED_Q] = graph_find_switched(l, ".attn_q", e, q);
    x[MODEL_SWITCHED_K] = graph_find_switched(l, ".attn_k", e, k);
    x[MODEL_SWITCHED_V] = graph_find_switched(l, ".attn_v", e, v);
    x[MODEL_SWITCHED_OUTPUT] = graph_find_switched(l, ".attn_output", a, e);
    x[MODEL_SWITCHED_GATE] = graph_find_switched(l, ".ffn_gate", e, f);
    x[MODEL_SWITCHED_UP] = graph_find_switched(l, ".ffn_up", e, f);
    x[MODEL_SWITCHED_DOWN] = graph_find_switched(l, ".ffn_down", f, e);
}

/* ids: of the columns of x, the adapters. */
static struct ggml_tensor *
low_rank(struct graph *g, int32_t layer, enum model_switched_place place,
         struct ggml_tensor *x, struct ggml_tensor *ids)
{
    const struct model_switched *s = &g->model->layers[layer].switched[place];
    struct ggml_tensor *y;

    ids = ggml_reshape_2d(g->ctx, ids, 1, x->ne[1]);
    y = ggml_reshape_3d(g->ctx, x, x->ne[0], 1, x->ne[1]);
    y = graph_product(g, ggml_mul_mat_id(g->ctx, s->a, y, ids));
    y = graph_product(g, ggml_mul_mat_id(g->ctx, s->b, y, ids));
    return ggml_reshape_2d(g->ctx, y, y->ne[0], x->ne[1]);
}

static struct ggml_tensor *
project(struct graph *g, int32_t layer, enum model_switched_place place,
        const struct model_linear *linear, struct ggml_tensor *x,
        struct ggml_tensor *ids)
{
    return ggml_add(g->ctx, graph_linear(g, x, linear),
                    low_rank(g, layer, place, x, ids));
}

/* Heads, and what the adapters add to them. */
static struct ggml_tensor *
add_to_heads(struct graph *g, int32_t layer, enum model_switched_place place,
             struct ggml_tensor *heads, struct ggml_tensor *cur)
{
    struct ggml_tensor *y = low_rank(g, layer, place, cur, g->switches);

    return ggml_add(
        g->ctx, heads,
        graph_heads(g, y, (int32_t)heads->ne[0], (int32_t)heads->ne[1]));
}

static struct ggml_tensor *
attend(struct graph *g, int32_t layer, struct ggml_tensor *cur,
       struct ggml_tensor *wanted)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct graph_heads h = graph_project(g, layer, cur);

    h.q = add_to_heads(g, layer, MODEL_SWITCHED_Q, h.q, cur);
    h.k = add_to_heads(g, layer, MODEL_SWITCHED_K, h.k, cur);
    h.v = add_to_heads(g, layer, MODEL_SWITCHED_V, h.v, cur);
    h = graph_turn(g, layer, h);
    cur = graph_attention(g, layer, h.q, h.k, h.v);
    return project(g, layer, MODEL_SWITCHED_OUTPUT, &l->attn_output,
                   graph_wanted(g, layer, cur), wanted);
}

static struct ggml_tensor *
feed_forward(struct graph *g, int32_t layer, struct ggml_tensor *cur,
             struct ggml_tensor *ids)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *gate, *up;

    gate = project(g, layer, MODEL_SWITCHED_GATE, &l->ffn_gate, cur, ids);
    up = project(g, layer, MODEL_SWITCHED_UP, &l->ffn_up, cur, ids);
    cur = graph_gated(g, gate, up, g->model->hp.activation);
    return project(g, layer, MODEL_SWITCHED_DOWN, &l->ffn_down, cur, ids);
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *ids =
        ggml_reshape_2d(g->ctx, g->switches, 1, g->n_tokens);
    struct ggml_tensor *wanted = graph_wanted(g, layer, ids);
    struct ggml_tensor *cur =
        attend(g, layer, graph_norm(g, x, &l->attn_norm), wanted);

    x = graph_add(g, graph_wanted(g, layer, x), cur);
    cur = feed_forward(g, layer, graph_norm(g, x, &l->ffn_norm), wanted);
    return graph_steer(g, layer, graph_add(g, x, cur));
}

static struct ggml_tensor *
switched_decoder(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_enter(g, graph_embed(g));

    for (int32_t i = g->first; i < g->end; i++)
        x = block(g, i, x);
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_granite_switch[] = {
    { .name = "graniteswitch",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = switched_decoder },
    { 0 },
};
