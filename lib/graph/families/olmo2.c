/* olmo2.c - OLMo 2 and 3: norms after the blocks, none before
 *
 * x = embed(ids)
 * x = x + norm(attention(x))           norm(q), norm(k) over all heads
 * x = x + norm(down(silu(gate(x)) * up(x)))     in each layer
 * logits = output(norm(x))
 *
 * OLMo 3 has a window in three of four layers, which turn unscaled. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_windows(keys, hp, 0, 4);
    graph_keys_rope_local(keys, hp, 0);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    graph_find_attention(l, layer, MODEL_OPTIONAL);
    graph_find_whole_norms(l, layer, MODEL_OPTIONAL);
    layer->attn_post_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    layer->ffn_post_norm =
        graph_find_norm(l, ".post_ffw_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch graph_family_olmo2[] = {
    { .name = "olmo2", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
