/* glm4moe.c - folders of GLM 4.5 to 4.7 */
#include "convert/hf/families.h"

static const struct hf_name glm_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "self_attn.q_norm", "attn_q_norm", HF_OPTIONAL },
    { "self_attn.k_norm", "attn_k_norm", HF_OPTIONAL },
    { 0 },
};

const struct hf_family convert_hf_family_glm4moe[] = {
    { "Glm4MoeForCausalLM", "glm4moe",
      .layer = { convert_hf_attention, glm_norms, convert_hf_expert_names,
                 convert_hf_dense_names, convert_hf_shared_names },
      .mtp = &convert_hf_mtp, .keys = convert_hf_keys_deepseek3 },
    { 0 },
};
