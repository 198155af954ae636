/* qwen3moe.c - folders of Qwen 3 with a mixture of experts */
#include "convert/hf/families.h"

/* All experts in one; files of 2025 have inputs as rows, later ones as columns.
 */
static const struct hf_name experts[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "mlp.experts.gate_up_proj", "ffn_gate_exps.weight",
      HF_GATES_EITHER | HF_EXACT },
    { "mlp.experts.gate_up_proj", "ffn_up_exps.weight",
      HF_UPS_EITHER | HF_EXACT },
    { "mlp.experts.down_proj", "ffn_down_exps.weight", HF_EITHER | HF_EXACT },
    { 0 },
};

static void
keys_qwen3vlmoe(struct hf *h)
{
    convert_hf_keys_qwen_moe(h, 8);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_keys_qwen3vl(h);
}

static void
keys_qwen3moe(struct hf *h)
{
    convert_hf_keys_qwen_moe(h, 8);
    convert_hf_must_be(h, "norm_topk_prob", true, false);
}

const struct hf_family convert_hf_family_qwen3moe[] = {
    { "Qwen3MoeForCausalLM", "qwen3moe",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_qwen_experts },
      .keys = keys_qwen3moe },
    { "Qwen3VLMoeForConditionalGeneration", "qwen3vlmoe",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 experts },
      .keys = keys_qwen3vlmoe },
    { 0 },
};
