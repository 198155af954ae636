/* phi3.c - Phi 3 and 4: LLaMA with fused matrices and two sets of frequencies
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           other frequencies for long contexts
 * x = x + down(silu(gate(c)) * up(c)), c = norm(x)     in each layer
 * logits = output(norm(x)) */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_window(keys, hp);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, f = l->hp->n_ff;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    layer->ffn_up = graph_find_linear(l, ".ffn_up", e, 2 * f, MODEL_OPTIONAL);
    layer->ffn_down = graph_find_linear(l, ".ffn_down", f, e, MODEL_OPTIONAL);
}

const struct model_arch graph_family_phi3[] = {
    { .name = "phi3", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
