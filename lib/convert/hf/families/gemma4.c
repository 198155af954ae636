/* gemma4.c - folders of Gemma 4, its drafters, EmbeddingGemma 2 */
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_EMBD = 1 << 20,
};

static const struct hf_name gemma4_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.embed_tokens_per_layer", "per_layer_token_embd",
      HF_VOCAB | HF_OPTIONAL },
    { "model.per_layer_model_projection", "per_layer_model_proj", HF_OPTIONAL },
    { "model.per_layer_projection_norm", "per_layer_proj_norm", HF_OPTIONAL },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
/* Tensors next to a feed-forward block: there are all of them or none. */
static const struct hf_name gemma4_experts[] = {
    { "router.proj", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "router.scale", "ffn_gate_inp.scale", HF_EXACT | HF_OPTIONAL },
    { "router.per_expert_scale", "ffn_down_exps.scale",
      HF_EXACT | HF_OPTIONAL },
    { "experts.gate_up_proj", "ffn_gate_up_exps.weight",
      HF_EXACT | HF_OPTIONAL },
    { "experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_OPTIONAL },
    { "pre_feedforward_layernorm_2", "pre_ffw_norm_2", HF_OPTIONAL },
    { "post_feedforward_layernorm_1", "post_ffw_norm_1", HF_OPTIONAL },
    { "post_feedforward_layernorm_2", "post_ffw_norm_2", HF_OPTIONAL },
    { 0 },
};

/* A setting of the layers that see all keys: by its name, or, since 2026, in a
 * list of what layers have otherwise. */
static int32_t
of_full_layers(struct hf *h, const char *name, const char *in_list,
               int32_t other)
{
    const json_t *list = core_json_object_of(&h->config, "per_layer_config");
    int64_t n = core_json_int(&h->config, name, 1, HF_MAX_HEADS, other);
    const char *layer;
    json_t *one;

    json_object_foreach((json_t *)(uintptr_t)list, layer, one)
    {
        const json_t *v = json_object_get(one, in_list);

        if (json_is_integer(v))
            n = json_integer_value(v);
    }
    if (n < 1 || n > HF_MAX_HEADS)
        core_json_bad(&h->config, GG_ERR_FORMAT, "per_layer_config: %s: %lld",
                      in_list, (long long)n);
    return (int32_t)n;
}

static int32_t
full_key_heads(struct hf *h)
{
    if (!core_json_bool(&h->config, "attention_k_eq_v", false))
        return h->n_head_kv;
    return of_full_layers(h, "num_global_key_value_heads",
                          "num_key_value_heads", h->n_head_kv);
}

/* Layers that see all keys have n heads of them. */
static void
set_key_heads(struct hf *h, int32_t n)
{
    int32_t *x = mem_array((size_t)h->n_layer, sizeof(*x));

    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (int32_t i = 0; x && i < h->n_layer; i++)
        x[i] = convert_hf_gemma_is_windowed(h, i, 6) ? h->n_head_kv : n;
    if (x)
        convert_hf_gemma_list(h, "attention.head_count_kv", GGUF_TYPE_INT32, x);
    mem_free(x);
}

/* Layers that share keys may be twice as wide. */
static void
set_wide(struct hf *h)
{
    int64_t shared =
        core_json_int(&h->config, "num_kv_shared_layers", 0, h->n_layer - 1, 0);
    int32_t *x;

    if (!core_json_bool(&h->config, "use_double_wide_mlp", false))
        return;
    x = mem_array((size_t)h->n_layer, sizeof(*x));
    if (!x)
        h->config.status = error_nomem(h->config.err);
    for (int32_t i = 0; x && i < h->n_layer; i++)
        x[i] = i < h->n_layer - shared ? h->n_ff : 2 * h->n_ff;
    if (x)
        convert_hf_gemma_list(h, "feed_forward_length", GGUF_TYPE_INT32, x);
    mem_free(x);
}

static void
set_head_lengths(struct hf *h)
{
    convert_hf_set_u32(h, "attention.key_length_swa", h->d_head);
    convert_hf_set_u32(h, "attention.value_length_swa", h->d_head);
    convert_hf_set_u32(h, "rope.dimension_count_swa", h->d_head);
    h->d_head = of_full_layers(h, "global_head_dim", "head_dim", 512);
}

static void
set_experts(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    if (!core_json_bool(c, "enable_moe_block", false))
        return;
    h->n_expert =
        (int32_t)core_json_int(c, "num_experts", 1, HF_MAX_EXPERTS, 0);
    convert_hf_set_u32(h, "expert_count", h->n_expert);
    convert_hf_set_u32(h, "expert_used_count",
                       core_json_int(c, "top_k_experts", 1, HF_MAX_USED, 0));
    convert_hf_set_u32(
        h, "expert_feed_forward_length",
        core_json_int(c, "moe_intermediate_size", 1, HF_MAX_FF, 0));
}

static void
keys_gemma4(struct hf *h)
{
    const char *both =
        core_json_text(&h->config, "use_bidirectional_attention", "");

    if (!strcmp(both, "all"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "use_bidirectional_attention: ids see earlier ones only "
                      "here");
    convert_hf_gemma_keys(h, 0, 6);
    set_key_heads(h, full_key_heads(h));
    set_wide(h);
    set_head_lengths(h);
    set_experts(h);
}

static const struct hf_name embedding_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.ple.per_layer_model_projection", "per_layer_model_proj", 0 },
    { "model.ple.per_layer_projection_norm", "per_layer_proj_norm", 0 },
    { "model.norm", "output_norm", 0 },
    { "model.embedding_projection", "dense_2", HF_F32 },
    { 0 },
};
static const struct hf_name embedding_layer[] = {
    { "ple_block.per_layer_input_gate", "inp_gate", 0 },
    { "ple_block.per_layer_projection", "proj", 0 },
    { "ple_block.post_per_layer_input_norm", "post_norm", 0 },
    { 0 },
};

/* An encoder; its window is counted to one side. */
static void
keys_embedding(struct hf *h)
{
    int32_t n = of_full_layers(h, "num_global_key_value_heads",
                               "num_key_value_heads", 1);

    convert_hf_gemma_keys(h, 0, 6);
    set_key_heads(h, n);
    set_head_lengths(h);
    convert_hf_set_u32(
        h, "attention.sliding_window",
        2 * convert_hf_number(h, "sliding_window", HF_MAX_CTX / 2, 512));
    convert_hf_set_bool(h, "attention.causal", false);
    convert_hf_set_u32(h, "pooling_type", HF_POOL_MEAN);
}

static const struct hf_name assistant_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { "pre_projection", "nextn.pre_projection", 0 },
    { "post_projection", "nextn.post_projection", 0 },
    { "masked_embedding.centroids", "masked_embd_centroids", HF_OPTIONAL },
    { "masked_embedding.token_ordering", "masked_embd_ordering",
      HF_EXACT | HF_IDS | HF_OPTIONAL },
    { 0 },
};

