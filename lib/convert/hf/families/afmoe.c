/* afmoe.c - folders of Trinity (Arcee) */
#include "convert/hf/families.h"

static const struct hf_name afmoe[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "pre_mlp_layernorm", "ffn_norm", 0 },
    { "post_mlp_layernorm", "post_ffw_norm", 0 },
    { "self_attn.gate_proj", "attn_gate", 0 },
    { "mlp.router.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mlp.expert_bias", "exp_probs_b.bias", HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};

static void
keys_afmoe(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_keys_window(h);
    convert_hf_must_be(h, "mup_enabled", true, false);
    convert_hf_must_be_int(h, "n_group", 1);
    convert_hf_set_experts(h, 8);
    convert_hf_set_expert_length(h, "moe_intermediate_size");
    convert_hf_set_u32(
        h, "expert_shared_count",
        core_json_int(c, "num_shared_experts", 0, HF_MAX_SHARED, 0));
    convert_hf_set_u32(h, "leading_dense_block_count",
                       core_json_int(c, "num_dense_layers", 0, h->n_layer, 0));
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "route_norm", true));
    convert_hf_set_u32(h, "expert_gating_func", HF_SIGMOID);
    convert_hf_set_f32(h, "expert_weights_scale",
                       core_json_number(c, "route_scale", 0, 1e6, 1));
}

const struct hf_family convert_hf_family_afmoe[] = {
    { "AfmoeForCausalLM", "afmoe",
      .layer = { convert_hf_attention, convert_hf_head_norms, afmoe,
                 convert_hf_expert_names, convert_hf_dense_names,
                 convert_hf_shared_names },
      .keys = keys_afmoe, .full_every = 4, .full_at = 3 },
    { 0 },
};
