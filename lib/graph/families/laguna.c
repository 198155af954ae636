/* laguna.c - Laguna (Poolside): attention gated by softplus, heads by layer
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k)); what it
 *                                      gives times softplus(gate(norm(x)))
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense;
 * logits = output(norm(x))             experts as in DeepSeek V3
 *
 * Of four layers all but the first see a window; these turn unscaled, by a base
 * and as many values of a head as the file says for them. */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_rope_local(keys, hp, 0);
    graph_keys_rotated_local(keys, hp, hp->rope.n_rot);
    graph_keys_windows_after(keys, hp, 0, 4);
    hp->gate_softplus = true;
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    if (hp->n_ff_shared == 0)
        hp->n_ff_shared = hp->n_ff_expert;
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    graph_find_block(l, layer, true, MODEL_OPTIONAL);
    graph_find_head_norms(l, layer, MODEL_OPTIONAL);
    graph_find_attention_gate(l, layer);
    graph_find_choice_and_shared(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_laguna[] = {
    { .name = "laguna", .hparams = hparams, .layer = layer_weights },
    { 0 },
};
