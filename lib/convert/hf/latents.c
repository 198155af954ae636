/* latents.c - families with latent attention: names of their tensors there and
 * here, and their keys
 *
 * One matrix makes keys and values of all heads of the latent row. Files have
 * it in two parts, for graphs that keep the row alone; but for MiniCPM 3. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 16,
    MAX_FF = 1 << 24,
    MAX_CTX = 1 << 28,
    MAX_CONV = 64,
    MAX_SHARED = 64,
    SOFTMAX = 1, /* as lib/graph/hparams.h has them, counted from 1 */
    SIGMOID = 2,
};

/* ---- names --------------------------------------------------------------- */

#define LATENT                                                                 \
    { "self_attn.q_proj", "attn_q", HF_OPTIONAL },                             \
        { "self_attn.q_a_proj", "attn_q_a", HF_OPTIONAL },                     \
        { "self_attn.q_a_layernorm", "attn_q_a_norm", HF_OPTIONAL },           \
        { "self_attn.q_b_proj", "attn_q_b", HF_OPTIONAL },                     \
        { "self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa", HF_OPTIONAL },      \
        { "self_attn.kv_a_layernorm", "attn_kv_a_norm", HF_OPTIONAL },         \
    {                                                                          \
        "self_attn.o_proj", "attn_output", 0                                   \
    }

