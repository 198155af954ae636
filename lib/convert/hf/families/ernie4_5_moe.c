/* ernie4_5_moe.c - folders of ERNIE 4.5 with experts */
#include "convert/hf/families.h"

static const struct hf_name ernie_bias[] = {
    { "mlp.moe_statics.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};

static void
keys_ernie(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_experts(h, 6);
    convert_hf_set_expert_length(h, "moe_intermediate_size");
    convert_hf_set_u32(
        h, "expert_shared_count",
        core_json_int(c, "moe_num_shared_experts", 0, HF_MAX_SHARED, 0));
    convert_hf_set_u32(
        h, "leading_dense_block_count",
        core_json_int(c, "moe_layer_start_index", 0, h->n_layer, 0));
    convert_hf_set_u32(
        h, "interleave_moe_layer_step",
        core_json_int(c, "moe_layer_interval", 1, h->n_layer, 1));
    convert_hf_must_be_int(h, "moe_layer_end_index", h->n_layer - 1);
}

const struct hf_family convert_hf_family_ernie4_5_moe[] = {
    { "Ernie4_5_MoeForCausalLM", "ernie4_5-moe",
      .layer = { convert_hf_attention, convert_hf_norms,
                 convert_hf_expert_names, ernie_bias, convert_hf_dense_names,
                 convert_hf_shared_names },
      .keys = keys_ernie },
    { 0 },
};
