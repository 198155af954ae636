/* deltas.c - families with a gated delta rule, or short convolutions: names of
 * their tensors there and here, and their keys
 *
 * Values' heads of a key stand side by side there; files of Qwen 3.5 have the
 * first of each key, the second of each and so on. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 16,
    MAX_CONV = 64,
    MAX_FF = 1 << 24,
    PERIOD = 4,
    SECTIONS = 4,
};

/* ---- names --------------------------------------------------------------- */

static const struct hf_name whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", HF_PLUS_1 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name attention[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "post_attention_norm", HF_PLUS_1 },
    { "self_attn.q_proj", "attn_q", HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { "self_attn.q_norm", "attn_q_norm", HF_PLUS_1 | HF_OPTIONAL },
    { "self_attn.k_norm", "attn_k_norm", HF_PLUS_1 | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name delta_next[] = {
    { "linear_attn.in_proj_qkvz.weight", "attn_qkv.weight",
      HF_EXACT | HF_DELTA_QKV | HF_OPTIONAL },
    { "linear_attn.in_proj_qkvz.weight", "attn_gate.weight",
      HF_EXACT | HF_DELTA_GATES | HF_OPTIONAL },
    { "linear_attn.in_proj_ba", "ssm_ba", HF_OPTIONAL },
    { "linear_attn.conv1d", "ssm_conv1d", HF_F32 | HF_SQUEEZE | HF_OPTIONAL },
    { "linear_attn.A_log", "ssm_a",
      HF_EXACT | HF_F32 | HF_DECAYS | HF_OPTIONAL },
    { "linear_attn.dt_bias", "ssm_dt.bias", HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "linear_attn.norm", "ssm_norm", HF_OPTIONAL },
    { "linear_attn.out_proj", "ssm_out", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name delta[] = {
    { "linear_attn.in_proj_qkv", "attn_qkv", HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.in_proj_z", "attn_gate", HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.in_proj_a", "ssm_alpha", HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.in_proj_b", "ssm_beta", HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.conv1d", "ssm_conv1d",
      HF_F32 | HF_SQUEEZE | HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.A_log", "ssm_a",
      HF_EXACT | HF_F32 | HF_DECAYS | HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.dt_bias", "ssm_dt.bias",
      HF_EXACT | HF_F32 | HF_TILED_ROWS | HF_OPTIONAL },
    { "linear_attn.norm", "ssm_norm", HF_OPTIONAL },
    { "linear_attn.out_proj", "ssm_out", HF_TILED_COLUMNS | HF_OPTIONAL },
    { 0 },
};
/* An expert each, or all in one. */
static const struct hf_name mixture[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { "mlp.experts.gate_up_proj", "ffn_gate_exps.weight",
      HF_EXACT | HF_GATES | HF_OPTIONAL },
    { "mlp.experts.gate_up_proj", "ffn_up_exps.weight",
      HF_EXACT | HF_UPS | HF_OPTIONAL },
    { "mlp.experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_OPTIONAL },
    { "mlp.shared_expert_gate", "ffn_gate_inp_shexp", HF_F32 },
    { "mlp.shared_expert.gate_proj", "ffn_gate_shexp", 0 },
    { "mlp.shared_expert.up_proj", "ffn_up_shexp", 0 },
    { "mlp.shared_expert.down_proj", "ffn_down_shexp", 0 },
    { 0 },
};

/* LFM2: convolutions between two gates. */
static const struct hf_name lfm_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.embedding_norm", "token_embd_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name lfm[] = {
    { "operator_norm", "attn_norm", 0 },
    { "ffn_norm", "ffn_norm", 0 },
    { "conv.in_proj", "shortconv.in_proj", HF_OPTIONAL },
    { "conv.out_proj", "shortconv.out_proj", HF_OPTIONAL },
    { "conv.conv.weight", "shortconv.conv.weight",
      HF_EXACT | HF_F32 | HF_SQUEEZE | HF_OPTIONAL },
    { "conv.conv.bias", "shortconv.conv.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "self_attn.q_proj", "attn_q", HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.out_proj", "attn_output", HF_OPTIONAL },
    { "self_attn.q_layernorm", "attn_q_norm", HF_OPTIONAL },
    { "self_attn.k_layernorm", "attn_k_norm", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name lfm_ffn[] = {
    { "feed_forward.w1", "ffn_gate", HF_OPTIONAL },
    { "feed_forward.w3", "ffn_up", HF_OPTIONAL },
    { "feed_forward.w2", "ffn_down", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name lfm_mixture[] = {
    { "feed_forward.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "feed_forward.expert_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "feed_forward.experts.%d.w1", "ffn_gate_exps", HF_OPTIONAL },
    { "feed_forward.experts.%d.w3", "ffn_up_exps", HF_OPTIONAL },
    { "feed_forward.experts.%d.w2", "ffn_down_exps", HF_OPTIONAL },
    { 0 },
};

static const struct hf_name mtp_names[] = {
    { "fc", "nextn.eh_proj", 0 },
    { "pre_fc_norm_embedding", "nextn.enorm", HF_PLUS_1 },
    { "pre_fc_norm_hidden", "nextn.hnorm", HF_PLUS_1 },
    { "norm", "nextn.shared_head_norm", HF_PLUS_1 },
    { 0 },
};
/* More layers than that, of which no program knows what they read. */
static const char *const left[] = { "mtp.", NULL };
static const struct hf_mtp mtp = { "mtp.layers.", "mtp.", mtp_names };

/* ---- keys ---------------------------------------------------------------- */

static int32_t
number(struct hf *h, const char *name, int32_t max, int32_t other)
{
    return (int32_t)core_json_int(&h->config, name, 1, max, other);
}

/* Without a list, all but the last of each four. */
static void
set_layers(struct hf *h)
{
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    int32_t period = number(h, "full_attention_interval", 1 << 12, PERIOD);
    bool *recurs = mem_array((size_t)(h->n_layer + h->n_mtp), sizeof(*recurs));
    char key[96];

    for (int32_t i = 0; recurs && i < h->n_layer; i++) {
        const char *t = json_string_value(json_array_get(types, (size_t)i));

        recurs[i] = t ? !strcmp(t, "linear_attention") : (i + 1) % period != 0;
        if (t && !recurs[i] && strcmp(t, "full_attention") != 0)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_types: '%.40s' is none of linear_attention, "
                          "full_attention",
                          t);
    }
    snprintf(key, sizeof(key), "%s.attention.recurrent_layers",
             h->family->arch);
    convert_hf_set_u32(h, "full_attention_interval", period);
    convert_hf_set_list(h, key, GGUF_TYPE_BOOL, recurs);
}

static void
keys_delta(struct hf *h)
{
    h->delta.n_key = number(h, "linear_num_key_heads", MAX_LENGTH, 16);
    h->delta.n_value = number(h, "linear_num_value_heads", MAX_LENGTH, 32);
    h->delta.d_key = number(h, "linear_key_head_dim", MAX_LENGTH, 128);
    h->delta.d_value = number(h, "linear_value_head_dim", MAX_LENGTH, 128);
    if (!convert_hf_good(h))
        return;
    if (h->delta.n_value % h->delta.n_key ||
        h->delta.d_key != h->delta.d_value) {
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "linear_num_value_heads, linear_value_head_dim: are no "
                      "multiple of those of keys, or not as long");
        return;
    }
    convert_hf_set_u32(h, "ssm.conv_kernel",
                       number(h, "linear_conv_kernel_dim", MAX_CONV, 4));
    convert_hf_set_u32(h, "ssm.state_size", h->delta.d_key);
    convert_hf_set_u32(h, "ssm.group_count", h->delta.n_key);
    convert_hf_set_u32(h, "ssm.time_step_rank", h->delta.n_value);
    convert_hf_set_u32(h, "ssm.inner_size",
                       (int64_t)h->delta.n_value * h->delta.d_value);
    set_layers(h);
}

static void
set_mixture(struct hf *h, int64_t used)
{
    convert_hf_keys_qwen_moe(h, used);
    convert_hf_set_u32(
        h, "expert_shared_feed_forward_length",
        number(h, "shared_expert_intermediate_size", MAX_FF, 512));
}

static void
keys_next(struct hf *h)
{
    keys_delta(h);
    set_mixture(h, 10);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
}

/* Where the configuration does not say them, those of all its models. */
static void
set_sections(struct hf *h)
{
    static const int32_t usual[SECTIONS] = { 11, 11, 10, 0 };
    const json_t *rope = core_json_object_of(&h->config, "rope_parameters");
    char key[96];

    if (json_object_get(rope, "mrope_section")) {
        convert_hf_set_sections(h);
        return;
    }
    snprintf(key, sizeof(key), "%s.rope.dimension_sections", h->family->arch);
    gguf_set_arr_data(h->gguf, key, GGUF_TYPE_INT32, usual, SECTIONS);
}

static void
keys_35(struct hf *h)
{
    keys_delta(h);
    set_sections(h);
}

static void
keys_35moe(struct hf *h)
{
    keys_35(h);
    set_mixture(h, 8);
}

/* ---- LFM2 ---------------------------------------------------------------- */

/* Layers with attention have keys and values. */
static void
set_lfm_layers(struct hf *h)
{
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));
    char key[96];

    if (!types)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "layer_types: is missing");
    for (int32_t i = 0; heads && i < h->n_layer; i++) {
        const char *t = json_string_value(json_array_get(types, (size_t)i));

        heads[i] = t && !strcmp(t, "full_attention") ? h->n_head_kv : 0;
        if (types && (!t || (heads[i] == 0 && strcmp(t, "conv") != 0)))
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_types: '%.40s' is none of conv, "
                          "full_attention",
                          t ? t : "");
    }
    snprintf(key, sizeof(key), "%s.attention.head_count_kv", h->family->arch);
    convert_hf_set_list(h, key, GGUF_TYPE_INT32, heads);
    convert_hf_set_u32(h, "shortconv.l_cache",
                       number(h, "conv_L_cache", MAX_CONV, 3));
}

/* The length of a feed-forward vector is two thirds of what is said, and more
 * up to a multiple. */
static void
keys_lfm(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    double times = core_json_number(c, "block_ffn_dim_multiplier", 0, 100, 1);
    int64_t of = number(h, "block_multiple_of", MAX_FF, 256), n;

    n = number(h, "block_ff_dim|intermediate_size", MAX_FF, h->n_ff);
    if (core_json_bool(c, "block_auto_adjust_ff_dim", true)) {
        n = (int64_t)(times * (double)(2 * n / 3));
        n = (n + of - 1) / of * of;
    }
    h->n_ff = (int32_t)n;
    set_lfm_layers(h);
}

static void
keys_lfm_moe(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    set_lfm_layers(h);
    convert_hf_set_experts(h, 4);
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       number(h, "moe_intermediate_size", MAX_FF, 1792));
    convert_hf_set_u32(h, "leading_dense_block_count",
                       core_json_int(c, "num_dense_layers", 0, h->n_layer, 2));
    convert_hf_set_u32(h, "expert_gating_func", 2); /* sigmoids */
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_must_be(h, "use_expert_bias", true, true);
    if (core_json_number(c, "routed_scaling_factor", 0, 1e6, 1) != 1)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "routed_scaling_factor: is 1 here");
}

/* ---- the table ----------------------------------------------------------- */

#define QWEN35                                                                 \
    "qwen35", "model.layers.", whole, { attention, delta, convert_hf_mlp },    \
        .activations = "silu", .any_layers = true, .left_out = left,           \
        .mtp = &mtp, .keys = keys_35
#define QWEN35MOE                                                              \
    "qwen35moe", "model.layers.", whole, { attention, delta, mixture },        \
        .activations = "silu", .any_layers = true, .left_out = left,           \
        .mtp = &mtp, .keys = keys_35moe

const struct hf_family convert_hf_deltas[] = {
    { "Qwen3NextForCausalLM",
      "qwen3next",
      "model.layers.",
      whole,
      { attention, delta_next, mixture },
      .activations = "silu",
      .any_layers = true,
      .left_out = left,
      .mtp = &mtp,
      .keys = keys_next },
    { "Lfm2ForCausalLM",
      "lfm2",
      "model.layers.",
      lfm_whole,
      { lfm, lfm_ffn },
      .epsilon = 1e-5,
      .tied = true,
      .any_layers = true,
      .keys = keys_lfm },
    { "Lfm2MoeForCausalLM",
      "lfm2moe",
      "model.layers.",
      lfm_whole,
      { lfm, lfm_ffn, lfm_mixture },
      .epsilon = 1e-5,
      .tied = true,
      .any_layers = true,
      .keys = keys_lfm_moe },
    { "Qwen3_5ForCausalLM", QWEN35 },
    { "Qwen3_5ForConditionalGeneration", QWEN35 },
    { "Qwen3_5MoeForCausalLM", QWEN35MOE },
    { "Qwen3_5MoeForConditionalGeneration", QWEN35MOE },
    { 0 },
};

#endif
