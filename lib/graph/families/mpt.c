/* mpt.c - MPT: ALiBi or learned positions, clamped queries, keys and values
 *
 * x = embed(ids), or embed(ids) + position(pos)
 * x = x + attention(norm(x))           a bias that falls with the distance
 * x = x + down(gelu(up(norm(x))))      in each layer
 * logits = output(norm(x))
 *
 * Most have no biases; some norm queries and keys, all heads together. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    hp->qkv_clamp = graph_key_float(keys, "attention.clamp_kqv", 0, 1e6f, 0);
    hp->attn_max_bias =
        graph_key_float(keys, "attention.max_alibi_bias", 0, 1e3f, 0);
    hp->learned_positions =
        gguf_tensor_named(keys->gguf, "position_embd.weight") != NULL;
    hp->activation = MODEL_GELU_ERF;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, false, MODEL_OPTIONAL);
    if (graph_peek(l, ".attn_q_norm"))
        graph_find_whole_norms(l, layer, MODEL_OPTIONAL);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);

    if (m->hp.learned_positions)
        x = ggml_add(g->ctx, x, graph_embed_positions(g));
    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_block(g, i, x);
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_mpt[] = {
    { .name = "mpt",
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph },
    { 0 },
};
