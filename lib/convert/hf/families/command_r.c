/* command_r.c - folders of Command R, Command R7B and A */
#include "convert/hf/families.h"

static const struct hf_name cohere_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attn.q_norm", "attn_q_norm", HF_F32 | HF_OPTIONAL },
    { "self_attn.k_norm", "attn_k_norm", HF_F32 | HF_OPTIONAL },
    { 0 },
};

static void
keys_cohere(struct hf *h)
{
    convert_hf_set_f32(
        h, "logit_scale",
        core_json_number(&h->config, "logit_scale", 0, 1e6, 0.0625));
}

static void
keys_cohere2(struct hf *h)
{
    keys_cohere(h);
    convert_hf_keys_window(h);
}

const struct hf_family convert_hf_family_command_r[] = {
    { "CohereForCausalLM", "command-r",
      .layer = { convert_hf_attention, cohere_norms, convert_hf_mlp },
      .layer_norm = true, .tied = true, .keys = keys_cohere },
    { "Cohere2ForCausalLM", "cohere2",
      .layer = { convert_hf_attention, convert_hf_one_norm, convert_hf_mlp },
      .layer_norm = true, .tied = true, .keys = keys_cohere2, .full_every = 4,
      .full_at = 3 },
    { 0 },
};
