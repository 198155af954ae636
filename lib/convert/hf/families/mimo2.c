/* mimo2.c - folders of MiMo V2 */
#include "convert/hf/families.h"
#include "core/mem.h"

static const struct hf_name sinks[] = {
    { "self_attn.attention_sink_bias", "attn_sinks.weight",
      HF_EXACT | HF_OPTIONAL },
    { 0 },
};
static const char *const mimo_left[] = { "model.mtp.", NULL };

/* Before transformers knew the family its layers were listed by numbers. */
static void
set_mimo_layers(struct hf *h)
{
    const json_t *numbers = convert_hf_layers_list(h, "hybrid_layer_pattern");
    int64_t other = core_json_int(&h->config, "swa_num_key_value_heads", 1,
                                  HF_MAX_HEADS, 2 * (int64_t)h->n_head_kv);
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));

    for (int32_t i = 0; windowed && heads && i < h->n_layer; i++) {
        const json_t *v = json_array_get(numbers, (size_t)i);

        windowed[i] = convert_hf_is_windowed(
            h, i, v ? json_integer_value(v) == 1 : i > 0 && (i + 1) % 6 != 0);
        heads[i] = windowed[i] ? (int32_t)other : h->n_head_kv;
    }
    convert_hf_set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL,
                          windowed);
    convert_hf_set_layers(h, "attention.head_count_kv", GGUF_TYPE_INT32, heads);
}

/* sliding_window_size is that without the id itself. */
static void
set_mimo_window(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "sliding_window", 1, HF_MAX_CTX, 129);

    n = core_json_int(c, "sliding_window_size", 1, HF_MAX_CTX - 1, n - 1) + 1;
    convert_hf_set_u32(h, "attention.sliding_window", n);
}

static void
keys_mimo(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    set_mimo_layers(h);
    set_mimo_window(h);
    convert_hf_must_be_int(h, "swa_head_dim", h->d_head);
    convert_hf_must_be_int(h, "swa_num_attention_heads", h->n_head);
    convert_hf_must_be_int(
        h, "swa_v_head_dim",
        core_json_int(c, "v_head_dim", 1, HF_MAX_HEADS, h->d_head));
    convert_hf_set_f32(h, "attention.value_scale",
                       core_json_number(c, "attention_value_scale", 0, 1e6, 1));
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        core_json_int(c, "moe_intermediate_size", 1, HF_MAX_FF, 0));
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_must_be_int(h, "n_group", 1);
    if (core_json_number(c, "routed_scaling_factor", 0, 1e6, 1) != 1)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "routed_scaling_factor: is 1");
}

const struct hf_family convert_hf_family_mimo2[] = {
    { "MiMoV2FlashForCausalLM|MiMoV2ForCausalLM", "mimo2",
      .layer = { convert_hf_attention, convert_hf_norms, sinks,
                 convert_hf_any_experts },
      .epsilon = 1e-5, .keys = keys_mimo, .left_out = mimo_left,
      .listed = true },
    { 0 },
};
