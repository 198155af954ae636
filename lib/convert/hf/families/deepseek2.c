/* deepseek2.c - folders of DeepSeek V2, V3 and R1, Kimi K2, GLM 4.7 Flash,
 * Mistral 4, Sarvam 105B */
#include <string.h>

#include "convert/hf/families.h"

/* All experts in one tensor. */
static const struct hf_name fused[] = {
    { "mlp.experts.gate_up_proj", "ffn_gate_up_exps.weight",
      HF_EXACT | HF_OPTIONAL },
    { "mlp.experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_OPTIONAL },
    { 0 },
};

static void
keys_deepseek3(struct hf *h)
{
    h->n_rot = convert_hf_set_latent(h, true);
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

    h->n_rot = convert_hf_set_latent(h, true);
    if (groups && strcmp(method, "group_limited_greedy") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "topk_method: %.40s is none of greedy, "
                      "group_limited_greedy",
                      method);
    convert_hf_set_experts(h, 6);
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        core_json_int(c, "moe_intermediate_size", 1, HF_MAX_FF, 0));
    convert_hf_set_u32(
        h, "expert_shared_count",
        core_json_int(c, "n_shared_experts", 0, HF_MAX_SHARED, 0));
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 0));
    convert_hf_must_be(h, "norm_topk_prob", false, false);
    convert_hf_set_u32(h, "expert_gating_func", HF_SOFTMAX);
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
    convert_hf_set_u32(h, "leading_dense_block_count",
                       convert_hf_count_dense(h, 1));
}

static void
keys_youtu(struct hf *h)
{
    h->n_rot = convert_hf_set_latent(h, true);
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
    convert_hf_set_u32(h, "expert_gating_func", HF_SOFTMAX);
    rope.object = core_json_object_of(&h->config, "rope_parameters");
    n = core_json_int(&rope, "original_max_position_embeddings", 1, HF_MAX_CTX,
                      h->n_ctx);
    scale = core_json_number(&rope, "llama_4_scaling_beta", 0, 1e3, 0);
    if (rope.status != GG_OK)
        h->config.status = rope.status;
    convert_hf_set_f32(h, "attention.temperature_scale", scale);
    convert_hf_set_u32(h, "attention.temperature_length", n);
}

const struct hf_family convert_hf_family_deepseek2[] = {
    { "DeepseekV2ForCausalLM", "deepseek2",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_expert_names,
                 fused, convert_hf_shared_names, convert_hf_dense_names },
      .keys = keys_deepseek2 },
    { "DeepseekV3ForCausalLM", "deepseek2",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_expert_names,
                 fused, convert_hf_shared_names, convert_hf_dense_names },
      .keys = keys_deepseek3, .mtp = &convert_hf_mtp },
    { "SarvamMLAForCausalLM", "deepseek2",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_expert_names,
                 fused, convert_hf_shared_names, convert_hf_dense_names },
      .keys = keys_glm, .characters = true },
    { "Glm4MoeLiteForCausalLM", "deepseek2",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_expert_names,
                 fused, convert_hf_shared_names, convert_hf_dense_names },
      .keys = keys_glm, .epsilon = 1e-5, .mtp = &convert_hf_mtp },
    { "YoutuForCausalLM", "deepseek2",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_expert_names,
                 fused, convert_hf_shared_names, convert_hf_dense_names },
      .keys = keys_youtu },
    { "Mistral4ForCausalLM", "mistral4",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_expert_names,
                 fused, convert_hf_shared_names, convert_hf_dense_names },
      .keys = keys_mistral4 },
    { "Mistral3ForConditionalGeneration", "mistral4",
      .layer = { convert_hf_latent, convert_hf_norms, convert_hf_expert_names,
                 fused, convert_hf_shared_names, convert_hf_dense_names },
      .keys = keys_mistral4, .setting = "kv_lora_rank" },
    { 0 },
};
