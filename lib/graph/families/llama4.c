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
#include "graph/arch.h"

enum {
    CHUNK = 8192,
    PERIOD = 4,
    EXPERTS_MAVERICK = 128, /* which has no norms of queries and keys */
};

/* A window of 0 says that all layers see all and turn. */
static void
read_chunks(struct model_keys *keys, struct model_hparams *hp)
{
    if (graph_key_int(keys, "attention.sliding_window", 0, 1 << 28, CHUNK) == 0)
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
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_rope_same(keys, hp);
    read_chunks(keys, hp);
    graph_keys_experts(keys, hp, true);
    hp->n_ff_shared = hp->n_ff_expert;
    hp->routing.gating = MODEL_GATING_SIGMOID;
    hp->routing.before = true;
    hp->mixture_step = graph_key_int(keys, "interleave_moe_layer_step", 1,
                                     MODEL_MAX_LAYERS, -1);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    if (!layer->windowed && l->model->hp.window > 0)
        layer->rope = NULL;
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    if (graph_mixes(&l->model->hp, l->layer))
        graph_find_shared_expert(l, layer, false);
}

static struct ggml_tensor *
turn(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_hparams *hp = &g->model->hp;

    x = graph_rope(g, layer, x);
    return hp->n_expert != EXPERTS_MAVERICK ? ggml_rms_norm(g->ctx, x, hp->eps)
                                            : x;
}

static struct ggml_tensor *
attention(struct graph *g, int32_t layer, struct ggml_tensor *cur)
{
    struct graph_heads h = graph_project(g, layer, cur);

    if (g->model->layers[layer].rope) {
        h.q = turn(g, layer, h.q);
        h.k = turn(g, layer, h.k);
    } else {
        h.q = graph_temper(g, h.q);
    }
    cur = graph_attention(g, layer, h.q, h.k, h.v);
    return graph_project_back(g, layer, cur);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g), *c;

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *l = &m->layers[i];

        c = attention(g, i, graph_norm(g, x, &l->attn_norm));
        x = graph_add(g, graph_wanted(g, i, x), c);
        c = graph_norm(g, x, &l->ffn_norm);
        x = graph_add(g, x, graph_mixture_or_dense(g, l, c));
        x = graph_steer(g, i, x);
    }
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_llama4[] = {
    { .name = "llama4",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph },
    { 0 },
};
