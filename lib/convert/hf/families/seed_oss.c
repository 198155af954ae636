/* seed_oss.c - folders of Seed-OSS */
#include "convert/hf/families.h"

static const struct hf_name seed_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { 0 },
};

const struct hf_family convert_hf_family_seed_oss[] = {
    { "SeedOssForCausalLM", "seed_oss",
      .layer = { convert_hf_attention, seed_norms, convert_hf_mlp } },
    { 0 },
};
