/* arctic.c - folders of Arctic */
#include "convert/hf/families.h"

static const struct hf_name arctic[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "residual_layernorm", "ffn_norm", 0 },
    { "residual_mlp.w1", "ffn_gate", 0 },
    { "residual_mlp.w3", "ffn_up", 0 },
    { "residual_mlp.w2", "ffn_down", 0 },
    { "post_attention_layernorm", "ffn_norm_exps", 0 },
    { "block_sparse_moe.gate", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.experts.%d.w1", "ffn_gate_exps", 0 },
    { "block_sparse_moe.experts.%d.w3", "ffn_up_exps", 0 },
    { "block_sparse_moe.experts.%d.w2", "ffn_down_exps", 0 },
    { 0 },
};

static void
keys_arctic(struct hf *h)
{
    convert_hf_set_experts(h, 2);
    convert_hf_must_be_int(h, "moe_layer_frequency", 1);
    convert_hf_must_be(h, "use_residual", true, false);
    convert_hf_must_be(h, "parallel_attn_mlp_res", true, false);
}

const struct hf_family convert_hf_family_arctic[] = {
    { "ArcticForCausalLM", "arctic",
      .layer = { convert_hf_attention_pairs, arctic }, .epsilon = 1e-5,
      .keys = keys_arctic },
    { 0 },
};