static const struct hf_name latent[] = {
    LATENT,
    { "self_attn.kv_b_proj.weight", "attn_k_b.weight",
      HF_EXACT | HF_LATENT_K | HF_OPTIONAL },
    { "self_attn.kv_b_proj.weight", "attn_v_b.weight",
      HF_EXACT | HF_LATENT_V | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name latent_whole[] = {
    LATENT,
    { "self_attn.kv_b_proj", "attn_kv_b", 0 },
    { 0 },
};
static const struct hf_name plain_mlp[] = {
    { "mlp.up_proj", "ffn_up", 0 },
    { "mlp.down_proj", "ffn_down", 0 },
    { 0 },
};
/* Of models that keep all experts in one tensor. */
static const struct hf_name fused[] = {
    { "mlp.experts.gate_up_proj", "ffn_gate_up_exps.weight",
      HF_EXACT | HF_OPTIONAL },
    { "mlp.experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_OPTIONAL },
    { 0 },
};

/* Kimi Linear; the library saves a dense block by the name of a mixture. */
static const struct hf_name kimi_mixture[] = {
    { "block_sparse_moe.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "block_sparse_moe.up_proj", "ffn_up", HF_OPTIONAL },
    { "block_sparse_moe.down_proj", "ffn_down", HF_OPTIONAL },
    { "block_sparse_moe.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "block_sparse_moe.gate.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "block_sparse_moe.experts.%d.w1", "ffn_gate_exps", HF_OPTIONAL },
    { "block_sparse_moe.experts.%d.w3", "ffn_up_exps", HF_OPTIONAL },
    { "block_sparse_moe.experts.%d.w2", "ffn_down_exps", HF_OPTIONAL },
    { "block_sparse_moe.shared_experts.gate_proj", "ffn_gate_shexp",
      HF_OPTIONAL },
    { "block_sparse_moe.shared_experts.up_proj", "ffn_up_shexp", HF_OPTIONAL },
    { "block_sparse_moe.shared_experts.down_proj", "ffn_down_shexp",
      HF_OPTIONAL },
    { 0 },
};
static const struct hf_name kimi_delta[] = {
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.q_conv1d", "ssm_conv1d_q", HF_F32 | HF_OPTIONAL },
    { "self_attn.k_conv1d", "ssm_conv1d_k", HF_F32 | HF_OPTIONAL },
    { "self_attn.v_conv1d", "ssm_conv1d_v", HF_F32 | HF_OPTIONAL },
    { "self_attn.f_a_proj", "ssm_f_a", HF_OPTIONAL },
    { "self_attn.f_b_proj", "ssm_f_b", HF_OPTIONAL },
    { "self_attn.g_a_proj", "ssm_g_a", HF_OPTIONAL },
    { "self_attn.g_b_proj", "ssm_g_b", HF_OPTIONAL },
    { "self_attn.b_proj", "ssm_beta", HF_OPTIONAL },
    { "self_attn.A_log", "ssm_a", HF_EXACT | HF_F32 | HF_DECAYS | HF_OPTIONAL },
    { "self_attn.dt_bias", "ssm_dt.bias", HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "self_attn.o_norm", "ssm_norm", HF_OPTIONAL },
    { 0 },
};

/* ---- keys ---------------------------------------------------------------- */

static int32_t
length(struct hf *h, const char *name, int32_t least)
{
    return (int32_t)core_json_int(&h->config, name, least, MAX_LENGTH, -1);
}

/* What of a key turns; where nothing does, all heads share it as well. */
static int32_t
set_latent(struct hf *h, bool absorbed)
{
    int32_t n = length(h, "kv_lora_rank", 1);
    int32_t shared = length(h, "qk_rope_head_dim", 2);

    h->d_own = length(h, "qk_nope_head_dim", 1);
    h->d_value = length(h, "v_head_dim", 1);
    convert_hf_must_be(h, "rope_interleave", true, true);
    if (!convert_hf_good(h))
        return 0;
    if (core_json_find(&h->config, "q_lora_rank"))
        convert_hf_set_u32(h, "attention.q_lora_rank",
                           length(h, "q_lora_rank", 1));
    convert_hf_set_u32(h, "attention.kv_lora_rank", n);
    convert_hf_set_u32(h, "attention.key_length",
                       absorbed ? n + shared : h->d_own + shared);
    convert_hf_set_u32(h, "attention.value_length", absorbed ? n : h->d_value);
    if (absorbed) {
        convert_hf_set_u32(h, "attention.key_length_mla", h->d_own + shared);
        convert_hf_set_u32(h, "attention.value_length_mla", h->d_value);
    }
    h->n_head_kv = absorbed ? 1 : h->n_head;
    return shared;
}

/* Layers in front without experts, where the configuration says which have
 * some; `other` where it does not. */
static int64_t
count_dense(struct hf *h, int64_t other)
{
    const json_t *list = convert_hf_layers_list(h, "mlp_layer_types");
    size_t n = 0, all = json_array_size(list);

    if (!list)
        return core_json_int(&h->config, "first_k_dense_replace", 0, h->n_layer,
                             other);
    for (size_t i = 0; i < all; i++) {
        const char *type = json_string_value(json_array_get(list, i));

        if (type && !strcmp(type, "dense") && n == i)
            n++;
        else if (!type || strcmp(type, "sparse") != 0)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "mlp_layer_types: not first dense, then sparse");
    }
    return (int64_t)n;
}

static void
keys_deepseek3(struct hf *h)
{
    h->n_rot = set_latent(h, true);
    convert_hf_keys_deepseek3(h);
}

/* A softmax chooses; groups count where the method says so. */
static void
keys_deepseek2(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *method = core_json_text(c, "topk_method", "greedy");
    bool groups = strcmp(method, "greedy") != 0;
    int64_t n = groups ? core_json_int(c, "n_group", 1, 1 << 12, 1) : 1;

    h->n_rot = set_latent(h, true);
    if (groups && strcmp(method, "group_limited_greedy") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "topk_method: %.40s is none of greedy, "
                      "group_limited_greedy",
                      method);
    convert_hf_set_experts(h, 6);
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       core_json_int(c, "moe_intermediate_size", 1, MAX_FF, 0));
    convert_hf_set_u32(h, "expert_shared_count",
                       core_json_int(c, "n_shared_experts", 0, MAX_SHARED, 0));
    convert_hf_set_u32(h, "leading_dense_block_count", count_dense(h, 0));
    convert_hf_must_be(h, "norm_topk_prob", false, false);
    convert_hf_set_u32(h, "expert_gating_func", SOFTMAX);
    convert_hf_set_f32(h, "expert_weights_scale",
                       core_json_number(c, "routed_scaling_factor", 0, 1e6, 1));
    convert_hf_set_u32(h, "expert_group_count", n);
    convert_hf_set_u32(h, "expert_group_used_count",
                       groups ? core_json_int(c, "topk_group", 1, n, 1) : 1);
}

static void
keys_glm(struct hf *h)
{
    keys_deepseek3(h);
    convert_hf_set_u32(h, "leading_dense_block_count", count_dense(h, 1));
}

static void
keys_youtu(struct hf *h)
{
    h->n_rot = set_latent(h, true);
    convert_hf_set_u32(h, "leading_dense_block_count", h->n_layer);
    convert_hf_set_u32(h, "expert_shared_count", 0);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
}

/* Queries have a temperature. */
static void
keys_mistral4(struct hf *h)
{
    struct core_json_keys rope = h->config;
    int64_t n;
    double scale;

    keys_deepseek3(h);
    convert_hf_set_u32(h, "expert_gating_func", SOFTMAX);
    rope.object = core_json_object_of(&h->config, "rope_parameters");
    n = core_json_int(&rope, "original_max_position_embeddings", 1, MAX_CTX,
                      h->n_ctx);
    scale = core_json_number(&rope, "llama_4_scaling_beta", 0, 1e3, 0);
    if (rope.status != GG_OK)
        h->config.status = rope.status;
    convert_hf_set_f32(h, "attention.temperature_scale", scale);
    convert_hf_set_u32(h, "attention.temperature_length", n);
}

/* The scales are not in files. */
static void
keys_minicpm3(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    h->n_rot = set_latent(h, false);
    if (core_json_number(c, "scale_emb", 0, 1e6, 12) != 12 ||
        core_json_number(c, "scale_depth", 0, 1e6, 1.4) != 1.4 ||
        core_json_number(c, "dim_model_base", 0, 1e6, 256) != 256)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "scale_emb, scale_depth, dim_model_base: are 12, 1.4 and "
                      "256 in minicpm3");
}

static void
keys_plm(struct hf *h)
{
    h->n_rot = set_latent(h, false);
}

/* ---- Kimi Linear --------------------------------------------------------- */

/* Counted from 1 in the one object, or by name. */
static bool
has_attention(const json_t *full, const json_t *types, int32_t layer)
{
    const char *type = json_string_value(json_array_get(types, (size_t)layer));

    for (size_t i = 0; i < json_array_size(full); i++)
        if (json_integer_value(json_array_get(full, i)) == layer + 1)
            return true;
    return type && !strcmp(type, "full_attention");
}

static void
set_kimi_layers(struct hf *h, const json_t *linear)
{
    const json_t *full = json_object_get(linear, "full_attn_layers");
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    int32_t *heads = mem_array((size_t)h->n_layer, sizeof(*heads));

    if (!full && !types)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "layer_types: is missing, and linear_attn_config");
    for (int32_t i = 0; heads && i < h->n_layer; i++)
        heads[i] = has_attention(full, types, i);
    convert_hf_set_list(h, "kimi-linear.attention.head_count_kv",
                        GGUF_TYPE_INT32, heads);
}

