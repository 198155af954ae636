/* gpt2.c - GPT-2, StarCoder: learned positions, layer norms, GELU
 *
 * x = embed(ids) + position(pos)
 * x = x + attention(norm(x))
 * x = x + down(gelu(up(norm(x))))      in each layer
 * logits = output(norm(x))
 *
 * StarCoder's queries share one head of keys and values (Shazeer 2019). */
#include "model/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    model_keys_common(keys, hp, MODEL_LAYER_NORM);
    hp->learned_positions = true;
    hp->activation = MODEL_GELU;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    model_find_block(l, layer, false, MODEL_REQUIRED);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x =
        ggml_add(g->ctx, model_graph_embed(g), model_graph_embed_positions(g));

    x = model_graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = model_graph_block(g, i, x);
    x = model_graph_leave(g, x);
    return model_graph_logits(g, model_graph_norm(g, x, &m->output_norm));
}

const struct model_arch model_arch_gpt2 = {
    .name = "gpt2",
    .norm_bias = MODEL_REQUIRED,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = graph,
    .head = model_find_head,
};

const struct model_arch model_arch_starcoder = {
    .name = "starcoder",
    .norm_bias = MODEL_REQUIRED,
    .hparams = hparams,
    .layer = layer_weights,
    .graph = graph,
    .head = model_find_head,
};
