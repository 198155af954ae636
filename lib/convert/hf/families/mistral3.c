/* mistral3.c - folders of Mistral 3, Ministral 3, Devstral 2 */
#include "convert/hf/families.h"

static void
keys_ministral3(struct hf *h)
{
    struct core_json_keys rope = h->config;

    rope.object = core_json_object_of(&h->config, "rope_parameters");
    convert_hf_set_f32(
        h, "attention.temperature_scale",
        core_json_number(&rope, "llama_4_scaling_beta", 0, 1e3, 0));
    if (rope.status != GG_OK)
        h->config.status = rope.status;
    convert_hf_must_be_int(h, "sliding_window", 0);
}

const struct hf_family convert_hf_family_mistral3[] = {
    { "Ministral3ForCausalLM", "mistral3", .plain_yarn = true,
      .layer = { convert_hf_attention_pairs, convert_hf_norms, convert_hf_mlp },
      .keys = keys_ministral3 },
    { 0 },
};
