/* kimi_linear.c - folders of Kimi Linear */
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 16,
};

/* Kimi Linear; the library saves a dense block by the name of a mixture. */
const struct hf_name convert_hf_kimi_mixture[] = {
    { "block_sparse_moe.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "block_sparse_moe.up_proj", "ffn_up", HF_OPTIONAL },
    { "block_sparse_moe.down_proj", "ffn_down", HF_OPTIONAL },
    { "block_sparse_moe.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "block_sparse_moe.gate.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "block_sparse_moe.experts.%d.w1", "ffn_gate_exps", HF_OPTIONAL },
    { "block_sparse_moe.experts.%d.w3", "ffn_up_exps", HF_OPTIONAL },
    { "block_sparse_moe.experts.%d.w2", "ffn_down_exps", HF_OPTIONAL },
    { "block_sparse_moe.shared_experts.gate_proj", "ffn_gate_shexp",
      HF_OPTIONAL },
    { "block_sparse_moe.shared_experts.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "block_sparse_moe.shared_experts.down_proj", "ffn_down_shexp",
      HF_OPTIONAL },
    { 0 },
};
/* Names of the delta attention; other layers have none of these. */
const struct hf_name convert_hf_kimi_delta[] = {
    { "self_attn.k_proj", "attn_k", HF_RECURRENT },
    { "self_attn.v_proj", "attn_v", HF_RECURRENT },
    { "self_attn.q_conv1d", "ssm_conv1d_q", HF_F32 | HF_RECURRENT },
    { "self_attn.k_conv1d", "ssm_conv1d_k", HF_F32 | HF_RECURRENT },
    { "self_attn.v_conv1d", "ssm_conv1d_v", HF_F32 | HF_RECURRENT },
    { "self_attn.f_a_proj", "ssm_f_a", HF_RECURRENT },
    { "self_attn.f_b_proj", "ssm_f_b", HF_RECURRENT },
    { "self_attn.g_a_proj", "ssm_g_a", HF_RECURRENT | HF_OPTIONAL },
    { "self_attn.g_b_proj", "ssm_g_b", HF_RECURRENT | HF_OPTIONAL },
    { "self_attn.b_proj", "ssm_beta", HF_RECURRENT },
    { "self_attn.A_log", "ssm_a",
      HF_EXACT | HF_F32 | HF_DECAYS | HF_RECURRENT },
    { "self_attn.dt_bias", "ssm_dt.bias", HF_EXACT | HF_F32 | HF_RECURRENT },
    { "self_attn.o_norm", "ssm_norm", HF_RECURRENT },
    { 0 },
};

/* Counted from 1 in the one object, or by name. */
static bool
has_attention(const json_t *full, const json_t *types, int32_t layer)
{
    const char *type = json_string_value(json_array_get(types, (size_t)layer));

    for (size_t i = 0; i < json_array_size(full); i++)
        if (json_integer_value(json_array_get(full, i)) == layer + 1)
            return true;
    return type && !strcmp(type, "full_attention");
}

static void
set_kimi_layers(struct hf *h, const json_t *linear)
{
    const json_t *full = json_object_get(linear, "full_attn_layers");
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));

    if (!full && !types)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "layer_types: is missing, and linear_attn_config");
    for (int32_t i = 0; heads && i < h->n_layer; i++)
        heads[i] = has_attention(full, types, i);
    convert_hf_set_layers(h, "attention.head_count_kv", GGUF_TYPE_INT32, heads);
}

static void
set_kimi_delta(struct hf *h)
{
    struct core_json_keys own = h->config;
    const json_t *linear =
        core_json_object_of(&h->config, "linear_attn_config");
    int64_t heads, d, conv;

    if (linear)
        own.object = linear;
    heads = core_json_int(&own, linear ? "num_heads" : "linear_num_heads", 1,
                          MAX_LENGTH, 32);
    d = core_json_int(&own, linear ? "head_dim" : "linear_head_dim", 1,
                      MAX_LENGTH, 128);
    conv = core_json_int(
        &own, linear ? "short_conv_kernel_size" : "linear_conv_kernel_dim", 1,
        HF_MAX_CONV, 4);
    if (own.status != GG_OK)
        h->config.status = own.status;
    else if (heads != h->n_head)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "linear_num_heads: %lld, not num_attention_heads",
                      (long long)heads);
    convert_hf_set_u32(h, "kda.head_dim", d);
    convert_hf_set_u32(h, "ssm.conv_kernel", conv);
    set_kimi_layers(h, linear);
}

void
convert_hf_keys_kimi(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    h->n_ctx = (int32_t)core_json_int(
        c, "model_max_length|max_position_embeddings", 1, HF_MAX_CTX, h->n_ctx);
    convert_hf_set_u32(h, "rope.dimension_count",
                       convert_hf_set_latent(h, true));
    if (!convert_hf_good(h))
        return;
    set_kimi_delta(h);
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        core_json_int(c, "moe_intermediate_size", 1, HF_MAX_FF, 0));
    convert_hf_set_u32(h, "expert_shared_count",
                       core_json_int(c, "num_shared_experts|n_shared_experts",
                                     0, HF_MAX_SHARED, 1));
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 1));
    convert_hf_must_be_int(h, "num_expert_group", 1);
    convert_hf_set_u32(h, "expert_gating_func", HF_SIGMOID);
    convert_hf_set_f32(h, "expert_weights_scale",
                       core_json_number(c, "routed_scaling_factor", 0, 1e6, 1));
}

static void
keys_kimi_linear(struct hf *h)
{
    convert_hf_keys_kimi(h);
    convert_hf_must_be(h, "moe_renormalize", true, true);
}

const struct hf_family convert_hf_family_kimi_linear[] = {
    { "KimiLinearForCausalLM", "kimi-linear",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_kimi_delta,
                 convert_hf_kimi_mixture, convert_hf_dense_names },
      .recurrent = "self_attn.A_log", .epsilon = 1e-5,
      .positions = true /* none */, .any_layers = true,
      .keys = keys_kimi_linear },
    { 0 },
};
