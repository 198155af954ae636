/* gemma.c - folders of Gemma */
#include "convert/hf/families.h"

const struct hf_family convert_hf_family_gemma[] = {
    { "GemmaForCausalLM", "gemma",
      .layer = { convert_hf_attention, convert_hf_norms_plus_1,
                 convert_hf_mlp },
      .whole = convert_hf_usual_plus_1, .activations = HF_GELU_TANH "|gelu",
      .tied = true },
    { 0 },
};
