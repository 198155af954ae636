/* step35.c - folders of Step 3.5 and 3.7 */
#include <stdlib.h>

#include "convert/hf/families.h"
#include "core/mem.h"

static const struct hf_name gate[] = {
    { "self_attn.g_proj", "attn_gate", 0 },
    { 0 },
};
static const struct hf_name step[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "ffn_norm", HF_PLUS_1 },
    { "self_attn.q_norm", "attn_q_norm", HF_PLUS_1 },
    { "self_attn.k_norm", "attn_k_norm", HF_PLUS_1 },
    { "moe.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "moe.router_bias", "exp_probs_b.bias", HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "moe.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "moe.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "moe.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { "share_expert.gate_proj", "ffn_gate_shexp", HF_OPTIONAL },
    { "share_expert.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "share_expert.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { "mlp.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "mlp.up_proj", "ffn_up", HF_OPTIONAL },
    { "mlp.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};
static const char *const step_left[] = { "vit_large_projector.", NULL };

/* A number for windowed layers and one for the others. */
static void
set_two(struct hf *h, const char *name, int64_t windowed, int64_t other)
{
    int32_t *x = mem_array((size_t)h->n_layer, sizeof(*x));

    for (int32_t i = 0; x && i < h->n_layer; i++)
        x[i] =
            (int32_t)(convert_hf_is_windowed(h, i, false) ? windowed : other);
    convert_hf_set_layers(h, name, GGUF_TYPE_INT32, x);
}

/* Since 2026 by a name; before by a second list of settings. */
static void
set_step_heads(struct hf *h)
{
    struct core_json_keys other = h->config;
    int64_t n, n_kv;

    other.object = core_json_object_of(&h->config, "attention_other_setting");
    n = core_json_int(&other, "num_attention_heads", 1, HF_MAX_HEADS,
                      h->n_head);
    n_kv = core_json_int(&other, "num_attention_groups", 1, HF_MAX_HEADS,
                         h->n_head_kv);
    n = core_json_int(&h->config, "num_sliding_attention_heads", 1,
                      HF_MAX_HEADS, n);
    if (other.status != GG_OK)
        h->config.status = other.status;
    set_two(h, "attention.head_count", n, h->n_head);
    set_two(h, "attention.head_count_kv", n_kv, h->n_head_kv);
}

/* null is no limit, as 0. */
static void
set_limits(struct hf *h, const char *from, const char *to)
{
    const json_t *list = core_json_array_of(&h->config, from);
    float *x = list ? mem_array((size_t)h->n_layer, sizeof(*x)) : NULL;

    if (!list)
        return;
    for (int32_t i = 0; x && i < h->n_layer; i++) {
        double v = json_number_value(json_array_get(list, (size_t)i));

        if (v < 0 || v > 1e6)
            core_json_bad(&h->config, GG_ERR_FORMAT, "%s: %g", from, v);
        else
            x[i] = (float)v;
    }
    convert_hf_set_layers(h, to, GGUF_TYPE_FLOAT32, x);
}

/* moe_layers_enum: "3,4,5". */
static int64_t
first_of_text(struct hf *h, int64_t other)
{
    const char *text = core_json_text(&h->config, "moe_layers_enum", NULL);
    long first = text ? strtol(text, NULL, 10) : other;

    if (first < 0 || first > h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT, "moe_layers_enum: %ld", first);
    return first;
}

static void
keys_step(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));

    for (int32_t i = 0; windowed && i < h->n_layer; i++)
        windowed[i] = convert_hf_is_windowed(h, i, false);
    convert_hf_set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL,
                          windowed);
    convert_hf_keys_window(h);
    set_step_heads(h);
    convert_hf_must_be_int(h, "query_pre_attn_scalar", h->d_head);
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        core_json_int(c, "moe_intermediate_size", 1, HF_MAX_FF, 0));
    convert_hf_set_u32(h, "expert_shared_feed_forward_length",
                       core_json_int(c, "share_expert_dim", 1, HF_MAX_FF, 0));
    convert_hf_set_u32(h, "leading_dense_block_count",
                       first_of_text(h, convert_hf_count_listed_dense(h)));
    convert_hf_set_u32(h, "expert_gating_func", HF_SIGMOID);
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "norm_expert_weight", true));
    convert_hf_set_f32(
        h, "expert_weights_scale",
        core_json_number(c, "moe_router_scaling_factor", 0, 1e6, 1));
    set_limits(h, "swiglu_limits", "swiglu_clamp_exp");
    set_limits(h, "swiglu_limits_shared", "swiglu_clamp_shexp");
}

const struct hf_family convert_hf_family_step35[] = {
    { "Step3p5ForCausalLM|Step3p7ForConditionalGeneration", "step35",
      .layer = { convert_hf_attention, gate, step },
      .whole = convert_hf_usual_plus_1, .epsilon = 1e-5, .keys = keys_step,
      .left_out = step_left, .listed = true, .half_turns = true, .turns = 0.5 },
    { 0 },
};
