/* minimax_m2.c - folders of MiniMax M2 */
#include "convert/hf/families.h"

static const struct hf_name block_sparse[] = {
    { "block_sparse_moe.gate", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "block_sparse_moe.experts.%d.w1", "ffn_gate_exps", 0 },
    { "block_sparse_moe.experts.%d.w3", "ffn_up_exps", 0 },
    { "block_sparse_moe.experts.%d.w2", "ffn_down_exps", 0 },
    { 0 },
};

static void
keys_minimax(struct hf *h)
{
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "expert_gating_func", HF_SIGMOID);
}

const struct hf_family convert_hf_family_minimax_m2[] = {
    { "MiniMaxM2ForCausalLM", "minimax-m2",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 block_sparse },
      .keys = keys_minimax },
    { 0 },
};
