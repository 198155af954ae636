/* phi2.c - Phi 1 to 2: attention and feed-forward side by side
 *
 * x = embed(ids)
 * x = x + attention(c) + down(gelu(up(c))), c = norm(x)     in each layer
 * logits = output(norm(x)) + bias */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->activation = MODEL_GELU;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_REQUIRED);
    graph_find_attention(l, layer, MODEL_REQUIRED);
    graph_find_feed_forward(l, layer, false, MODEL_REQUIRED);
}

const struct model_arch graph_family_phi2[] = {
    { .name = "phi2",
      .norm_bias = true,
      .hparams = hparams,
      .layer = layer_weights,
      .block = graph_parallel_block },
    { 0 },
};
