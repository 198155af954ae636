/* gptneox.c - GPT-NeoX and Pythia: two norms, side by side or one after the
 * other
 *
 * x = embed(ids)
 * x = x + attention(norm(x)) + down(gelu(up(norm'(x))))     in each layer
 * logits = output(norm(x))
 *
 * Without use_parallel_residual the second norm reads what attention added
 * to. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->activation = MODEL_GELU_ERF;
    hp->sequential = !graph_key_bool(keys, "use_parallel_residual", true);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    graph_find_attention(l, layer, MODEL_REQUIRED);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_REQUIRED);
    graph_find_feed_forward(l, layer, false, MODEL_REQUIRED);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g), *a, *f;

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *layer = &m->layers[i];

        a = graph_norm(g, x, &layer->attn_norm);
        a = graph_self_attention(g, i, a);
        x = graph_wanted(g, i, x);
        a = ggml_add(g->ctx, x, a);
        f = m->hp.sequential ? a : x;
        f = graph_norm(g, f, &layer->ffn_norm);
        f = graph_feed_forward(g, layer, f);
        x = graph_steer(g, i, ggml_add(g->ctx, a, f));
    }
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_gptneox[] = {
    { .name = "gptneox",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph },
    { 0 },
};
