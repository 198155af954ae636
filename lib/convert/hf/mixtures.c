/* mixtures.c - families with mixtures of experts: names of their tensors there
 * and here, and their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "convert/hf/families.h"

enum {
    MAX_FF = 1 << 24,
    MAX_EXPERTS = 1 << 12,
    MAX_SHARED = 64,
    GROVE_FF = 128,
    MAX_HEADS = 1 << 16,
    MAX_USED = 64,
    SMALL_PERIOD = 4, /* SmallThinker: the first of so many sees all keys */
    SMALL_WINDOW = 4096,
};

/* As lib/graph/hparams.h has them, counted from 1. */
enum gating {
    SOFTMAX = 1,
    SIGMOID = 2,
};

/* ---- names --------------------------------------------------------------- */

/* Of layers that have experts; the others are dense. One tensor an expert. */
const struct hf_name convert_hf_expert_names[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mlp.gate.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", HF_OPTIONAL },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", HF_OPTIONAL },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_dense_names[] = {
    { "mlp.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "mlp.up_proj", "ffn_up", HF_OPTIONAL },
    { "mlp.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_shared_names[] = {
    { "mlp.shared_experts.gate_proj", "ffn_gate_shexp", HF_OPTIONAL },
    { "mlp.shared_experts.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "mlp.shared_experts.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name ernie_bias[] = {
    { "mlp.moe_statics.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name block_sparse[] = {
    { "block_sparse_moe.gate", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "block_sparse_moe.experts.%d.w1", "ffn_gate_exps", 0 },
    { "block_sparse_moe.experts.%d.w3", "ffn_up_exps", 0 },
    { "block_sparse_moe.experts.%d.w2", "ffn_down_exps", 0 },
    { 0 },
};
static const struct hf_name glm_norms[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "self_attn.q_norm", "attn_q_norm", HF_OPTIONAL },
    { "self_attn.k_norm", "attn_k_norm", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name hunyuan[] = {
    { "self_attn.query_layernorm", "attn_q_norm", 0 },
    { "self_attn.key_layernorm", "attn_k_norm", 0 },
    { "mlp.gate.wg", "ffn_gate_inp", HF_F32 },
    { "mlp.shared_mlp.gate_proj", "ffn_gate_shexp", 0 },
    { "mlp.shared_mlp.up_proj", "ffn_up_shexp", 0 },
    { "mlp.shared_mlp.down_proj", "ffn_down_shexp", 0 },
    { 0 },
};

static const struct hf_name one_norm[] = {
    { "input_layernorm", "attn_norm", 0 },
    { 0 },
};
static const struct hf_name exaone_bias[] = {
    { "mlp.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name afmoe[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "post_attention_layernorm", "post_attention_norm", 0 },
    { "pre_mlp_layernorm", "ffn_norm", 0 },
    { "post_mlp_layernorm", "post_ffw_norm", 0 },
    { "self_attn.gate_proj", "attn_gate", 0 },
    { "mlp.router.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mlp.expert_bias", "exp_probs_b.bias", HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_granite_experts[] = {
    { "block_sparse_moe.router.layer", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.input_linear.weight", "ffn_gate_exps.weight",
      HF_EXACT | HF_GATES },
    { "block_sparse_moe.input_linear.weight", "ffn_up_exps.weight",
      HF_EXACT | HF_UPS },
    { "block_sparse_moe.output_linear.weight", "ffn_down_exps.weight",
      HF_EXACT },
    { 0 },
};

const struct hf_name convert_hf_granite_shared[] = {
    { "shared_mlp.input_linear.weight", "ffn_gate_shexp.weight",
      HF_EXACT | HF_GATES | HF_OPTIONAL },
    { "shared_mlp.input_linear.weight", "ffn_up_shexp.weight",
      HF_EXACT | HF_UPS | HF_OPTIONAL },
    { "shared_mlp.output_linear", "ffn_down_shexp", HF_OPTIONAL },
    { 0 },
};

static const struct hf_name groves[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 },
    { "mlp.experts.%d.gate_proj", "ffn_gate_exps", 0 },
    { "mlp.experts.%d.up_proj", "ffn_up_exps", 0 },
    { "mlp.experts.%d.down_proj", "ffn_down_exps", 0 },
    { "mlp.chunk_experts.%d.gate_proj", "ffn_gate_chexps", HF_HALF },
    { "mlp.chunk_experts.%d.up_proj", "ffn_up_chexps", HF_HALF },
    { "mlp.chunk_experts.%d.down_proj", "ffn_down_chexps", HF_HALF },
    { 0 },
};

static const struct hf_name dbrx_whole[] = {
    { "transformer.wte", "token_embd", 0 },
    { "transformer.norm_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name dbrx[] = {
    { "norm_attn_norm.norm_1", "attn_norm", 0 },
    { "norm_attn_norm.attn.Wqkv", "attn_qkv", 0 },
    { "norm_attn_norm.attn.out_proj", "attn_output", 0 },
    { "norm_attn_norm.norm_2", "attn_output_norm", 0 },
    { "ffn.router.layer", "ffn_gate_inp", HF_F32 },
    { "ffn.experts.mlp.w1", "ffn_gate_exps.weight", HF_EXACT | HF_STACKED },
    { "ffn.experts.mlp.v1", "ffn_up_exps.weight", HF_EXACT | HF_STACKED },
    { "ffn.experts.mlp.w2", "ffn_down_exps.weight",
      HF_EXACT | HF_STACKED | HF_TRANSPOSE },
    { 0 },
};

static const struct hf_name small[] = {
    { "block_sparse_moe.primary_router", "ffn_gate_inp", HF_F32 },
    { "block_sparse_moe.experts.%d.gate", "ffn_gate_exps", 0 },
    { "block_sparse_moe.experts.%d.up", "ffn_up_exps", 0 },
    { "block_sparse_moe.experts.%d.down", "ffn_down_exps", 0 },
    { 0 },
};

static const char *const grove_left[] = { "mlp.expert_bias", NULL };

/* ---- keys ---------------------------------------------------------------- */

static void
set_length(struct hf *h, const char *from)
{
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       core_json_int(&h->config, from, 1, MAX_FF, 0));
}

static void
set_scale(struct hf *h)
{
    convert_hf_set_f32(
        h, "expert_weights_scale",
        core_json_number(&h->config, "routed_scaling_factor", 0, 1e6, 1));
}

static void
set_groups(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n = core_json_int(c, "n_group", 1, MAX_EXPERTS, 1);

    convert_hf_set_u32(h, "expert_group_count", n);
    convert_hf_set_u32(h, "expert_group_used_count",
                       core_json_int(c, "topk_group", 1, n, 1));
}

/* GLM 4.5, dots.llm1, too. */
void
convert_hf_keys_deepseek3(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_experts(h, 8);
    set_length(h, "moe_intermediate_size");
    convert_hf_set_u32(h, "expert_shared_count",
                       core_json_int(c, "n_shared_experts|num_shared_experts",
                                     0, MAX_SHARED, 1));
    convert_hf_set_u32(
        h, "leading_dense_block_count",
        core_json_int(c, "first_k_dense_replace", 0, h->n_layer, 0));
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "norm_topk_prob", true));
    convert_hf_set_u32(h, "expert_gating_func", SIGMOID);
    set_scale(h);
    set_groups(h);
}

static void
keys_ernie(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_experts(h, 6);
    set_length(h, "moe_intermediate_size");
    convert_hf_set_u32(
        h, "expert_shared_count",
        core_json_int(c, "moe_num_shared_experts", 0, MAX_SHARED, 0));
    convert_hf_set_u32(
        h, "leading_dense_block_count",
        core_json_int(c, "moe_layer_start_index", 0, h->n_layer, 0));
    convert_hf_set_u32(
        h, "interleave_moe_layer_step",
        core_json_int(c, "moe_layer_interval", 1, h->n_layer, 1));
    convert_hf_must_be_int(h, "moe_layer_end_index", h->n_layer - 1);
}

static void
keys_hunyuan(struct hf *h)
{
    convert_hf_set_experts(h, 1);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "expert_shared_feed_forward_length", h->n_ff);
}

static void
keys_minimax(struct hf *h)
{
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "expert_gating_func", SIGMOID);
}

static void
keys_olmoe(struct hf *h)
{
    convert_hf_set_experts(h, 8);
    convert_hf_must_be(h, "norm_topk_prob", false, false);
    if (core_json_find(&h->config, "clip_qkv"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "clip_qkv: olmoe clamps nothing here");
}

/* As DeepSeek V3's, and windows. */
static void
keys_exaone(struct hf *h)
{
    convert_hf_keys_window(h);
    convert_hf_keys_deepseek3(h);
}

static void
keys_afmoe(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_keys_window(h);
    convert_hf_must_be(h, "mup_enabled", true, false);
    convert_hf_must_be_int(h, "n_group", 1);
    convert_hf_set_experts(h, 8);
    set_length(h, "moe_intermediate_size");
    convert_hf_set_u32(
        h, "expert_shared_count",
        core_json_int(c, "num_shared_experts", 0, MAX_SHARED, 0));
    convert_hf_set_u32(h, "leading_dense_block_count",
                       core_json_int(c, "num_dense_layers", 0, h->n_layer, 0));
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "route_norm", true));
    convert_hf_set_u32(h, "expert_gating_func", SIGMOID);
    convert_hf_set_f32(h, "expert_weights_scale",
                       core_json_number(c, "route_scale", 0, 1e6, 1));
}

static void
keys_granite(struct hf *h)
{
    convert_hf_set_experts(h, 2);
    convert_hf_keys_granite(h);
}

static void
keys_granite_shared(struct hf *h)
{
    int64_t n =
        core_json_int(&h->config, "shared_intermediate_size", 0, MAX_FF, 0);

    keys_granite(h);
    if (n)
        convert_hf_set_u32(h, "expert_shared_feed_forward_length", n);
}

/* Norms are to mean 0; which layers are windowed is listed, as a file's period
 * is another one. */
static void
keys_cohere(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *how = core_json_text(c, "expert_selection_fn", "softmax");

    convert_hf_keys_listed(h);
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "expert_gating_func",
                       strcmp(how, "sigmoid") ? SOFTMAX : SIGMOID);
    convert_hf_set_bool(h, "expert_weights_norm",
                        core_json_bool(c, "norm_topk_prob", true));
    convert_hf_set_f32(h, "logit_scale",
                       core_json_number(c, "logit_scale", 0, 1e6, 0.0625));
    if (core_json_find(c, "rms_norm_eps"))
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "rms_norm_eps: norms are to mean 0 here");
    convert_hf_must_be_int(h, "num_shared_experts", 0);
    convert_hf_must_be_int(h, "prefix_dense_intermediate_size", 0);
}

/* Pairs of experts have a small one, whose length is always 128; so is that of
 * heads. */
static void
keys_grove(struct hf *h)
{
    convert_hf_keys_qwen_moe(h, 8);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_set_u32(h, "expert_chunk_feed_forward_length", GROVE_FF);
    convert_hf_set_u32(h, "experts_per_group", 2);
    convert_hf_set_f32(h, "expert_group_scale", 0.05);
}

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
    h->n_ff = (int32_t)core_json_int(c, "moe_ffn_hidden_size", 1, MAX_FF, 0);
    h->n_expert =
        (int32_t)core_json_int(c, "moe_num_primary_experts", 1, MAX_EXPERTS, 0);
    convert_hf_set_u32(h, "expert_count", h->n_expert);
    convert_hf_set_u32(
        h, "expert_used_count",
        core_json_int(c, "moe_num_active_primary_experts", 1, MAX_USED, 0));
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    convert_hf_set_u32(h, "expert_gating_func", softmax ? SOFTMAX : SIGMOID);
    convert_hf_must_be(h, "moe_enable_early_router", true, true);
    convert_hf_must_be(h, "moe_enable_secondary_experts", false, false);
    convert_hf_must_be(h, "use_qk_norm", false, false);
    convert_hf_must_be_int(h, "moe_shared_primary_experts", 0);
}

