/* qwen2moe.c - folders of Qwen 1.5 and 2 with a mixture of experts, one of
 * them shared */
#include "convert/hf/families.h"

static const struct hf_name shared_expert[] = {
    { "mlp.shared_expert_gate", "ffn_gate_inp_shexp", HF_F32 },
    { "mlp.shared_expert.gate_proj", "ffn_gate_shexp", 0 },
    { "mlp.shared_expert.up_proj", "ffn_up_shexp", 0 },
    { "mlp.shared_expert.down_proj", "ffn_down_shexp", 0 },
    { 0 },
};

static void
keys_qwen2moe(struct hf *h)
{
    convert_hf_keys_qwen_moe(h, 4);
    convert_hf_must_be(h, "norm_topk_prob", false, false);
    convert_hf_set_u32(h, "expert_shared_feed_forward_length",
                       core_json_int(&h->config,
                                     "shared_expert_intermediate_size", 1,
                                     HF_MAX_FF, 0));
}

const struct hf_family convert_hf_family_qwen2moe[] = {
    { "Qwen2MoeForCausalLM", "qwen2moe",
      .layer = { convert_hf_attention, convert_hf_norms,
                 convert_hf_qwen_experts, shared_expert },
      .keys = keys_qwen2moe },
    { 0 },
};
