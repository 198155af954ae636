/* smollm3.c - folders of SmolLM 3 */
#include "convert/hf/families.h"

/* Every fourth layer is without. */
static void
keys_smollm3(struct hf *h)
{
    const json_t *list = core_json_array_of(&h->config, "no_rope_layers");

    convert_hf_must_be_int(h, "no_rope_layer_interval", 4);
    convert_hf_must_be(h, "use_sliding_window", false, false);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_integer_value(json_array_get(list, i)) != (i % 4 != 3))
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "no_rope_layers: smollm3 has each fourth here");
}

const struct hf_family convert_hf_family_smollm3[] = {
    { "SmolLM3ForCausalLM", "smollm3",
      .layer = { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .tied = true, .keys = keys_smollm3 },
    { 0 },
};