/* Tokens in clusters, of which the likeliest are looked at. */
static void
set_clusters(struct hf *h, struct core_json_keys *c)
{
    int64_t n;

    if (!core_json_bool(c, "use_ordered_embeddings", false))
        return;
    n = core_json_int(c, "num_centroids", 1, h->n_vocab, 2048);
    convert_hf_set_bool(h, "use_ordered_embeddings", true);
    convert_hf_set_u32(h, "n_centroids", n);
    convert_hf_set_u32(
        h, "centroid_top_k",
        core_json_int(c, "centroid_intermediate_top_k", 1, n, 32));
}

/* A drafter, whose layers read the keys and values of another model. */
static void
keys_assistant(struct hf *h)
{
    struct core_json_keys top = h->config;
    int64_t n = core_json_int(&h->config, "num_kv_shared_layers", 0, h->n_layer,
                              h->n_layer);

    if (n != 0 && n != h->n_layer)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "num_kv_shared_layers: a drafter has no keys of its own");
    convert_hf_must_be(h, "enable_moe_block", false, false);
    convert_hf_must_be(h, "use_double_wide_mlp", false, false);
    convert_hf_gemma_windows(h, 6);
    convert_hf_set_u32(h, "attention.shared_kv_layers", h->n_layer);
    convert_hf_set_u32(h, "nextn_predict_layers", h->n_layer);
    set_key_heads(h, full_key_heads(h));
    set_head_lengths(h);
    top.object = h->document;
    convert_hf_set_u32(
        h, "embedding_length_out",
        core_json_int(&top, "backbone_hidden_size", 1, MAX_EMBD, 1536));
    set_clusters(h, &top);
    if (top.status != GG_OK)
        h->config.status = top.status;
}

const struct hf_family convert_hf_family_gemma4[] = {
    { "Gemma4ForCausalLM|Gemma4ForConditionalGeneration|"
      "Gemma4UnifiedForConditionalGeneration",
      "gemma4",
      .layer = { convert_hf_gemma_attention, convert_hf_gemma4_norms,
                 convert_hf_mlp, gemma4_experts },
      .whole = gemma4_whole, .activations = HF_GELU_TANH, .tied = true,
      .keys = keys_gemma4, .listed = true, .ranked = true,
      .windowed_base = 10000 },
    { "Gemma4AssistantForCausalLM|Gemma4UnifiedAssistantForCausalLM",
      "gemma4-assistant",
      .layer = { convert_hf_gemma_attention, convert_hf_gemma4_norms,
                 convert_hf_mlp },
      .whole = assistant_whole, .activations = HF_GELU_TANH, .tied = true,
      .keys = keys_assistant, .listed = true, .ranked = true,
      .windowed_base = 10000 },
    { "EmbeddingGemma2Model|EmbeddingGemma2TextModel", "gemma-embedding2",
      .layer = { convert_hf_gemma_attention, convert_hf_gemma4_norms,
                 convert_hf_mlp, embedding_layer },
      .whole = embedding_whole, .activations = HF_GELU_TANH, .encoder = true,
      .tied = true, .keys = keys_embedding, .listed = true, .ranked = true,
      .windowed_base = 10000 },
    { 0 },
};
