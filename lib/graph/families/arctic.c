/* arctic.c - Arctic (Snowflake): a mixture next to each layer
 *
 * x = embed(ids)
 * y = x + attention(norm(x))
 * x = y + down(silu(gate(c)) * up(c)) + mixture(norm(x)), c = norm(y)
 * logits = output(norm(x))             of experts the best of softmax, to
 *                                      sum 1; each layer
 *
 * The feed-forward block is as wide as the hidden vector: the length that files
 * name is that of an expert. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_experts(keys, hp, false);
    if (keys->status == GG_OK && hp->n_expert == 0)
        graph_key_refuse(keys, GG_ERR_FORMAT, "expert_count", "is 0");
    hp->n_ff_expert = hp->layers[0].n_ff;
    if (keys->status == GG_OK && hp->n_ff_expert == 0)
        graph_key_refuse(keys, GG_ERR_FORMAT, "feed_forward_length", "is 0");
    hp->routing.normed = true;
    for (int32_t i = 0; i < hp->n_layer; i++)
        hp->layers[i].n_ff = hp->n_embd;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
    layer->experts_norm =
        graph_find_norm(l, ".ffn_norm_exps", e, MODEL_OPTIONAL);
}

static struct ggml_tensor *
block(struct graph *g, int32_t layer, struct ggml_tensor *x)
{
    const struct model_layer *l = &g->model->layers[layer];
    struct ggml_tensor *y, *m;

    y = graph_self_attention(g, layer, graph_norm(g, x, &l->attn_norm));
    x = graph_wanted(g, layer, x);
    y = ggml_add(g->ctx, x, y);
    m = graph_mixture(g, l, graph_norm(g, x, &l->experts_norm));
    x = graph_feed_forward(g, l, graph_norm(g, y, &l->ffn_norm));
    x = ggml_add(g->ctx, m, ggml_add(g->ctx, x, y));
    return graph_steer(g, layer, x);
}

const struct model_arch graph_family_arctic[] = {
    { .name = "arctic",
      .hparams = hparams,
      .layer = layer_weights,
      .block = block },
    { 0 },
};
