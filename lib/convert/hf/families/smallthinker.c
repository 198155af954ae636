/* smallthinker.c - folders of SmallThinker */
#include "convert/hf/families.h"

enum {
    SMALL_WINDOW = 4096,
    SMALL_PERIOD = 4, /* SmallThinker: the first of these sees all keys */
};

static const struct hf_name small[] = {
    { "block_sparse_moe.primary_router", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.experts.%d.gate", "ffn_gate_exps", 0 },
    { "block_sparse_moe.experts.%d.up", "ffn_up_exps", 0 },
    { "block_sparse_moe.experts.%d.down", "ffn_down_exps", 0 },
    { 0 },
};

/* A layer's number of such a list, if there is one. */
static bool
is_listed(struct hf *h, const char *name, int32_t layer, bool other)
{
    const json_t *list = convert_hf_layers_list(h, name);

    return list ? json_integer_value(json_array_get(list, (size_t)layer)) != 0
                : other;
}

/* Either all layers see all keys and turn, or those do that are not the first
 * of four have a window, and only they turn. */
static void
set_small_windows(struct hf *h)
{
    static const char windows[] = "sliding_window_layout";
    bool any = false, good = true;

    for (int32_t i = 0; i < h->n_layer; i++)
        any = any || is_listed(h, windows, i, false);
    for (int32_t i = 0; i < h->n_layer; i++) {
        bool windowed = any && i % SMALL_PERIOD;

        good = good && is_listed(h, windows, i, false) == windowed &&
               is_listed(h, "rope_layout", i, true) == (windowed || !any) &&
               is_listed(h, "moe_layer_layout", i, true);
    }
    if (!good)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "sliding_window_layout, rope_layout, moe_layer_layout: "
                      "smallthinker has other layers here");
    if (any) {
        convert_hf_must_be_int(h, "sliding_window_size", SMALL_WINDOW);
        convert_hf_set_u32(h, "attention.sliding_window", SMALL_WINDOW);
    }
}

static void
keys_small(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    bool softmax = core_json_bool(c, "moe_primary_router_apply_softmax", false);

    set_small_windows(h);
    h->n_ff = (int32_t)core_json_int(c, "moe_ffn_hidden_size", 1, HF_MAX_FF, 0);
    h->n_expert = (int32_t)core_json_int(c, "moe_num_primary_experts", 1,
                                         HF_MAX_EXPERTS, 0);
    convert_hf_set_u32(h, "expert_count", h->n_expert);
    convert_hf_set_u32(
        h, "expert_used_count",
        core_json_int(c, "moe_num_active_primary_experts", 1, HF_MAX_USED, 0));
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "expert_gating_func",
                       softmax ? HF_SOFTMAX : HF_SIGMOID);
    convert_hf_must_be(h, "moe_enable_early_router", true, true);
    convert_hf_must_be(h, "moe_enable_secondary_experts", false, false);
    convert_hf_must_be(h, "use_qk_norm", false, false);
    convert_hf_must_be_int(h, "moe_shared_primary_experts", 0);
}

const struct hf_family convert_hf_family_smallthinker[] = {
    { "SmallThinkerForCausalLM", "smallthinker",
      .layer = { convert_hf_attention, convert_hf_norms, small },
      .activations = "relu", .tied = true, .keys = keys_small },
    { 0 },
};
