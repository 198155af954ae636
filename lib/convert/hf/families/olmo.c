/* olmo.c - folders of OLMo */
#include "convert/hf/families.h"

static const struct hf_name olmo_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};

static void
keys_olmo(struct hf *h)
{
    double clamp = core_json_number(&h->config, "clip_qkv", 0, 1e6, 0);

    if (clamp > 0)
        convert_hf_set_f32(h, "attention.clamp_kqv", clamp);
}

const struct hf_family convert_hf_family_olmo[] = {
    { "OlmoForCausalLM", "olmo",
      .layer = { convert_hf_attention_pairs, convert_hf_mlp },
      .whole = olmo_whole, .layer_norm = true, .keys = keys_olmo },
    { 0 },
};
