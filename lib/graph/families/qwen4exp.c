/* qwen4exp.c - Qwen 4 experimental (Qwen 3.8 Flash Next): parallel residual
 * streams, embedded n-grams of ids, sparse attention
 *
 * s = embed(ids), n_stream times
 * s = s + ngrams(s, ids)               in front of one layer, ngrams.h
 * s = s + w y, y = attention(c) or o(c)            c, w of s, streams.h
 * s = s + w mixture(c)                 one of the experts shared; c, w of s
 * logits = output(c)
 *
 * attention: rope(norm(q)), rope(norm(k)); what a head gives times the sigmoid
 * of its gate, which is projected with its query. It reads what an indexer
 * chooses: block_index.h.
 *
 * o: Qwen's gated delta rule, gated by sigmoids: gated_delta.c. */
#include "graph/block_index.h"
#include "graph/ngrams.h"
#include "graph/streams.h"

enum {
    PERIOD = 4,
};

static void
read_qwen4exp(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_recurrent_layers(keys, hp, PERIOD);
    graph_keys_delta_net(keys, hp);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_interleaved_sections(hp);
    graph_keys_experts(keys, hp, true);
    graph_keys_low_rank_streams(keys, hp);
    graph_keys_ngrams(keys, hp);
    graph_keys_block_index(keys, hp);
    hp->gated_queries = true;
    hp->routing.normed = true;
    hp->ssm.sigmoid_gate = true;
}

static void
find_qwen4exp_layer(struct model_loader *l, struct model_layer *layer)
{
    layer->attn_hyper = graph_find_low_rank_streams(l, ".hc_attn", true);
    layer->ffn_hyper = graph_find_low_rank_streams(l, ".hc_ffn", true);
    if (l->model->hp.ngrams.n > 0 && l->layer == l->model->hp.ngrams.layer)
        graph_find_ngrams(l, layer);
    if (l->hp->recurs) {
        graph_find_gated_delta(l, layer);
    } else {
        graph_find_attention(l, layer, MODEL_OPTIONAL);
        graph_find_head_norms(l, layer, MODEL_OPTIONAL);
        graph_find_block_index(l, layer);
    }
    graph_find_mixture(l, layer, MODEL_OPTIONAL);
    graph_find_shared_expert(l, layer, true);
}

static void
find_qwen4exp_head(struct model_loader *l)
{
    l->model->output_hyper = graph_find_low_rank_streams(l, "output_hc", false);
    l->model->output = graph_find_output(l);
}

static struct ggml_tensor *
qwen4exp_layer(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct graph_connection c;
    struct ggml_tensor *y;

    if (l->ngrams.table)
        x = graph_add_ngrams(g, layer, x);
    c = graph_streams_read(g, &l->attn_hyper, x);
    if (l->hp->chosen)
        graph_choose_block_means(g, layer, c.c);
    y = l->hp->recurs ? graph_gated_delta(g, layer, c.c)
                      : graph_self_attention(g, layer, c.c);
    graph_streams_wanted(g, layer, &c);
    x = graph_streams_write(g, &l->attn_hyper, &c, y);
    c = graph_streams_read(g, &l->ffn_hyper, x);
    y = graph_mixture(g, l, c.c);
    return graph_streams_write(g, &l->ffn_hyper, &c, y);
}

static struct ggml_tensor *
qwen4exp_graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_streams_spread(g, graph_embed(g));

    (void)m;
    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = qwen4exp_layer(g, i, x);
    return graph_streams_finish(g, graph_leave(g, x));
}

const struct model_arch graph_family_qwen4exp[] = {
    { .name = "qwen4exp",
      .hparams = read_qwen4exp,
      .layer = find_qwen4exp_layer,
      .recur = graph_gated_delta,
      .graph = qwen4exp_graph,
      .head = find_qwen4exp_head },
    { 0 },
};
