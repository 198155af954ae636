/* lfm2.c - folders of LFM2 and LFM2.5, with and without experts, and LFM3 */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

/* LFM2: convolutions between two gates. */
static const struct hf_name lfm_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.embedding_norm", "token_embd_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name lfm[] = {
    { "operator_norm", "attn_norm", 0 },
    { "ffn_norm", "ffn_norm", 0 },
    { "conv.in_proj", "shortconv.in_proj", HF_OPTIONAL },
    { "conv.out_proj", "shortconv.out_proj", HF_OPTIONAL },
    { "conv.conv.weight", "shortconv.conv.weight",
      HF_SQUEEZE | HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "conv.conv.bias", "shortconv.conv.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "self_attn.q_proj", "attn_q", HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.out_proj", "attn_output", HF_OPTIONAL },
    { "self_attn.q_layernorm", "attn_q_norm", HF_OPTIONAL },
    { "self_attn.k_layernorm", "attn_k_norm", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name lfm3[] = {
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { "self_attn.q_norm", "attn_q_norm", HF_OPTIONAL },
    { "self_attn.k_norm", "attn_k_norm", HF_OPTIONAL },
    { "self_attn.g_proj", "attn_gate", HF_OR_NEXT },
    { "self_attn.gate_proj", "attn_gate", HF_OPTIONAL },
    { "post_operator_norm", "post_attention_norm", HF_OPTIONAL },
    { "post_ffn_norm", "post_ffw_norm", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name lfm_ffn[] = {
    { "feed_forward.w1", "ffn_gate", HF_OPTIONAL },
    { "feed_forward.w3", "ffn_up", HF_OPTIONAL },
    { "feed_forward.w2", "ffn_down", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name lfm_mixture[] = {
    { "feed_forward.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "feed_forward.expert_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "feed_forward.experts.%d.w1", "ffn_gate_exps", HF_OPTIONAL },
    { "feed_forward.experts.%d.w3", "ffn_up_exps", HF_OPTIONAL },
    { "feed_forward.experts.%d.w2", "ffn_down_exps", HF_OPTIONAL },
    { 0 },
};

/* Whether it is a layer with attention. */
static bool
check_lfm_layer(struct hf *h, const char *type, bool windows)
{
    bool windowed = type && !strcmp(type, "sliding_attention");

    if (type && !strcmp(type, "full_attention"))
        return true;
    if (!type || (strcmp(type, "conv") != 0 && !(windowed && windows)))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "layer_types: '%.40s' is none of conv, full_attention%s",
                      type ? type : "", windows ? ", sliding_attention" : "");
    return windowed;
}

/* Layers with attention have keys and values. */
static void
set_lfm_layers(struct hf *h, bool windows)
{
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));
    char key[96];

    if (!types)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "layer_types: is missing");
    for (int32_t i = 0; heads && i < h->n_layer; i++) {
        const char *t = json_string_value(json_array_get(types, (size_t)i));

        heads[i] = types && check_lfm_layer(h, t, windows) ? h->n_head_kv : 0;
    }
    snprintf(key, sizeof(key), "%s.attention.head_count_kv", h->family->arch);
    convert_hf_set_list(h, key, GGUF_TYPE_INT32, heads);
    convert_hf_set_u32(h, "shortconv.l_cache",
                       convert_hf_number(h, "conv_L_cache", HF_MAX_CONV, 3));
}

/* The length of a feed-forward vector is two thirds of what is said, and more
 * up to a multiple. */
static void
keys_lfm(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    double times = core_json_number(c, "block_ffn_dim_multiplier", 0, 100, 1);
    int64_t of = convert_hf_number(h, "block_multiple_of", HF_MAX_FF, 256), n;

    n = convert_hf_number(h, "block_ff_dim|intermediate_size", HF_MAX_FF,
                          h->n_ff);
    if (core_json_bool(c, "block_auto_adjust_ff_dim", true)) {
        n = (int64_t)(times * (double)(2 * n / 3));
        n = (n + of - 1) / of * of;
    }
    h->n_ff = (int32_t)n;
    set_lfm_layers(h, false);
}

static void
keys_lfm3(struct hf *h)
{
    set_lfm_layers(h, true);
    convert_hf_keys_listed(h);
}

static void
keys_lfm_moe(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    set_lfm_layers(h, false);
    convert_hf_set_experts(h, 4);
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        convert_hf_number(h, "moe_intermediate_size", HF_MAX_FF, 1792));
    convert_hf_set_u32(h, "leading_dense_block_count",
                       core_json_int(c, "num_dense_layers", 0, h->n_layer, 2));
    convert_hf_set_u32(h, "expert_gating_func", 2); /* sigmoids */
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_must_be(h, "use_expert_bias", true, true);
    if (core_json_number(c, "routed_scaling_factor", 0, 1e6, 1) != 1)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "routed_scaling_factor: is 1 here");
}

const struct hf_family convert_hf_family_lfm2[] = {
    { "Lfm2ForCausalLM", "lfm2", .layer = { lfm, lfm_ffn }, .whole = lfm_whole,
      .epsilon = 1e-5, .tied = true, .any_layers = true, .keys = keys_lfm },
    { "Lfm2MoeForCausalLM", "lfm2moe", .layer = { lfm, lfm_ffn, lfm_mixture },
      .whole = lfm_whole, .epsilon = 1e-5, .tied = true, .any_layers = true,
      .keys = keys_lfm_moe },
    { "Lfm3ForCausalLM", "lfm3", .layer = { lfm, lfm3, lfm_ffn },
      .whole = lfm_whole, .epsilon = 1e-5, .tied = true, .any_layers = true,
      .windowed_base = 10000, .keys = keys_lfm3 },
    { 0 },
};
