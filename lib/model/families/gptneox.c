/* gptneox.c - GPT-NeoX and Pythia: two norms, side by side or one after the
 * other
 *
 * x = embed(ids)
 * x = x + attention(norm(x)) + down(gelu(up(norm'(x))))     in each layer
 * logits = output(norm(x))
 *
 * Without use_parallel_residual the second norm reads what attention added
 * to. */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_LAYER_NORM);
    model_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->activation = MODEL_GELU_ERF;
    hp->sequential = !model_key_bool(keys, "use_parallel_residual", true);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = model_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    model_find_attention(l, layer, MODEL_REQUIRED);
    layer->ffn_norm = model_find_norm(l, ".ffn_norm", e, MODEL_REQUIRED);
    model_find_feed_forward(l, layer, false, MODEL_REQUIRED);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = model_graph_embed(g), *a, *f;

    x = model_graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++) {
        const struct model_layer *layer = &m->layers[i];

        a = model_graph_norm(g, x, &layer->attn_norm);
        a = model_graph_self_attention(g, i, a);
        x = model_graph_wanted(g, i, x);
        a = ggml_add(g->ctx, x, a);
        f = m->hp.sequential ? a : x;
        f = model_graph_norm(g, f, &layer->ffn_norm);
        f = model_graph_feed_forward(g, layer, f);
        x = model_graph_steer(g, i, ggml_add(g->ctx, a, f));
    }
    x = model_graph_leave(g, x);
    return model_graph_logits(g, model_graph_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_gptneox = {
    .name = "gptneox",
    .norm_bias = MODEL_REQUIRED,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = graph,
    .head = model_find_head,
};
