/* olmo2.c - folders of OLMo 2 and 3 */
#include "convert/hf/families.h"

const struct hf_family convert_hf_family_olmo2[] = {
    { "Olmo2ForCausalLM", "olmo2",
      .layer = { convert_hf_attention, convert_hf_head_norms,
                 convert_hf_post_norms, convert_hf_mlp } },
    { "Olmo3ForCausalLM", "olmo2",
      .layer = { convert_hf_attention, convert_hf_head_norms,
                 convert_hf_post_norms, convert_hf_mlp },
      .keys = convert_hf_keys_listed, .listed = true },
    { 0 },
};
