/* bloom.c - BLOOM: ALiBi, layer norms, GELU
 *
 * x = norm(embed(ids))
 * x = x + attention(norm(x))           a bias that falls with the distance
 * x = x + down(gelu(up(norm(x))))      in each layer
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    hp->attn_max_bias = 8;
    hp->activation = MODEL_GELU;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, false, MODEL_REQUIRED);
}

static void
embedding(struct model_loader *l)
{
    struct model *m = l->model;

    m->embd_norm =
        graph_find_norm(l, "token_embd_norm", m->hp.n_embd, MODEL_REQUIRED);
}

static struct ggml_tensor *
graph(struct graph *g, const struct model *m)
{
    struct ggml_tensor *x = graph_embed_normed(g, &m->embd_norm);

    x = graph_enter(g, x);
    for (int32_t i = g->first; i < g->end; i++)
        x = graph_block(g, i, x);
    x = graph_leave(g, x);
    return graph_logits(g, graph_norm(g, x, &m->output_norm));
}

const struct model_arch graph_family_bloom[] = {
    { .name = "bloom",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights,
      .graph = graph,
      .embedding = embedding },
    { 0 },
};
