/* gemma2.c - folders of Gemma 2 */
#include "convert/hf/families.h"

static void
keys_gemma2(struct hf *h)
{
    convert_hf_keys_gemma(h, 46);
    convert_hf_set_f32(
        h, "attn_logit_softcapping",
        core_json_number(&h->config, "attn_logit_softcapping", 0, 1e6, 0));
}

const struct hf_family convert_hf_family_gemma2[] = {
    { "Gemma2ForCausalLM", "gemma2",
      .layer = { convert_hf_attention, convert_hf_gemma2_norms,
                 convert_hf_mlp },
      .whole = convert_hf_usual_plus_1, .activations = HF_GELU_TANH,
      .tied = true, .keys = keys_gemma2, .full_every = 2, .full_at = 1 },
    { 0 },
};
