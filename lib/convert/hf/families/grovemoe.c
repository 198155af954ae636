/* grovemoe.c - folders of GroveMoE (Wu et al. 2025) */
#include "convert/hf/families.h"

enum {
    GROVE_FF = 128,
};

static const struct hf_name groves[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", 0 },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", 0 },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", 0 },
    { "mlp.chunk_experts.%d.gate_proj", "ffn_gate_chexps", HF_HALF },
    { "mlp.chunk_experts.%d.up_proj", "ffn_up_chexps", HF_HALF },
    { "mlp.chunk_experts.%d.down_proj", "ffn_down_chexps", HF_HALF },
    { 0 },
};
static const char *const grove_left[] = { "mlp.expert_bias", NULL };

/* Pairs of experts have a small one, whose length is always 128; so is that of
 * heads. */
static void
keys_grove(struct hf *h)
{
    convert_hf_keys_qwen_moe(h, 8);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_set_u32(h, "expert_chunk_feed_forward_length", GROVE_FF);
    convert_hf_set_u32(h, "experts_per_group", 2);
    convert_hf_set_f32(h, "expert_group_scale", 0.05);
}

const struct hf_family convert_hf_family_grovemoe[] = {
    { "GroveMoeForCausalLM", "grovemoe",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 groves },
      .left_out = grove_left, .keys = keys_grove },
    { 0 },
};
