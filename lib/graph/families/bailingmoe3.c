/* bailingmoe3.c - Ling 3: Kimi's delta attention in most layers, in the others
 * gated latent attention, with a gate a head
 *
 * x = embed(ids)
 * x = x + attention(c) or o(c), c = norm(x)     latent.c, delta_attention.c
 * x = x + mixture(c) + shared(c), c = norm(x)   the first layers are dense
 * logits = output(norm(x))
 *
 * Decays have a floor, and are of full rank, as are the gates of o; files hold
 * positive rates. The shared part of a latent key turns. Some layers have
 * min(silu(gate), limit) * clamp(up, -limit, limit). Experts as in DeepSeek V3.
 */
#include "graph/arch.h"

static void
check_gate(struct model_keys *keys)
{
    if (!graph_key_bool(keys, "kda.safe_gate", true))
        graph_key_refuse(keys, GG_ERR_UNSUPPORTED, "kda.safe_gate",
                         "false: decays have a floor here");
}

/* Files of models that see have sections, of pairs of halves; others turn
 * neighbours. */
static int
rope_mode(const struct model_keys *keys)
{
    struct gguf_array a = { .n = 0 };
    char key[MODEL_MAX_KEY];

    graph_key_name(keys, "rope.dimension_sections", key);
    if (gguf_get_array(keys->gguf, key, GGUF_TYPE_INT32, &a, NULL) == GG_OK &&
        a.n > 1 && gguf_array_i32(&a, 0) > 0 && gguf_array_i32(&a, 1) > 0)
        return GGML_ROPE_TYPE_NEOX;
    return GGML_ROPE_TYPE_NORMAL;
}

static void
hparams(struct model_keys *keys, struct model_hparams *hp)
{
    struct model_layer_hparams *l = hp->layers;

    graph_keys_common(keys, hp, MODEL_RMS_NORM);
    graph_keys_delta_attention(keys, hp);
    check_gate(keys);
    graph_keys_decay_floor(keys, hp, true);
    hp->ssm.positive = true;
    graph_keys_rope(keys, hp, rope_mode(keys));
    graph_keys_latent(keys, hp, hp->rope.n_rot, true);
    graph_keys_experts(keys, hp, true);
    graph_keys_shared_experts(keys, hp);
    if (hp->n_ff_shared == 0)
        hp->n_ff_shared = hp->n_ff_expert;
    graph_keys_routing(keys, hp, MODEL_GATING_SIGMOID);
    graph_keys_layer_floats(keys, "swiglu_clamp_exp", 0, 1e6f, &l->expert_limit,
                            sizeof(*l));
    graph_keys_layer_floats(keys, "swiglu_clamp_shexp", 0, 1e6f, &l->ff_limit,
                            sizeof(*l));
}

static void
layer_weights(struct model_loader *l, struct model_layer *layer)
{
    int64_t e = l->model->hp.n_embd;

    layer->attn_norm = graph_find_norm(l, ".attn_norm", e, MODEL_OPTIONAL);
    if (l->hp->recurs) {
        graph_find_delta_attention(l, layer);
    } else {
        graph_find_latent_attention(l, layer);
        graph_find_attention_gate(l, layer);
    }
    layer->ffn_norm = graph_find_norm(l, ".ffn_norm", e, MODEL_OPTIONAL);
    graph_find_mixture_or_dense(l, layer, true, MODEL_OPTIONAL);
    graph_find_choice_and_shared(l, layer, MODEL_REQUIRED);
}

const struct model_arch graph_family_bailingmoe3[] = {
    { .name = "bailingmoe3",
      .hparams = hparams,
      .layer = layer_weights,
      .recur = graph_delta_attention,
      .mtp = &graph_mtp_usual },
    { 0 },
};
