/* laguna.c - folders of Laguna (Poolside) */
#include "convert/hf/families.h"
#include "core/mem.h"

static const struct hf_name gate[] = {
    { "self_attn.g_proj", "attn_gate", 0 },
    { 0 },
};

/* All but the first of four layers have a window, or none has. */
static void
set_laguna_windows(struct hf *h)
{
    int32_t n = 0, fit = 0;

    for (int32_t i = 0; i < h->n_layer; i++) {
        bool windowed = convert_hf_is_windowed(h, i, i % 4 != 0);

        n += windowed;
        fit += windowed == (i % 4 != 0);
    }
    if (n && fit < h->n_layer)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "layer_types: all but each fourth, from the first on, "
                      "have a window here");
    if (n)
        convert_hf_keys_window(h);
}

static void
set_laguna_heads(struct hf *h)
{
    const json_t *list =
        convert_hf_layers_list(h, "num_attention_heads_per_layer");
    int32_t *x = mem_array((size_t)h->n_layer, sizeof(*x));

    for (int32_t i = 0; x && i < h->n_layer; i++) {
        const json_t *v = json_array_get(list, (size_t)i);
        json_int_t n = v ? json_integer_value(v) : h->n_head;

        if (n < 1 || n > HF_MAX_HEADS)
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "num_attention_heads_per_layer: %lld", (long long)n);
        else
            x[i] = (int32_t)n;
    }
    convert_hf_set_layers(h, "attention.head_count", GGUF_TYPE_INT32, x);
}

static void
set_windowed_length(struct hf *h)
{
    struct core_json_keys rope = h->config;
    double part;

    rope.object =
        json_object_get(core_json_object_of(&h->config, "rope_parameters"),
                        "sliding_attention");
    part = core_json_number(&rope, "partial_rotary_factor", 0.001, 1, 1);
    if (rope.status != GG_OK)
        h->config.status = rope.status;
    convert_hf_set_u32(h, "rope.dimension_count_swa",
                       (int64_t)(part * h->d_head));
}

static void
keys_laguna(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    set_laguna_windows(h);
    set_laguna_heads(h);
    set_windowed_length(h);
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        core_json_int(c, "moe_intermediate_size", 1, HF_MAX_FF, 0));
    convert_hf_set_u32(
        h, "expert_shared_feed_forward_length",
        core_json_int(c, "shared_expert_intermediate_size", 1, HF_MAX_FF, 0));
    convert_hf_set_bool(h, "expert_weights_norm", true);
    convert_hf_set_f32(
        h, "expert_weights_scale",
        core_json_number(c, "moe_routed_scaling_factor", 0, 1e6, 1));
    convert_hf_set_u32(h, "expert_gating_func", HF_SIGMOID);
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_listed_dense(h));
    convert_hf_must_be(h, "moe_apply_router_weight_on_input", false, false);
    convert_hf_must_be_int(h, "moe_router_logit_softcapping", 0);
}

const struct hf_family convert_hf_family_laguna[] = {
    { "LagunaForCausalLM", "laguna",
      .layer = { convert_hf_attention, convert_hf_head_norms, gate,
                 convert_hf_norms, convert_hf_any_experts },
      .keys = keys_laguna, .listed = true },
    { 0 },
};
