/* bailingmoe3.c - folders of Ling 3 */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_LENGTH = 1 << 16,
};

static const struct hf_name ling_whole[] = {
    { "model.word_embeddings", "token_embd", HF_OR_NEXT },
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name ling_latent[] = {
    { "attention.q_proj", "attn_q", HF_OPTIONAL },
    { "attention.q_a_proj", "attn_q_a", HF_OPTIONAL },
    { "attention.q_a_layernorm", "attn_q_a_norm", HF_OPTIONAL },
    { "attention.q_b_proj", "attn_q_b", HF_OPTIONAL },
    { "attention.kv_a_proj_with_mqa", "attn_kv_a_mqa", HF_OPTIONAL },
    { "attention.kv_a_layernorm", "attn_kv_a_norm", HF_OPTIONAL },
    { "attention.kv_b_proj.weight", "attn_k_b.weight",
      HF_LATENT_K | HF_EXACT | HF_OPTIONAL },
    { "attention.kv_b_proj.weight", "attn_v_b.weight",
      HF_LATENT_V | HF_EXACT | HF_OPTIONAL },
    { "attention.g_proj", "attn_gate", HF_ATTENDING },
    { "attention.dense", "attn_output", HF_OR_NEXT },
    { "attention.o_proj", "attn_output", 0 },
    { 0 },
};
/* The delta attention; its tensors are missing in other layers. */
static const struct hf_name ling_delta[] = {
    { "attention.k_proj", "attn_k", HF_RECURRENT },
    { "attention.v_proj", "attn_v", HF_RECURRENT },
    { "attention.q_conv1d", "ssm_conv1d_q", HF_F32 | HF_RECURRENT },
    { "attention.k_conv1d", "ssm_conv1d_k", HF_F32 | HF_RECURRENT },
    { "attention.v_conv1d", "ssm_conv1d_v", HF_F32 | HF_RECURRENT },
    { "attention.f_proj", "ssm_f_a", HF_RECURRENT },
    { "attention.g_proj", "ssm_g_a", HF_RECURRENT },
    { "attention.b_proj", "ssm_beta", HF_RECURRENT },
    { "attention.A_log", "ssm_a",
      HF_SQUEEZE | HF_EXACT | HF_F32 | HF_DECAYS | HF_RECURRENT },
    { "attention.dt_bias", "ssm_dt.bias", HF_EXACT | HF_F32 | HF_RECURRENT },
    { "attention.o_norm", "ssm_norm", HF_RECURRENT },
    { 0 },
};
static const struct hf_name ling_choice[] = {
    { "mlp.gate.expert_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name ling_mtp_names[] = {
    { "eh_proj", "nextn.eh_proj", 0 },
    { "enorm", "nextn.enorm", 0 },
    { "hnorm", "nextn.hnorm", 0 },
    { "final_layernorm", "layer_output_norm", 0 },
    { 0 },
};
static const struct hf_mtp ling_mtp = { .names = ling_mtp_names };

/* Rates are positive there. */
static void
scale_ling(struct hf *h, const char *to, struct hf_rows *rows)
{
    size_t n = strlen(to);

    (void)h;
    if (n > 6 && !strcmp(to + n - 6, ".ssm_a"))
        rows->times = -1;
}

/* The last of each group, and those that fill no group. */
static bool
attends(const struct hf *h, const json_t *types, int32_t layer, int32_t group)
{
    const char *type = json_string_value(json_array_get(types, (size_t)layer));

    if (type)
        return !strcmp(type, "full_attention");
    return (layer + 1) % group == 0 || layer >= h->n_layer / group * group;
}

static void
set_ling_layers(struct hf *h)
{
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    int32_t group =
        (int32_t)convert_hf_number(h, "layer_group_size", MAX_LENGTH, 6);
    size_t all = (size_t)(h->n_layer + h->n_mtp);
    int32_t *heads = mem_array(all, sizeof(*heads));

    for (size_t i = 0; heads && i < all; i++)
        heads[i] = attends(h, types, (int32_t)i, group);
    convert_hf_set_layers(h, "attention.head_count_kv", GGUF_TYPE_INT32, heads);
}

static void
set_limits(struct hf *h, const char *name, const char *to)
{
    const json_t *list = core_json_array_of(&h->config, name);
    size_t all = (size_t)(h->n_layer + h->n_mtp);
    float *x = list ? mem_array(all, sizeof(*x)) : NULL;

    for (size_t i = 0; x && i < all; i++)
        x[i] = (float)json_number_value(json_array_get(list, i));
    if (list)
        convert_hf_set_layers(h, to, GGUF_TYPE_FLOAT32, x);
}

static void
set_ling_delta(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *gates =
        core_json_text(c, "gated_attention_proj_granularity_type", "head_wise");

    convert_hf_must_be(h, "no_kda_lora", true, true);
    convert_hf_must_be(h, "kda_safe_gate", true, true);
    if (strcmp(gates, "head_wise") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "gated_attention_proj_granularity_type: %.40s is not "
                      "head_wise",
                      gates);
    convert_hf_set_u32(
        h, "kda.head_dim",
        convert_hf_number(h, "linear_head_dim|head_dim", MAX_LENGTH, 128));
    convert_hf_set_u32(
        h, "ssm.conv_kernel",
        convert_hf_number(h, "short_conv_kernel_size|linear_conv_kernel_dim",
                          HF_MAX_CONV, 4));
    convert_hf_set_bool(h, "kda.safe_gate", true);
    convert_hf_set_f32(h, "kda.gate_lower_bound",
                       core_json_number(c, "kda_lower_bound", -1e6, 0, -5));
}

static void
keys_ling(struct hf *h)
{
    h->n_rot = convert_hf_set_latent(h, true);
    if (!convert_hf_good(h))
        return;
    set_ling_delta(h);
    set_ling_layers(h);
    convert_hf_keys_deepseek3(h);
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 2));
    if (core_json_find(&h->config, "moe_shared_expert_intermediate_size"))
        convert_hf_set_u32(
            h, "expert_shared_feed_forward_length",
            convert_hf_number(h, "moe_shared_expert_intermediate_size",
                              HF_MAX_FF, 0));
    set_limits(h, "expert_swiglu_limit_list", "swiglu_clamp_exp");
    set_limits(h, "share_expert_swiglu_limit_list", "swiglu_clamp_shexp");
}

const struct hf_family convert_hf_family_bailingmoe3[] = {
    { "BailingMoeV3ForCausalLM|BailingHybridForCausalLM", "bailingmoe3",
      .layer = { ling_latent, ling_delta, convert_hf_norms,
                 convert_hf_expert_names, ling_choice, convert_hf_shared_names,
                 convert_hf_dense_names },
      .whole = ling_whole, .recurrent = "attention.A_log", .any_layers = true,
      .scale = scale_ling, .keys = keys_ling, .mtp = &ling_mtp },
    { 0 },
};
