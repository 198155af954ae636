/* mellum.c - folders of Mellum 2 */
#include "convert/hf/families.h"

static void
keys_mellum(struct hf *h)
{
    convert_hf_keys_window(h);
    convert_hf_set_experts(h, 8);
    convert_hf_set_expert_length(h, "moe_intermediate_size");
    convert_hf_must_be(h, "norm_topk_prob", true, false);
}

const struct hf_family convert_hf_family_mellum[] = {
    { "MellumForCausalLM", "mellum",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_expert_names },
      .keys = keys_mellum, .windowed_base = -1, .full_every = 4, .full_at = 3 },
    { 0 },
};