/* Settings are in three objects. */
static void
keys_dbrx(struct hf *h)
{
    const json_t *whole = h->config.object;
    struct core_json_keys *c = &h->config;
    const json_t *act;

    c->object = core_json_object_of(c, "ffn_config");
    h->n_ff = (int32_t)core_json_int(c, "ffn_hidden_size", 1, MAX_FF, 0);
    act = json_object_get(core_json_object_of(c, "ffn_act_fn"), "name");
    if (act && strcmp(json_string_value(act), "silu") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "ffn_act_fn: is silu here");
    if (core_json_number(c, "moe_normalize_expert_weights", 0, 1e3, 1) != 1)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "moe_normalize_expert_weights: is 1 here");
    convert_hf_set_experts(h, 1);
    c->object = whole;
    c->object = core_json_object_of(c, "attn_config");
    h->n_head_kv =
        (int32_t)core_json_int(c, "kv_n_heads", 1, MAX_HEADS, h->n_head_kv);
    convert_hf_set_f32(h, "attention.clamp_kqv",
                       core_json_number(c, "clip_qkv", 1e-6, 1e6, -1));
    c->object = whole;
}

static void
keys_mellum(struct hf *h)
{
    convert_hf_keys_window(h);
    convert_hf_set_experts(h, 8);
    set_length(h, "moe_intermediate_size");
    convert_hf_must_be(h, "norm_topk_prob", true, false);
}

