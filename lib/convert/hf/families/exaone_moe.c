/* exaone_moe.c - folders of K-EXAONE */
#include "convert/hf/families.h"

static const struct hf_name exaone_bias[] = {
    { "mlp.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};

/* As DeepSeek V3's, and windows. */
static void
keys_exaone(struct hf *h)
{
    convert_hf_keys_window(h);
    convert_hf_keys_deepseek3(h);
}

const struct hf_family convert_hf_family_exaone_moe[] = {
    { "ExaoneMoeForCausalLM", "exaone-moe",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_expert_names, convert_hf_dense_names,
                 convert_hf_shared_names, exaone_bias },
      .keys = keys_exaone, .full_every = 4, .full_at = 3 },
    { 0 },
};
