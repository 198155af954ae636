/* nemotron.c - folders of Nemotron, Jais 2, Arcee */
#include "convert/hf/families.h"

const struct hf_family convert_hf_family_nemotron[] = {
    { "ArceeForCausalLM", "arcee",
      .layer = { convert_hf_attention_pairs, convert_hf_norms,
                 convert_hf_up_down },
      .activations = "relu2" },
    { "Jais2ForCausalLM", "jais2",
      .layer = { convert_hf_attention, convert_hf_norms, convert_hf_up_down },
      .layer_norm = true, .activations = "relu2" },
    { "NemotronForCausalLM", "nemotron",
      .layer = { convert_hf_attention, convert_hf_norms_plus_1,
                 convert_hf_up_down },
      .whole = convert_hf_usual_plus_1, .layer_norm = true,
      .activations = "relu2" },
    { 0 },
};
