/* gpt2.c - GPT-2, StarCoder: learned positions, layer norms, GELU
 *
 * x = embed(ids) + position(pos)
 * x = x + attention(norm(x))
 * x = x + down(gelu(up(norm(x))))      in each layer
 * logits = output(norm(x))
 *
 * StarCoder's queries share one head of keys and values (Shazeer 2019). */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    hp->learned_positions = true;
    hp->activation = MODEL_GELU;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, false, MODEL_REQUIRED);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x =
        ggml_add(g->ctx, graph_embed(g), graph_embed_positions(g));

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_block(g, i, x);
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_gpt2[] = {
    { .name = "gpt2",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph },
    { .name = "starcoder",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph },
    { 0 },
};
