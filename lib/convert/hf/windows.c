/* windows.c - families whose windowed layers have other heads, angles or
 * tensors than those that see all: names there and here, and their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_CTX = 1 << 28,
    MAX_FF = 1 << 24,
    MAX_HEADS = 1 << 16,
    SIGMOID = 2, /* as lib/graph/hparams.h has it, counted from 1 */
};

/* ---- names --------------------------------------------------------------- */

static const struct hf_name experts[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mlp.gate.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mlp.experts.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { "mlp.shared_expert.gate_proj", "ffn_gate_shexp", HF_OPTIONAL },
    { "mlp.shared_expert.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "mlp.shared_expert.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { "mlp.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "mlp.up_proj", "ffn_up", HF_OPTIONAL },
    { "mlp.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name gate[] = {
    { "self_attn.g_proj", "attn_gate", 0 },
    { 0 },
};
static const struct hf_name sinks[] = {
    { "self_attn.attention_sink_bias", "attn_sinks.weight",
      HF_EXACT | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name muse[] = {
    { "self_attn.gate_proj", "attn_gate", 0 },
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "post_attention_norm", HF_PLUS_1 },
    { "pre_feedforward_layernorm", "ffn_norm", HF_PLUS_1 },
    { "post_feedforward_layernorm", "post_ffw_norm", HF_PLUS_1 },
    { 0 },
};

static const struct hf_name step_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", HF_PLUS_1 },
    { "lm_head", "output", HF_OPTIONAL },
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

/* What reads pictures, or guesses ids further on. */
static const char *const muse_left[] = { "vision_adapter.",
                                         "vision_projection.", NULL };
static const char *const mimo_left[] = { "model.mtp.", NULL };
static const char *const step_left[] = { "vit_large_projector.", NULL };

/* ---- keys ---------------------------------------------------------------- */

/* A key of the family. */
static void
set_layers(struct hf *h, const char *name, enum gguf_type type, void *x)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", h->family->arch, name);
    convert_hf_set_list(h, key, type, x);
}

static int64_t
count_dense(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "mlp_layer_types");
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *type = json_string_value(json_array_get(list, i));
        bool dense = type && !strcmp(type, "dense");

        if (dense && n < i)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "mlp_layer_types: layer %zu is dense, but not those "
                          "before it",
                          i);
        n += dense;
    }
    return (int64_t)n;
}

/* ---- Laguna -------------------------------------------------------------- */

/* Of four layers all but the first have a window, or none has. */
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

        if (n < 1 || n > MAX_HEADS)
            core_json_bad(&h->config, GG_ERR_FORMAT,
                          "num_attention_heads_per_layer: %lld", (long long)n);
        else
            x[i] = (int32_t)n;
    }
    set_layers(h, "attention.head_count", GGUF_TYPE_INT32, x);
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
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       core_json_int(c, "moe_intermediate_size", 1, MAX_FF, 0));
    convert_hf_set_u32(
        h, "expert_shared_feed_forward_length",
        core_json_int(c, "shared_expert_intermediate_size", 1, MAX_FF, 0));
    convert_hf_set_bool(h, "expert_weights_norm", true);
    convert_hf_set_f32(
        h, "expert_weights_scale",
        core_json_number(c, "moe_routed_scaling_factor", 0, 1e6, 1));
    convert_hf_set_u32(h, "expert_gating_func", SIGMOID);
    convert_hf_set_u32(h, "leading_dense_block_count", count_dense(h));
    convert_hf_must_be(h, "moe_apply_router_weight_on_input", false, false);
    convert_hf_must_be_int(h, "moe_router_logit_softcapping", 0);
}

/* ---- MiMo V2 ------------------------------------------------------------- */

/* Before transformers knew the family its layers were listed by numbers. */
static void
set_mimo_layers(struct hf *h)
{
    const json_t *numbers = convert_hf_layers_list(h, "hybrid_layer_pattern");
    int64_t other = core_json_int(&h->config, "swa_num_key_value_heads", 1,
                                  MAX_HEADS, 2 * (int64_t)h->n_head_kv);
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));

    for (int32_t i = 0; windowed && heads && i < h->n_layer; i++) {
        const json_t *v = json_array_get(numbers, (size_t)i);

        windowed[i] = convert_hf_is_windowed(
            h, i, v ? json_integer_value(v) == 1 : i > 0 && (i + 1) % 6 != 0);
        heads[i] = windowed[i] ? (int32_t)other : h->n_head_kv;
    }
    set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL, windowed);
    set_layers(h, "attention.head_count_kv", GGUF_TYPE_INT32, heads);
}

/* sliding_window_size is that without the id itself. */
static void
set_mimo_window(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "sliding_window", 1, MAX_CTX, 129);

    n = core_json_int(c, "sliding_window_size", 1, MAX_CTX - 1, n - 1) + 1;
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
        core_json_int(c, "v_head_dim", 1, MAX_HEADS, h->d_head));
    convert_hf_set_f32(h, "attention.value_scale",
                       core_json_number(c, "attention_value_scale", 0, 1e6, 1));
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       core_json_int(c, "moe_intermediate_size", 1, MAX_FF, 0));
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_must_be_int(h, "n_group", 1);
    if (core_json_number(c, "routed_scaling_factor", 0, 1e6, 1) != 1)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "routed_scaling_factor: is 1");
}

/* ---- Step 3.5 ------------------------------------------------------------ */

/* A number for windowed layers and one for the others. */
static void
set_two(struct hf *h, const char *name, int64_t windowed, int64_t other)
{
    int32_t *x = mem_array((size_t)h->n_layer, sizeof(*x));

    for (int32_t i = 0; x && i < h->n_layer; i++)
        x[i] =
            (int32_t)(convert_hf_is_windowed(h, i, false) ? windowed : other);
    set_layers(h, name, GGUF_TYPE_INT32, x);
}

