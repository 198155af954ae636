/* dots1.c - folders of dots.llm1, Ling 2 and Ring 2 */
#include "convert/hf/families.h"

const struct hf_family convert_hf_family_dots1[] = {
    { "Dots1ForCausalLM", "dots1",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_expert_names, convert_hf_dense_names,
                 convert_hf_shared_names },
      .keys = convert_hf_keys_deepseek3 },
    { 0 },
};