static void
set_kimi_delta(struct hf *h)
{
    struct core_json_keys own = h->config;
    const json_t *linear =
        core_json_object_of(&h->config, "linear_attn_config");
    int64_t heads, d, conv;

    if (linear)
        own.object = linear;
    heads = core_json_int(&own, linear ? "num_heads" : "linear_num_heads", 1,
                          MAX_LENGTH, 32);
    d = core_json_int(&own, linear ? "head_dim" : "linear_head_dim", 1,
                      MAX_LENGTH, 128);
    conv = core_json_int(
        &own, linear ? "short_conv_kernel_size" : "linear_conv_kernel_dim", 1,
        MAX_CONV, 4);
    if (own.status != GG_OK)
        h->config.status = own.status;
    else if (heads != h->n_head)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "linear_num_heads: %lld, not num_attention_heads",
                      (long long)heads);
    convert_hf_set_u32(h, "kda.head_dim", d);
    convert_hf_set_u32(h, "ssm.conv_kernel", conv);
    set_kimi_layers(h, linear);
}

static void
keys_kimi(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    h->n_ctx = (int32_t)core_json_int(
        c, "model_max_length|max_position_embeddings", 1, MAX_CTX, h->n_ctx);
    convert_hf_set_u32(h, "rope.dimension_count", set_latent(h, true));
    if (!convert_hf_good(h))
        return;
    set_kimi_delta(h);
    convert_hf_set_experts(h, 8);
    convert_hf_set_u32(h, "expert_feed_forward_length",
                       core_json_int(c, "moe_intermediate_size", 1, MAX_FF, 0));
    convert_hf_set_u32(h, "expert_shared_count",
                       core_json_int(c, "num_shared_experts|n_shared_experts",
                                     0, MAX_SHARED, 1));
    convert_hf_set_u32(h, "leading_dense_block_count", count_dense(h, 1));
    convert_hf_must_be(h, "moe_renormalize", true, true);
    convert_hf_must_be_int(h, "num_expert_group", 1);
    convert_hf_set_u32(h, "expert_gating_func", SIGMOID);
    convert_hf_set_f32(h, "expert_weights_scale",
                       core_json_number(c, "routed_scaling_factor", 0, 1e6, 1));
}