/* Since 2026 by a name; before by a second list of settings. */
static void
set_step_heads(struct hf *h)
{
    struct core_json_keys other = h->config;
    int64_t n, n_kv;

    other.object = core_json_object_of(&h->config, "attention_other_setting");
    n = core_json_int(&other, "num_attention_heads", 1, MAX_HEADS, h->n_head);
    n_kv = core_json_int(&other, "num_attention_groups", 1, MAX_HEADS,
                         h->n_head_kv);
    n = core_json_int(&h->config, "num_sliding_attention_heads", 1, MAX_HEADS,
                      n);
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
    set_layers(h, to, GGUF_TYPE_FLOAT32, x);
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
    set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL, windowed);
    convert_hf_keys_window(h);
    set_step_heads(h);
    convert_hf_must_be_int(h, "query_pre_attn_scalar", h->d_head);
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       core_json_int(c, "moe_intermediate_size", 1, MAX_FF, 0));
    convert_hf_set_u32(h, "expert_shared_feed_forward_length",
                       core_json_int(c, "share_expert_dim", 1, MAX_FF, 0));
    convert_hf_set_u32(h, "leading_dense_block_count",
                       first_of_text(h, count_dense(h)));
    convert_hf_set_u32(h, "expert_gating_func", SIGMOID);
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "norm_expert_weight", true));
    convert_hf_set_f32(
        h, "expert_weights_scale",
        core_json_number(c, "moe_router_scaling_factor", 0, 1e6, 1));
    set_limits(h, "swiglu_limits", "swiglu_clamp_exp");
    set_limits(h, "swiglu_limits_shared", "swiglu_clamp_shexp");
}

/* ---- Muse Glimmer -------------------------------------------------------- */

/* Queries and keys are normed without weights, then queries are scaled: here
 * the norms have these as their weights. */
static void
add_norms(struct hf *h, const char *to, float scale)
{
    for (int32_t i = 0; i < h->n_layer && convert_hf_good(h); i++) {
        int64_t ne[GGML_MAX_DIMS] = { h->d_head, 1, 1, 1 };
        float *x = mem_array((size_t)h->d_head, sizeof(*x));
        struct hf_rows rows = {
            .made = x, .n_rows = 1, .n_blocks = 1, .length = h->d_head
        };
        char name[64];

        for (int32_t k = 0; x && k < h->d_head; k++)
            x[k] = scale;
        snprintf(name, sizeof(name), "blk.%d.%s.weight", (int)i, to);
        if (x)
            convert_hf_add(h, name, GGML_TYPE_F32, ne, &rows);
        else
            h->config.status = error_nomem(h->config.err);
    }
}

/* The layers with a window are those that turn; counted from the last, each
 * fourth does not. */
static void
set_muse_windows(struct hf *h)
{
    const json_t *bases = convert_hf_layers_list(h, "layer_rope_theta");
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));

    for (int32_t i = 0; windowed && i < h->n_layer; i++) {
        const json_t *base = json_array_get(bases, (size_t)i);

        windowed[i] =
            convert_hf_is_windowed(h, i, (h->n_layer - 1 - i) % 4 != 0);
        if (base && (json_number_value(base) != 0) != windowed[i])
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_rope_theta: those with a window turn, the "
                          "others do not");
    }
    set_layers(h, "attention.sliding_window_pattern", GGUF_TYPE_BOOL, windowed);
    convert_hf_keys_window(h);
}

static void
keys_muse(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    set_muse_windows(h);
    convert_hf_set_f32(
        h, "final_logit_softcapping",
        core_json_number(c, "final_logit_softcapping", 1e-3, 1e6, 20));
    convert_hf_set_f32(h, "logit_scale",
                       core_json_number(c, "output_multiplier", 1e-6, 1e6,
                                        0.19611613513818404));
    if (core_json_number(c, "post_norm_eps", 0, 1, 1e-8) != 1e-8)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "post_norm_eps: is 1e-8 here");
    if (h->weighed) {
        double scale = core_json_number(c, "qk_scale_factor", 0, 1e6, 3.87);

        add_norms(h, "attn_q_norm", (float)scale);
        add_norms(h, "attn_k_norm", 1);
    }
}

/* ---- the table ----------------------------------------------------------- */

#define MIMO                                                                   \
    "mimo2", "model.layers.", convert_hf_usual,                                \
        { convert_hf_attention, convert_hf_norms, sinks, experts },            \
        .epsilon = 1e-5, .activations = "silu", .keys = keys_mimo,             \
        .left_out = mimo_left, .listed = true

#define STEP                                                                   \
    "step35", "model.layers.", step_whole,                                     \
        { convert_hf_attention, gate, step },                                  \
        .epsilon = 1e-5, .activations = "silu", .keys = keys_step,             \
        .left_out = step_left, .listed = true, .half_turns = true

const struct hf_family convert_hf_windows[] = {
    { "Step3p5ForCausalLM", STEP },
    { "Step3p7ForConditionalGeneration", STEP },
    { "LagunaForCausalLM",
      "laguna",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, gate, convert_hf_norms,
        experts },
      .activations = "silu",
      .keys = keys_laguna,
      .listed = true },
    { "MiMoV2FlashForCausalLM", MIMO },
    { "MiMoV2ForCausalLM", MIMO },
    { "MuseGlimmerForConditionalGeneration",
      "muse-glimmer",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, muse, convert_hf_mlp },
      .epsilon = 1e-5,
      .activations = "silu",
      .keys = keys_muse,
      .left_out = muse_left,
      .listed = true },
    { 0 },
};

#endif
