/* gemma3.c - folders of Gemma 3 */
#include "convert/hf/families.h"

static const struct hf_name gemma_head_norms[] = {
    { "self_attn.q_norm", "attn_q_norm", HF_PLUS_1 },
    { "self_attn.k_norm", "attn_k_norm", HF_PLUS_1 },
    { 0 },
};

/* Gemma3TextModel is an encoder, or Gemma 3 without what stands on top. */
static bool
sees_later_ids(struct core_json_keys *config)
{
    return core_json_bool(config, "use_bidirectional_attention", false);
}

static void
keys_gemma3(struct hf *h)
{
    convert_hf_keys_gemma(h, 62);
    convert_hf_must_be_int(h, "attn_logit_softcapping", 0);
    convert_hf_must_be_int(h, "sliding_window_pattern", 6);
    convert_hf_must_be(h, "use_bidirectional_attention", false, false);
}

/* An encoder; windows are half to each side. */
static void
keys_gemma_embedding(struct hf *h)
{
    convert_hf_keys_gemma(h, -1);
    convert_hf_must_be_int(h, "attn_logit_softcapping", 0);
    convert_hf_must_be_int(h, "sliding_window_pattern", 6);
    convert_hf_must_be(h, "use_bidirectional_attention", true, false);
    convert_hf_set_bool(h, "attention.causal", false);
}

const struct hf_family convert_hf_family_gemma3[] = {
    { "Gemma3ForCausalLM|Gemma3ForConditionalGeneration", "gemma3",
      .layer = { convert_hf_attention, gemma_head_norms,
                 convert_hf_gemma2_norms, convert_hf_mlp },
      .whole = convert_hf_usual_plus_1, .activations = HF_GELU_TANH,
      .tied = true, .keys = keys_gemma3, .full_every = 6, .full_at = 5,
      .windowed_base = 10000 },
    { "Gemma3TextModel", "gemma-embedding",
      .layer = { convert_hf_attention, gemma_head_norms,
                 convert_hf_gemma2_norms, convert_hf_mlp },
      .whole = convert_hf_usual_plus_1, .activations = HF_GELU_TANH,
      .encoder = true, .tied = true, .keys = keys_gemma_embedding,
      .counts = sees_later_ids, .full_every = 6, .full_at = 5,
      .windowed_base = 10000 },
    { 0 },
};
