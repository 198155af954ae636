/* minimax_m3.c - folders of MiniMax M3, as its maker saves them, and as others
 * do: with gates and ups in one */
#include <string.h>

#include "convert/hf/families.h"

static const struct hf_name norms[] = {
    { "input_layernorm", "attn_norm", HF_PLUS_1 },
    { "post_attention_layernorm", "ffn_norm", HF_PLUS_1 },
    { "self_attn.q_norm", "attn_q_norm", HF_PLUS_1 },
    { "self_attn.k_norm", "attn_k_norm", HF_PLUS_1 },
    { 0 },
};
static const struct hf_name indexer[] = {
    { "self_attn.index_q_proj", "indexer.q_proj", HF_F32 | HF_OPTIONAL },
    { "self_attn.index_k_proj", "indexer.k_proj", HF_F32 | HF_OPTIONAL },
    { "self_attn.index_q_norm", "indexer.q_norm", HF_PLUS_1 | HF_OPTIONAL },
    { "self_attn.index_k_norm", "indexer.k_norm", HF_PLUS_1 | HF_OPTIONAL },
    { "self_attn.indexer.q_proj", "indexer.q_proj", HF_F32 | HF_OPTIONAL },
    { "self_attn.indexer.k_proj", "indexer.k_proj", HF_F32 | HF_OPTIONAL },
    { "self_attn.indexer.q_norm", "indexer.q_norm", HF_PLUS_1 | HF_OPTIONAL },
    { "self_attn.indexer.k_norm", "indexer.k_norm", HF_PLUS_1 | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name dense[] = {
    { "mlp.gate_proj", "ffn_gate", HF_OPTIONAL },
    { "mlp.up_proj", "ffn_up", HF_OPTIONAL },
    { "mlp.gate_up_proj", "ffn_gate", HF_GATES | HF_OPTIONAL },
    { "mlp.gate_up_proj", "ffn_up", HF_UPS | HF_OPTIONAL },
    { "mlp.down_proj", "ffn_down", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name maker[] = {
    { "block_sparse_moe.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { 0 },
};
#define BOTH   "mlp.experts.gate_up_proj"
#define SHARED "mlp.shared_experts.gate_up_proj"
static const struct hf_name others[] = {
    { "mlp.gate", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { "mlp.gate.e_score_correction_bias", "exp_probs_b.bias",
      HF_EXACT | HF_F32 | HF_OPTIONAL },
    { BOTH, "ffn_gate_exps.weight", HF_GATES | HF_EXACT | HF_OPTIONAL },
    { BOTH, "ffn_up_exps.weight", HF_UPS | HF_EXACT | HF_OPTIONAL },
    { "mlp.experts.down_proj", "ffn_down_exps.weight", HF_EXACT | HF_OPTIONAL },
    { SHARED, "ffn_gate_shexp", HF_GATES | HF_OPTIONAL },
    { SHARED, "ffn_up_shexp", HF_UPS | HF_OPTIONAL },
    { "mlp.shared_experts.down_proj", "ffn_down_shexp", HF_OPTIONAL },
    { 0 },
};

/* Layers in front of which a list says 0, which the maker's file has, or of
 * which the other one says dense. */
static int64_t
count_dense(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "moe_layer_freq");
    size_t n = 0, all = json_array_size(list);

    if (!list)
        return convert_hf_count_listed_dense(h);
    while (n < all && json_integer_value(json_array_get(list, n)) == 0)
        n++;
    for (size_t i = n; i < all; i++)
        if (json_integer_value(json_array_get(list, i)) == 0)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "moe_layer_freq: layer %zu is dense, but not those "
                          "before it",
                          i);
    return (int64_t)n;
}

/* Whether a layer attends to blocks alone, as the lists of either kind say. */
static bool
is_sparse(const json_t *types, const json_t *flags, size_t layer)
{
    const char *type = json_string_value(json_array_get(types, layer));

    return type ? strcmp(type, "minimax_m3_sparse") == 0
                : json_integer_value(json_array_get(flags, layer)) != 0;
}

/* Layers with experts attend to blocks, the others to all keys. */
static void
check_layers(struct hf *h, struct core_json_keys *sparse, int64_t n_dense)
{
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    const json_t *flags = core_json_array_of(sparse, "sparse_attention_freq");

    for (int32_t i = 0; i < h->n_layer; i++)
        if (is_sparse(types, flags, (size_t)i) != (i >= n_dense))
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "layer_types: layer %d: those with experts, and no "
                          "others, attend to blocks here",
                          (int)i);
}

/* A number of the indexer, by the name that it has in either place. */
static void
set_indexer(struct hf *h, struct core_json_keys *sparse, const char *key,
            const char *name, const char *other_name, int64_t other)
{
    int64_t n = core_json_int(&h->config, name, 1, HF_MAX_CTX, other);

    if (sparse->object)
        n = core_json_int(sparse, other_name, 1, HF_MAX_CTX, n);
    convert_hf_set_u32(h, key, n);
}

static void
set_sparse(struct hf *h, int64_t n_dense)
{
    struct core_json_keys sparse = h->config;

    sparse.object = core_json_object_of(&h->config, "sparse_attention_config");
    check_layers(h, &sparse, n_dense);
    set_indexer(h, &sparse, "attention.indexer.head_count", "index_n_heads",
                "sparse_num_index_heads", 4);
    set_indexer(h, &sparse, "attention.indexer.key_length", "index_head_dim",
                "sparse_index_dim", 128);
    set_indexer(h, &sparse, "attention.indexer.top_k", "index_topk_blocks",
                "sparse_topk_blocks", 16);
    set_indexer(h, &sparse, "attention.indexer.block_size", "index_block_size",
                "sparse_block_size", 128);
    set_indexer(h, &sparse, "attention.indexer.local_blocks",
                "index_local_blocks", "sparse_local_block", 1);
    if (sparse.status != GG_OK)
        h->config.status = sparse.status;
}

/* The shared experts, counted by the length of the others. */
static void
set_shared(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n_ff = core_json_int(c, "intermediate_size", 1, HF_MAX_FF, 0);
    int64_t n = core_json_int(c, "n_shared_experts", 0, HF_MAX_SHARED, 1);
    int64_t shared =
        core_json_int(c, "shared_intermediate_size", 1, HF_MAX_FF, n * n_ff);

    convert_hf_set_expert_length(h, "intermediate_size");
    if (n_ff > 0 && shared % n_ff != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "shared_intermediate_size: %lld is no multiple of %lld",
                      (long long)shared, (long long)n_ff);
    else if (n_ff > 0)
        convert_hf_set_u32(h, "expert_shared_count", shared / n_ff);
}

static void
must_be_number(struct hf *h, const char *name, double value)
{
    if (core_json_number(&h->config, name, 0, 1e6, value) != value)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED, "%s: it is %g here", name,
                      value);
}

static void
keys_m3(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int64_t n_dense = count_dense(h);

    convert_hf_set_u32(
        h, "feed_forward_length",
        core_json_int(c, "dense_intermediate_size", 1, HF_MAX_FF, 12288));
    convert_hf_set_u32(h, "leading_dense_block_count", n_dense);
    convert_hf_set_experts(h, 4);
    set_shared(h);
    convert_hf_set_u32(h, "expert_gating_func", HF_SIGMOID);
    convert_hf_set_bool(h, "expert_weights_norm", true);
    convert_hf_set_f32(h, "expert_weights_scale",
                       core_json_number(c, "routed_scaling_factor", 0, 1e6, 2));
    must_be_number(h, "swiglu_alpha", 1.702);
    must_be_number(h, "swiglu_limit", 7);
    set_sparse(h, n_dense);
}

const struct hf_family convert_hf_family_minimax_m3[] = {
    { "MiniMaxM3SparseForConditionalGeneration|MiniMaxM3SparseForCausalLM|"
      "MiniMaxM3VLForCausalLM",
      "minimax-m3",
      .layer = { convert_hf_attention, norms, indexer, dense, maker,
                 convert_hf_kimi_mixture, others },
      .whole = convert_hf_usual_plus_1, .activations = "silu|swigluoai",
      .any_layers = true, .keys = keys_m3 },
    { 0 },
};
