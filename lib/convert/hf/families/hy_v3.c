/* hy_v3.c - folders of Hunyuan 3 */
#include "convert/hf/families.h"

/* Names of the maker's folders, and of those that transformers makes. */
static const struct hf_name hy_mixture[] = {
    { "mlp.router.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mlp.expert_bias", "exp_probs_b", HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mlp.e_score_correction_bias", "exp_probs_b",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mlp.shared_mlp.gate_proj", "ffn_gate_shexp", HF_OPTIONAL },
    { "mlp.shared_mlp.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "mlp.shared_mlp.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { 0 },
};

static const struct hf_name hy_mtp_names[] = {
    { "eh_proj", "nextn.eh_proj", 0 },
    { "enorm", "nextn.enorm", 0 },
    { "hnorm", "nextn.hnorm", 0 },
    { "final_layernorm", "nextn.shared_head_norm", 0 },
    { 0 },
};
static const struct hf_mtp hy_mtp = { .names = hy_mtp_names };

static void
keys_hy(struct hf *h)
{
    convert_hf_keys_deepseek3(h);
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 1));
}

const struct hf_family convert_hf_family_hy_v3[] = {
    { "HYV3ForCausalLM", "hy_v3",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 hy_mixture, convert_hf_expert_names, convert_hf_dense_names,
                 convert_hf_shared_names },
      .epsilon = 1e-5, .mtp = &hy_mtp, .keys = keys_hy },
    { 0 },
};
