/* deci.c - DeciLM, Nemotron 51B and Ultra: LLaMA without what a search has
 * found to be of little use (Bercovich et al. 2024)
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           or x + matrix(norm(x)), or x
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x), or x     in each layer
 * logits = output(norm(x))
 *
 * A layer without keys and values has a matrix in place of attention, one
 * without heads has neither. A layer without a feed-forward block is left out.
 */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
}

/* Biases of what a layer has not got are of no use. */
static void
find_attention(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    if (l->hp->n_head > 0)
        layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->n_head_kv > 0) {
        graph_find_attention(l, layer, MODEL_OPTIONAL);
        return;
    }
    if (l->hp->n_head > 0) {
        layer->attn_output.weight =
            graph_find_matrix(l, ".attn_output", e, e, MODEL_REQUIRED);
        layer->attn_output.scale = 1;
    }
    graph_find_bias(l, ".attn_output", e, MODEL_OPTIONAL);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    find_attention(l, layer);
    if (l->hp->n_ff == 0) {
        graph_find_bias(l, ".ffn_down", e, MODEL_OPTIONAL);
        return;
    }
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

static struct ggml_tensor *
add_attention(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *a = graph_norm(g, x, &l->attn_norm);

    x = graph_wanted(g, layer, x);
    if (l->hp->n_head == 0)
        return x;
    a = l->hp->n_head_kv > 0 ? graph_self_attention(g, layer, a)
                             : graph_project_back(g, layer, a);
    return ggml_add(g->ctx, x, a);
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *c;

    if (l->hp->n_ff == 0)
        return graph_steer(g, layer, graph_wanted(g, layer, x));
    x = add_attention(g, layer, x);
    c = graph_norm(g, x, &l->ffn_norm);
    x = ggml_add(g->ctx, x, graph_feed_forward(g, l, c));
    return graph_steer(g, layer, x);
}

const struct model_arch graph_family_deci[] = {
    { .name = "deci",
      .hparams = hparams,
      .layer = layer_weights,
      .block = block,
      .partial_layers = true },
    { 0 },
};