/* ---- the table ----------------------------------------------------------- */

#define DEEPSEEK2                                                              \
    "deepseek2", "model.layers.", convert_hf_usual,                            \
        { latent, convert_hf_norms,        convert_hf_expert_names,            \
          fused,  convert_hf_shared_names, convert_hf_dense_names },           \
        .activations = "silu"
#define MISTRAL4                                                               \
    "mistral4", "model.layers.", convert_hf_usual,                             \
        { latent, convert_hf_norms,        convert_hf_expert_names,            \
          fused,  convert_hf_shared_names, convert_hf_dense_names },           \
        .activations = "silu", .keys = keys_mistral4

const struct hf_family convert_hf_latents[] = {
    { "DeepseekV2ForCausalLM", DEEPSEEK2, .keys = keys_deepseek2 },
    { "DeepseekV3ForCausalLM", DEEPSEEK2, .keys = keys_deepseek3,
      .mtp = &convert_hf_mtp },
    { "Glm4MoeLiteForCausalLM", DEEPSEEK2, .keys = keys_glm, .epsilon = 1e-5,
      .mtp = &convert_hf_mtp },
    { "YoutuForCausalLM", DEEPSEEK2, .keys = keys_youtu },
    { "Mistral4ForCausalLM", MISTRAL4 },
    { "Mistral3ForConditionalGeneration", MISTRAL4, .setting = "kv_lora_rank" },
    { "MiniCPM3ForCausalLM",
      "minicpm3",
      "model.layers.",
      convert_hf_usual,
      { latent_whole, convert_hf_norms, convert_hf_dense_names },
      .epsilon = 1e-5,
      .activations = "silu",
      .tied = true,
      .keys = keys_minicpm3 },
    { "PLMForCausalLM",
      "plm",
      "model.layers.",
      convert_hf_usual,
      { latent_whole, convert_hf_norms, plain_mlp },
      .activations = "relu2",
      .keys = keys_plm },
    { "KimiLinearForCausalLM",
      "kimi-linear",
      "model.layers.",
      convert_hf_usual,
      { latent, convert_hf_norms, kimi_delta, kimi_mixture,
        convert_hf_dense_names },
      .epsilon = 1e-5,
      .activations = "silu",
      .positions = true, /* none, in fact */
      .any_layers = true,
      .keys = keys_kimi },
    { 0 },
};

#endif
