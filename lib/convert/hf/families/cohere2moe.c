/* cohere2moe.c - folders of Command A with experts */
#include <string.h>

#include "convert/hf/families.h"

/* Norms are to mean 0; which layers are windowed is listed, as a file's period
 * is another one. */
static void
keys_cohere(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *how = core_json_text(c, "expert_selection_fn", "softmax");

    convert_hf_keys_listed(h);
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "expert_gating_func",
                       strcmp(how, "sigmoid") ? HF_SOFTMAX : HF_SIGMOID);
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "norm_topk_prob", true));
    convert_hf_set_f32(h, "logit_scale",
                       core_json_number(c, "logit_scale", 0, 1e6, 0.0625));
    if (core_json_find(c, "rms_norm_eps"))
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "rms_norm_eps: norms are to mean 0 here");
    convert_hf_must_be_int(h, "num_shared_experts", 0);
    convert_hf_must_be_int(h, "prefix_dense_intermediate_size", 0);
}

const struct hf_family convert_hf_family_cohere2moe[] = {
    { "Cohere2MoeForCausalLM", "cohere2moe",
      .layer = { convert_hf_attention, convert_hf_one_norm,
                 convert_hf_expert_names },
      .layer_norm = true, .tied = true, .keys = keys_cohere, .listed = true },
    { 0 },
};
