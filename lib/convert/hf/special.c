/* special.c - the configuration in GGUF's keys: what only some have
 *
 * Settings that the graphs of lib/graph do not follow are refused: a model
 * that is converted computes what it did. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_CTX = 1 << 28,
    MAX_FF = 1 << 24,
    MAX_EXPERTS = 1 << 12,
    MAX_USED = 64,
    MAX_HEADS = 1 << 16,
};

void
convert_hf_keys_window(struct hf *h)
{
    int64_t n = core_json_int(&h->config, "sliding_window", 0, MAX_CTX, 0);

    if (n)
        convert_hf_set_u32(h, "attention.sliding_window", n);
}

void
convert_hf_set_experts(struct hf *h, int64_t used)
{
    struct core_json_keys *c = &h->config;

    h->n_expert = (int32_t)core_json_int(
        c, "num_local_experts|num_experts|n_routed_experts|moe_num_experts", 1,
        MAX_EXPERTS, 0);
    convert_hf_set_u32(h, "expert_count", h->n_expert);
    convert_hf_set_u32(
        h, "expert_used_count",
        core_json_int(c,
                      "num_experts_per_tok|experts_per_token|"
                      "num_experts_per_token|moe_topk|moe_k|moe_top_k",
                      1, MAX_USED, used));
}

void
convert_hf_keys_mixtral(struct hf *h)
{
    convert_hf_keys_window(h);
    convert_hf_set_experts(h, 2);
}

/* Windows begin at a layer that no model has. */
void
convert_hf_keys_qwen(struct hf *h)
{
    bool windowed = core_json_bool(&h->config, "use_sliding_window", false);
    int64_t from =
        core_json_int(&h->config, "max_window_layers", 0, 1 << 20, h->n_layer);

    if (windowed && from < h->n_layer &&
        core_json_find(&h->config, "sliding_window"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "use_sliding_window: %s has no windows here",
                      h->family->arch);
}

void
convert_hf_keys_qwen_moe(struct hf *h, int64_t used)
{
    const json_t *dense = core_json_array_of(&h->config, "mlp_only_layers");

    convert_hf_keys_qwen(h);
    convert_hf_set_experts(h, used);
    convert_hf_must_be_int(h, "decoder_sparse_step", 1);
    if (json_array_size(dense))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "mlp_only_layers: %s has experts in all layers here",
                      h->family->arch);
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        core_json_int(&h->config, "moe_intermediate_size", 1, MAX_FF, 0));
}

void
convert_hf_keys_qwen2moe(struct hf *h)
{
    convert_hf_keys_qwen_moe(h, 4);
    convert_hf_must_be(h, "norm_topk_prob", false, false);
    convert_hf_set_u32(h, "expert_shared_feed_forward_length",
                       core_json_int(&h->config,
                                     "shared_expert_intermediate_size", 1,
                                     MAX_FF, 0));
}

void
convert_hf_keys_qwen3moe(struct hf *h)
{
    convert_hf_keys_qwen_moe(h, 8);
    convert_hf_must_be(h, "norm_topk_prob", true, false);
}

/* Scores are scaled by heads of this length; the largest model's, whose depth
 * `deep` is, by that which its heads would have if they shared the embedding's.
 */
static void
keys_gemma(struct hf *h, int32_t deep)
{
    struct core_json_keys *c = &h->config;
    int32_t d = h->n_layer == deep ? h->n_embd / h->n_head : h->d_head;

    if (core_json_number(c, "query_pre_attn_scalar", 0, 1e6, d) != d)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "query_pre_attn_scalar: %s of %d layers has %d here",
                      h->family->arch, (int)h->n_layer, (int)d);
    convert_hf_keys_window(h);
    convert_hf_set_f32(
        h, "final_logit_softcapping",
        core_json_number(c, "final_logit_softcapping", 0, 1e6, 0));
}

void
convert_hf_keys_gemma2(struct hf *h)
{
    keys_gemma(h, 46);
    convert_hf_set_f32(
        h, "attn_logit_softcapping",
        core_json_number(&h->config, "attn_logit_softcapping", 0, 1e6, 0));
}

void
convert_hf_keys_gemma3(struct hf *h)
{
    keys_gemma(h, 62);
    convert_hf_must_be_int(h, "attn_logit_softcapping", 0);
    convert_hf_must_be_int(h, "sliding_window_pattern", 6);
    convert_hf_must_be(h, "use_bidirectional_attention", false, false);
}

