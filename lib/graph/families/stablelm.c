/* stablelm.c - StableLM, Orion: LLaMA with layer norms
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x))
 *
 * StableLM 2 12B norms each head of queries and keys by weights of its own, and
 * has no second norm: both blocks read what the first one gives. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
stablelm_layer(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, d = l->hp->d_key;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_q_norm =
        graph_find_norm_each(l, ".attn_q_norm", d, l->hp->n_head);
    layer->attn_k_norm =
        graph_find_norm_each(l, ".attn_k_norm", d, l->hp->n_head_kv);
    layer->ffn_norm =
        graph_find_norm_or_none(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

static struct ggml_tensor *
stablelm_graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed(g);

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = m->layers[i].ffn_norm.weight ? graph_block(g, i, x)
                                         : graph_parallel_block(g, i, x);
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_stablelm[] = {
    { .name = "orion", .norm_bias = true, .hparams = hparams },
    { .name = "stablelm",
      .norm_bias = true,
      .hparams = hparams,
      .layer = stablelm_layer,
      .graph = stablelm_graph },
    { 0 },
};
