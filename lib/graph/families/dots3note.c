/* dots3note.c - dots3 note: latent attention of two kinds, one with an indexer
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           latent.c; layers with a window have
 *                                      other lengths and another base, the
 *                                      others an indexer
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense
 * logits = output(norm(x))
 *
 * The shared part of keys is normed before it is rotated; each head's answer is
 * multiplied by sigmoid(gate(norm(x))). Indexers rotate neighbours. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_rope_local(keys, hp, hp->rope.base);
    graph_keys_latent(keys, hp, hp->rope.n_rot, true);
    hp->latent.eps = hp->eps;
    graph_keys_windows(keys, hp, 0, 0);
    graph_keys_latent_local(keys, hp);
    graph_keys_indexer(keys, hp, GGML_ROPE_TYPE_NORMAL);
    graph_keys_indexer_types(keys, hp, "attention.indexer.types");
    graph_keys_experts(keys, hp, false);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t d = l->model->hp.latent.d_shared;

    graph_find_latent_block(l, layer);
    layer->attn_k_norm = graph_find_norm(l, ".attn_k_norm", d, MODEL_OPTIONAL);
    graph_find_attention_gate(l, layer);
    graph_find_indexer(l, layer);
}

const struct model_arch graph_family_dots3note[] = {
    { .name = "dots3note", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
