/* t5encoder.c - T5's encoder (Raffel et al. 2020)
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           softmax(q k + bias(distance)), unscaled
 * x = x + down(act(up(norm(x))))       in each layer; in later versions
 *                                      down(gelu(gate(c)) * up(c))
 * x = norm(x)
 *
 * The first layer's biases serve those that have none. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    bool gated = gguf_tensor_named(keys->gguf, "enc.blk.0.ffn_gate.weight");

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    hp->n_bucket =
        graph_key_int(keys, "attention.relative_buckets_count", 4, 1 << 16, -1);
    hp->activation = gated ? MODEL_GELU : MODEL_RELU;
    hp->encoder = true;
}

static void
find_attention(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, n = l->hp->n_head;
    int64_t k = n * l->hp->d_key, v = n * l->hp->d_value;

    layer->attn_q = graph_find_linear(l, ".attn_q", e, k, MODEL_OPTIONAL);
    layer->attn_k = graph_find_linear(l, ".attn_k", e, k, MODEL_OPTIONAL);
    layer->attn_v = graph_find_linear(l, ".attn_v", e, v, MODEL_OPTIONAL);
    layer->attn_output = graph_find_linear(l, ".attn_o", v, e, MODEL_OPTIONAL);
    layer->attn_bias = graph_find_relative_bias(l, 0);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    bool gated = l->model->hp.activation == MODEL_GELU;
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    find_attention(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, gated, MODEL_OPTIONAL);
}

static void
head(struct model_loader *l)
{
    struct model *m = l->model;

    m->output_norm =
        graph_find_norm(l, "enc.output_norm", m->hp.n_embd, MODEL_OPTIONAL);
}

static struct ggml_tensor *
attention(struct graph *g, int32_t i, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[i];
    struct ggml_tensor *cur = graph_norm(g, x, &l->attn_norm);
    struct graph_heads h = graph_project(g, i, cur);

    cur = graph_relative_attention(g, h, l->attn_bias);
    return graph_project_back(g, i, cur);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g), *cur;

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *l = &m->layers[i];

        cur = attention(g, i, x);
        x = ggml_add(g->ctx, graph_wanted(g, i, x), cur);
        cur = graph_norm(g, x, &l->ffn_norm);
        x = ggml_add(g->ctx, x, graph_feed_forward(g, l, cur));
        x = graph_steer(g, i, x);
    }
    x = graph_leave(g, x);
    return graph_norm(g, x, &m->output_norm);
}

const struct model_arch graph_family_t5encoder[] = {
    { .name = "t5encoder",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .head = head,
      .stack = "enc." },
    { 0 },
};
