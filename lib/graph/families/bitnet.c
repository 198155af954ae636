/* bitnet.c - BitNet b1.58: weights of three values, norms before each matrix
 * (Ma et al. 2024)
 *
 * x = embed(ids)
 * x = x + output(norm(attention(norm(x))))
 * x = x + down(norm(silu(gate(c)) * up(c))), c = norm(x)     in each layer
 * logits = embed^T norm(x) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t out = (int64_t)l->hp->n_head * l->hp->d_value;

    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    layer->attn_sub_norm =
        graph_find_norm(l, ".attn_sub_norm", out, MODEL_OPTIONAL);
    layer->ffn_sub_norm =
        graph_find_norm(l, ".ffn_sub_norm", l->hp->n_ff, MODEL_OPTIONAL);
}

const struct model_arch graph_family_bitnet[] = {
    { .name = "bitnet", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
