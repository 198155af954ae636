/* step35.c - Step 3.5 and 3.7: a gate a head, limits of activations
 *
 * x = embed(ids)
 * x = x + attention(norm(x))           rope(norm(q)), rope(norm(k))
 * x = x + mixture(c) + shared(c), c = norm(x)     the first layers are dense;
 * logits = output(norm(x))                        experts as in DeepSeek V3
 *
 * Each head's answer is multiplied by sigmoid(gate(norm(x))). Windowed layers
 * have other numbers of heads and turn whole, by another base; of the others'
 * heads the first half turns. Some of the last layers have
 * min(silu(gate), limit) * clamp(up, -limit, limit). */
#include "graph/arch.h"

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_layer_hparams *l = hp->layers;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_rope(keys, hp, GGML_ROPE_TYPE_NEOX);
    graph_keys_rope_local(keys, hp, 0);
    hp->rope.n_freqs = hp->rope.n_rot / 2; /* the second half is 1 */
    hp->rope.n_rot = hp->rope.n_rot / 4 * 2;
    graph_keys_windows(keys, hp, 0, 0);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    graph_keys_layer_floats(keys, "swiglu_clamp_exp", 0, 1e6f, &l->expert_limit,
                            sizeof(*l));
    graph_keys_layer_floats(keys, "swiglu_clamp_shexp", 0, 1e6f, &l->ff_limit,
                            sizeof(*l));
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd, d = l->hp->d_key;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    graph_find_attention(l, layer, MODEL_OPTIONAL);
    layer->attn_q_norm =
        graph_find_norm_or_none(l, ".attn_q_norm", d, MODEL_OPTIONAL);
    layer->attn_k_norm =
        graph_find_norm_or_none(l, ".attn_k_norm", d, MODEL_OPTIONAL);
    graph_find_attention_gate(l, layer);
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_if_routed(l, layer);
    graph_find_choice(l, layer, MODEL_OPTIONAL);
    if (layer->router.weight && l->model->hp.n_ff_shared > 0)
        graph_find_shared_expert(l, layer, false);
}

const struct model_arch graph_family_step35[] = {
    { .name = "step35",
      .hparams = hparams,
      .layer = layer_weights,
      .mtp = &graph_mtp_raw },
    { 0 },
};
