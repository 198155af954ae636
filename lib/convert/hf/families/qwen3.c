/* qwen3.c - folders of Qwen 3 */
#include "convert/hf/families.h"

const struct hf_family convert_hf_family_qwen3[] = {
    { "Qwen3ForCausalLM", "qwen3",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_mlp },
      .keys = convert_hf_keys_qwen3 },
    { "Qwen3VLForConditionalGeneration", "qwen3vl",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_mlp },
      .keys = convert_hf_keys_qwen3vl },
    { 0 },
};
