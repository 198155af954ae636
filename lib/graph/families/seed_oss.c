/* seed_oss.c - Seed-OSS: LLaMA with biases and longer heads
 *
 * x = embed(ids)
 * x = x + attention(norm(x))
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) */
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
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm =
        graph_find_norm(l, ".post_attention_norm", e, MODEL_OPTIONAL);
    graph_find_feed_forward(l, layer, true, MODEL_OPTIONAL);
}

const struct model_arch graph_family_seed_oss[] = {
    { .name = "seed_oss", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