const struct hf_family convert_hf_mixtures[] = {
    { "Cohere2MoeForCausalLM",
      "cohere2moe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, one_norm, convert_hf_expert_names },
      .layer_norm = true,
      .activations = "silu",
      .tied = true,
      .keys = keys_cohere,
      .listed = true },
    { "MellumForCausalLM",
      "mellum",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        convert_hf_expert_names },
      .activations = "silu",
      .keys = keys_mellum,
      .windowed_base = -1,
      .full_every = 4,
      .full_at = 3 },
    { "AfmoeForCausalLM",
      "afmoe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, afmoe,
        convert_hf_expert_names, convert_hf_dense_names,
        convert_hf_shared_names },
      .activations = "silu",
      .keys = keys_afmoe,
      .full_every = 4,
      .full_at = 3 },
    { "ExaoneMoeForCausalLM",
      "exaone-moe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        convert_hf_expert_names, convert_hf_dense_names,
        convert_hf_shared_names, exaone_bias },
      .activations = "silu",
      .keys = keys_exaone,
      .full_every = 4,
      .full_at = 3 },
    { "GraniteMoeForCausalLM",
      "granitemoe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms,
        convert_hf_granite_experts },
      .activations = "silu",
      .keys = keys_granite },
    { "GraniteMoeSharedForCausalLM",
      "granitemoe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention_pairs, convert_hf_norms,
        convert_hf_granite_experts, convert_hf_granite_shared },
      .activations = "silu",
      .keys = keys_granite_shared },
    { "Glm4MoeForCausalLM",
      "glm4moe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, glm_norms, convert_hf_expert_names,
        convert_hf_dense_names, convert_hf_shared_names },
      .activations = "silu",
      .mtp = &convert_hf_mtp,
      .keys = convert_hf_keys_deepseek3 },
    { "DbrxForCausalLM",
      "dbrx",
      "transformer.blocks.",
      dbrx_whole,
      { dbrx },
      .layer_norm = true,
      .keys = keys_dbrx },
    { "Dots1ForCausalLM",
      "dots1",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        convert_hf_expert_names, convert_hf_dense_names,
        convert_hf_shared_names },
      .activations = "silu",
      .keys = convert_hf_keys_deepseek3 },
    { "Ernie4_5_MoeForCausalLM",
      "ernie4_5-moe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, convert_hf_expert_names,
        ernie_bias, convert_hf_dense_names, convert_hf_shared_names },
      .activations = "silu",
      .keys = keys_ernie },
    { "GroveMoeForCausalLM",
      "grovemoe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms, groves },
      .left_out = grove_left,
      .activations = "silu",
      .keys = keys_grove },
    { "HunYuanMoEV1ForCausalLM",
      "hunyuan-moe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, hunyuan,
        convert_hf_expert_names },
      .activations = "silu",
      .keys = keys_hunyuan },
    { "MiniMaxM2ForCausalLM",
      "minimax-m2",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        block_sparse },
      .activations = "silu",
      .keys = keys_minimax },
    { "OlmoeForCausalLM",
      "olmoe",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
        convert_hf_expert_names },
      .activations = "silu",
      .keys = keys_olmoe },
    { "SmallThinkerForCausalLM",
      "smallthinker",
      "model.layers.",
      convert_hf_usual,
      { convert_hf_attention, convert_hf_norms, small },
      .activations = "relu",
      .tied = true,
      .keys = keys_small },
    { 0 },
};

#endif
