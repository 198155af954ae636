/* stablelm.c - folders of StableLM, Orion */
#include "convert/hf/families.h"

static const struct hf_name stablelm_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "ffn_norm", HF_OPTIONAL },
    { 0 },
};

static void
keys_stablelm(struct hf *h)
{
    convert_hf_must_be(h, "qk_layernorm", false, false);
}

static void
keys_orion(struct hf *h)
{
    h->n_ctx = (int32_t)core_json_int(
        &h->config,
        "max_sequence_length|max_position_embeddings|model_max_length", 1,
        HF_MAX_CTX, h->n_ctx);
}

const struct hf_family convert_hf_family_stablelm[] = {
    { "StableLmForCausalLM", "stablelm",
      .layer = { convert_hf_attention, stablelm_norms, convert_hf_mlp },
      .layer_norm = true, .keys = keys_stablelm },
    { "OrionForCausalLM", "orion",
      .layer = { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .layer_norm = true, .keys = keys_orion },
    { 0 },
};
