/* bitnet.c - folders of BitNet b1.58 */
#include "convert/hf/families.h"

static const struct hf_name sub_norms[] = {
    { "self_attn.attn_sub_norm", "attn_sub_norm", 0 },
    { "mlp.ffn_sub_norm", "ffn_sub_norm", 0 },
    { 0 },
};

/* The library's activation where none is said is not that of files. */
static void
keys_bitnet(struct hf *h)
{
    if (!core_json_find(&h->config, "hidden_act"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "hidden_act: bitnet has silu here, not relu2");
}

const struct hf_family convert_hf_family_bitnet[] = {
    { "BitNetForCausalLM", "bitnet",
      .layer = { convert_hf_attention, convert_hf_norms, sub_norms,
                 convert_hf_mlp },
      .epsilon = 1e-5, .keys = keys_bitnet },
    { 0 },
};
