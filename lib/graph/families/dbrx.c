/* dbrx.c - DBRX: clamped queries, keys and values, layer norms without bias
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           queries and keys rotated by position
 * x = x + mixture(norm(x))             the best of softmax, to sum 1
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_LAYER_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    hp->qkv_clamp = graph_key_float(keys, "attention.clamp_kqv", 0, 1e6f, -1);
    graph_keys_experts(keys, hp, false);
    hp->routing.normed = true;
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm =
        graph_find_norm(l, ".attn_output_norm", e, MODEL_OPTIONAL);
    graph_find_mixture(l, layer, MODEL_OPTIONAL);
}

const struct model_arch graph_family_dbrx[] = {
    { .name = "dbrx", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
