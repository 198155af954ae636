/* olmoe.c - folders of OLMoE (Muennighoff et al. 2024) */
#include "convert/hf/families.h"

static void
keys_olmoe(struct hf *h)
{
    convert_hf_set_experts(h, 8);
    convert_hf_must_be(h, "norm_topk_prob", false, false);
    if (core_json_find(&h->config, "clip_qkv"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "clip_qkv: olmoe clamps nothing here");
}

const struct hf_family convert_hf_family_olmoe[] = {
    { "OlmoeForCausalLM", "olmoe",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_expert_names },
      .keys = keys_olmoe },
    { 0 },
};
