/* llama4.c - folders of Llama 4 */
#include "convert/hf/families.h"

enum {
    LLAMA4_CHUNK = 8192, /* which files cannot say; nor the following */
    LLAMA4_EXPERTS_MAVERICK = 128,
};

/* Layers have experts and a shared one, or a block as others. */
static const struct hf_name llama4[] = {
    { "feed_forward.router", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "feed_forward.experts.gate_up_proj", "ffn_gate_exps.weight",
      HF_GATE_COLUMNS | HF_EXACT | HF_OPTIONAL },
    { "feed_forward.experts.gate_up_proj", "ffn_up_exps.weight",
      HF_UP_COLUMNS | HF_EXACT | HF_OPTIONAL },
    { "feed_forward.experts.down_proj", "ffn_down_exps.weight",
      HF_TRANSPOSE | HF_EXACT | HF_OPTIONAL },
    { "feed_forward.shared_expert.gate_proj", "ffn_gate_shexp", HF_OPTIONAL },
    { "feed_forward.shared_expert.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "feed_forward.shared_expert.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { "feed_forward.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "feed_forward.up_proj", "ffn_up", HF_OPTIONAL },
    { "feed_forward.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};

/* Every fourth layer does not turn; its queries have a temperature, if any
 * have. */
static void
check_llama4_layers(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "no_rope_layers");
    struct core_json_keys *c = &h->config;

    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_integer_value(json_array_get(list, i)) != (i % 4 != 3))
            core_json_bad(c, GG_ERR_UNSUPPORTED,
                          "no_rope_layers: llama4 has each fourth here");
    convert_hf_must_be_int(h, "no_rope_layer_interval", 4);
    convert_hf_must_be_int(h, "attention_chunk_size", LLAMA4_CHUNK);
    convert_hf_must_be_int(h, "floor_scale", LLAMA4_CHUNK);
    convert_hf_must_be(h, "attn_temperature_tuning", true, true);
    if (core_json_number(c, "attn_scale", 0, 1e3, 0.1) != 0.1)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "attn_scale: is 0.1 here");
}

/* intermediate_size is that of experts. */
static void
keys_llama4(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    check_llama4_layers(h);
    convert_hf_set_experts(h, 1);
    convert_hf_must_be(h, "use_qk_norm", h->n_expert != LLAMA4_EXPERTS_MAVERICK,
                       true);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    h->n_ff =
        (int32_t)core_json_int(c, "intermediate_size_mlp", 1, HF_MAX_FF, 16384);
    convert_hf_set_u32(
        h, "interleave_moe_layer_step",
        core_json_int(c, "interleave_moe_layer_step", 1, h->n_layer, 1));
}

const struct hf_family convert_hf_family_llama4[] = {
    { "Llama4ForCausalLM|Llama4ForConditionalGeneration", "llama4",
      .layer = { convert_hf_attention, convert_hf_norms, llama4 },
      .epsilon = 1e-5, .keys = keys_llama4, .full_every = 4, .full_at = 3,
      .windowed = "chunked_attention" },
    { 0 },
};