/* An encoder; windows are half to each side. */
void
convert_hf_keys_gemma_embedding(struct hf *h)
{
    keys_gemma(h, -1);
    convert_hf_must_be_int(h, "attn_logit_softcapping", 0);
    convert_hf_must_be_int(h, "sliding_window_pattern", 6);
    convert_hf_must_be(h, "use_bidirectional_attention", true, false);
    convert_hf_set_bool(h, "attention.causal", false);
}

void
convert_hf_keys_gpt_neox(struct hf *h)
{
    convert_hf_set_bool(
        h, "use_parallel_residual",
        core_json_bool(&h->config, "use_parallel_residual", true));
}

/* The first one has one head of keys, or as many as of queries. */
void
convert_hf_keys_falcon(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    bool newer = core_json_bool(c, "new_decoder_architecture", false);
    bool one = core_json_bool(c, "multi_query", true);

    convert_hf_must_be(h, "alibi", false, false);
    convert_hf_must_be(h, "parallel_attn", true, true);
    h->n_head_kv = one ? 1 : h->n_head;
    if (newer)
        h->n_head_kv =
            (int32_t)core_json_int(c, "num_kv_heads", 1, MAX_HEADS, h->n_head);
    if (h->n_head % h->n_head_kv)
        core_json_bad(c, GG_ERR_FORMAT,
                      "num_kv_heads: does not divide the heads");
}

void
convert_hf_keys_phi2(struct hf *h)
{
    convert_hf_must_be(h, "qk_layernorm", false, false);
}

/* No window is a window of 0: files of this family always say. */
void
convert_hf_keys_phi3(struct hf *h)
{
    int64_t old = core_json_int(&h->config, "original_max_position_embeddings",
                                0, MAX_CTX, 0);

    if (old)
        convert_hf_set_u32(h, "rope.scaling.original_context_length", old);
    convert_hf_set_u32(
        h, "attention.sliding_window",
        core_json_int(&h->config, "sliding_window", 0, MAX_CTX, 0));
}

void
convert_hf_keys_gpt_oss(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    double limit = core_json_number(c, "swiglu_limit", 0, 1e6, 7);

    convert_hf_keys_window(h);
    convert_hf_set_experts(h, 4);
    convert_hf_set_u32(h, "expert_feed_forward_length", h->n_ff);
    if (limit != 7)
        core_json_bad(c, GG_ERR_UNSUPPORTED, "swiglu_limit: %g, not 7", limit);
}

/* Every fourth layer is without. */
void
convert_hf_keys_smollm3(struct hf *h)
{
    const json_t *list = core_json_array_of(&h->config, "no_rope_layers");

    convert_hf_must_be_int(h, "no_rope_layer_interval", 4);
    convert_hf_must_be(h, "use_sliding_window", false, false);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_integer_value(json_array_get(list, i)) != (i % 4 != 3))
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "no_rope_layers: smollm3 has each fourth here");
}

/* Layers with a window; without a list, all but number `full` of each four. */
static void
set_listed(struct hf *h, size_t full)
{
    const json_t *list = core_json_array_of(&h->config, "layer_types");
    bool *windowed = mem_array((size_t)h->n_layer, sizeof(*windowed));
    char key[96];

    snprintf(key, sizeof(key), "%s.attention.sliding_window_pattern",
             h->family->arch);
    convert_hf_keys_window(h);
    if (json_array_size(list) && json_array_size(list) != (size_t)h->n_layer)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "layer_types: not one a layer");
    if (!windowed)
        h->config.status = error_nomem(h->config.err);
    for (size_t i = 0; windowed && i < (size_t)h->n_layer; i++) {
        const char *type = json_string_value(json_array_get(list, i));

        windowed[i] = type ? !strcmp(type, "sliding_attention") : i % 4 != full;
    }
    if (windowed)
        gguf_set_arr_data(h->gguf, key, GGUF_TYPE_BOOL, windowed,
                          (size_t)h->n_layer);
    mem_free(windowed);
}

void
convert_hf_keys_listed(struct hf *h)
{
    set_listed(h, 3);
}

void
convert_hf_keys_listed_behind(struct hf *h)
{
    set_listed(h, 0);
}

void
convert_hf_keys_granite(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_f32(h, "attention.scale",
                       core_json_number(c, "attention_multiplier", 0, 1e6, 1));
    convert_hf_set_f32(h, "embedding_scale",
                       core_json_number(c, "embedding_multiplier", 0, 1e6, 1));
    convert_hf_set_f32(h, "residual_scale",
                       core_json_number(c, "residual_multiplier", 0, 1e6, 1));
    convert_hf_set_f32(h, "logit_scale",
                       core_json_number(c, "logits_scaling", 1e-6, 1e6, 1));
}

#endif
