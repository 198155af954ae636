/* clip.c - what reads texts for CLIP (Radford et al. 2021) and SigLIP (Zhai et
 * al. 2023): vectors in a space that images share
 *
 * x = embed(ids) + position(pos)
 * x = x + attention(norm(x))
 * x = x + down(act(up(norm(x))))       in each layer
 * x = norm(x)
 *
 * A text's vector is that of its last id, times a matrix (dense_2). CLIP's ids
 * see those before them only; SigLIP's see all, and a text is padded up to the
 * context, so that the last id is always the same. */
#include "graph/arch.h"

static void
read_activation(struct model_keys *keys, struct model_hparams *hp)
{
    static const char key[] = "hidden_activation";

    hp->activation = graph_key_is(keys, key, "gelu") ? MODEL_GELU_ERF
                     : graph_key_is(keys, key, "gelu_pytorch_tanh")
                         ? MODEL_GELU
                         : MODEL_GELU_QUICK;
}

static void
text_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    read_activation(keys, hp);
    hp->learned_positions = true;
    hp->encoder = true;
}

static void
clip_hparams(struct model_keys *keys, struct model_hparams *hp)
{
    text_hparams(keys, hp);
    hp->one_way = true;
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
    return graph_norm(g, x, &m->output_norm);
}

const struct model_arch graph_family_clip[] = {
    { .name = "clip-text",
      .norm_bias = true,
      .hparams = clip_hparams,
      .layer = layer_weights,
      .graph = graph,
      .head = graph_find_output_norm },
    { .name = "siglip-text",
      .norm_bias = true,
      .hparams = text_hparams,
      .layer = layer_weights,
      .graph = graph,
      .head = graph_find_output_norm },
    { 0 },
};
