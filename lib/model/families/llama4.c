/* llama4.c - Llama 4: chunks, layers without rope, inputs of experts weighed
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + mixture(c) + shared(c), c = norm(x)     each layer, or each other
 * logits = output(norm(x))
 *
 * Three of four layers turn, see the keys of their chunk, and have
 * norm(rope(q)), norm(rope(k)) without weights; the fourth sees all, its
 * queries by a temperature. Experts read c sigmoid(score). */
#include "model/arch.h"

enum {
    CHUNK = 8192,
    PERIOD = 4,
    EXPERTS_MAVERICK = 128, /* which has no norms of queries and keys */
};

/* A window of 0 says that all layers see all and turn. */
static void
read_chunks(struct model_keys *keys, struct model_hparams *hp)
{
    if (model_key_int(keys, "attention.sliding_window", 0, 1 << 28, CHUNK) == 0)
        return;
    hp->window = CHUNK;
    hp->window_kind = MODEL_WINDOW_CHUNKED;
    for (int32_t i = 0; i < hp->n_layer; i++)
        hp->layers[i].windowed = i % PERIOD != PERIOD - 1;
    hp->temperature_scale = 0.1f;
    hp->temperature_n = CHUNK;
    hp->temperature_offset = 1;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_RMS_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    model_keys_rope_same(keys, hp);
    read_chunks(keys, hp);
    model_keys_experts(keys, hp, true);
    hp->n_ff_shared = hp->n_ff_expert;
    hp->routing.gating = MODEL_GATING_SIGMOID;
    hp->routing.before = true;
    hp->mixture_step = model_key_int(keys, "interleave_moe_layer_step", 1,
                                     MODEL_MAX_LAYERS, -1);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    if (!layer->windowed && l->model->hp.window > 0)
        layer->rope = NULL;
    model_find_block(l, layer, true, MODEL_OPTIONAL);
    if (model_mixes(&l->model->hp, l->layer))
        model_find_shared_expert(l, layer, false);
}

static struct ggml_tensor *
turn(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;

    x = model_graph_rope(g, layer, x);
    return hp->n_expert != EXPERTS_MAVERICK ? ggml_rms_norm(g->ctx, x, hp->eps)
                                            : x;
}

static struct ggml_tensor *
attention(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    struct graph_heads h = model_graph_project(g, layer, cur);

    if (g->model->layers[layer].rope) {
        h.q = turn(g, layer, h.q);
        h.k = turn(g, layer, h.k);
    } else {
        h.q = model_graph_temper(g, h.q);
    }
    cur = model_graph_attention(g, layer, h.q, h.k, h.v);
    return model_graph_project_back(g, layer, cur);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g), *c;

    x = model_graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *l = &m->layers[i];

        c = attention(g, i, model_graph_norm(g, x, &l->attn_norm));
        x = model_graph_add(g, model_graph_wanted(g, i, x), c);
        c = model_graph_norm(g, x, &l->ffn_norm);
        x = model_graph_add(g, x, model_graph_mixture_or_dense(g, l, c));
        x = model_graph_steer(g, i, x);
    }
    x = model_graph_leave(g, x);
    return model_graph_logits(g, model_graph_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_llama4 = {
    .name = "llama4",
    .norm_bias = MODEL_OPTIONAL,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = graph,
    .head = model_find_head,
};
