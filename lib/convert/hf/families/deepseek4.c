/* deepseek4.c - folders of DeepSeek V4 */
#include <math.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_RATIO = 1 << 10,
    MAX_RANK = 1 << 16,
    MAX_GROUPS = 1 << 10,
    MAX_STREAMS = 16,
    MAX_SINKHORN = 1000,
};

/* Names of the maker's folders, and of those that transformers makes. */
static const struct hf_name whole[] = {
    { "embed", "token_embd", 0 },
    { "norm", "output_norm", 0 },
    { "head", "output", 0 },
    { "hc_head_fn", "output_hc_fn.weight", HF_EXACT | HF_F32 },
    { "hc_head_base", "output_hc_base.weight", HF_EXACT | HF_F32 },
    { "hc_head_scale", "output_hc_scale.weight", HF_EXACT | HF_F32 },
    { 0 },
};
static const struct hf_name whole_saved[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { "head", "output", HF_OR_NEXT },
    { "lm_head", "output", 0 },
    { "model.hc_head.hc_fn", "output_hc_fn.weight", HF_EXACT | HF_F32 },
    { "model.hc_head.hc_base", "output_hc_base.weight", HF_EXACT | HF_F32 },
    { "model.hc_head.hc_scale", "output_hc_scale.weight", HF_EXACT | HF_F32 },
    { 0 },
};

static const struct hf_name attention[] = {
    { "attn_norm", "attn_norm", 0 },
    { "attn.attn_sink", "attn_sinks.weight", HF_EXACT | HF_F32 },
    { "attn.wq_a", "attn_q_a", 0 },
    { "attn.q_norm", "attn_q_a_norm", 0 },
    { "attn.wq_b", "attn_q_b", 0 },
    { "attn.wkv", "attn_kv", 0 },
    { "attn.kv_norm", "attn_kv_a_norm", HF_OR_NEXT },
    { "attn.norm", "attn_kv_a_norm", 0 },
    { "attn.wo_a", "attn_output_a", 0 },
    { "attn.wo_b", "attn_output_b", 0 },
    { 0 },
};

#define BLOCKS(from, to)                                                       \
    { from ".wkv", to "_kv", HF_OPTIONAL },                                    \
        { from ".wgate", to "_gate", HF_OPTIONAL },                            \
        { from ".ape", to "_ape.weight", HF_EXACT | HF_F32 | HF_OPTIONAL },    \
    {                                                                          \
        from ".norm", to "_norm", HF_OPTIONAL                                  \
    }
static const struct hf_name blocks[] = {
    BLOCKS("attn.compressor", "attn_compressor"),
    BLOCKS("attn.indexer.compressor", "indexer_compressor"),
    { "attn.indexer.wq_b", "indexer.attn_q_b", HF_OPTIONAL },
    { "attn.indexer.weights_proj", "indexer.proj", HF_OPTIONAL },
    { 0 },
};

static const struct hf_name mixture[] = {
    { "ffn_norm", "ffn_norm", 0 },
    { "ffn.gate.weight", "ffn_gate_inp.weight", HF_EXACT | HF_F32 },
    { "ffn.gate.bias", "exp_probs_b.bias", HF_EXACT | HF_F32 | HF_OPTIONAL },
    { "ffn.gate.tid2eid", "ffn_gate_tid2eid.weight",
      HF_EXACT | HF_IDS | HF_OPTIONAL },
    { "ffn.experts.%d.w1", "ffn_gate_exps", 0 },
    { "ffn.experts.%d.w2", "ffn_down_exps", 0 },
    { "ffn.experts.%d.w3", "ffn_up_exps", 0 },
    { "ffn.shared_experts.w1", "ffn_gate_shexp", 0 },
    { "ffn.shared_experts.w2", "ffn_down_shexp", 0 },
    { "ffn.shared_experts.w3", "ffn_up_shexp", 0 },
    { 0 },
};

/* ---- settings ------------------------------------------------------------ */

static void
set_number(struct hf *h, const char *from, const char *to, int32_t max,
           int64_t other)
{
    convert_hf_set_u32(h, to, convert_hf_number(h, from, max, other));
}

/* The ratio of a layer by the word for its attention. */
static int64_t
ratio_of(struct hf *h, const char *type)
{
    static const struct {
        const char *type;
        int64_t usual;
    } types[] = { { "sliding_attention", 0 },
                  { "compressed_sparse_attention", 4 },
                  { "heavily_compressed_attention", 128 } };
    struct core_json_keys rates = h->config;

    rates.object = core_json_object_of(&h->config, "compress_rates");
    for (size_t i = 0; type && i < sizeof(types) / sizeof(types[0]); i++)
        if (!strcmp(type, types[i].type))
            return types[i].usual && rates.object
                       ? core_json_int(&rates, type, 1, MAX_RATIO,
                                       types[i].usual)
                       : types[i].usual;
    core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                  "layer_types: %.40s is none of sliding_attention, "
                  "compressed_sparse_attention, heavily_compressed_attention",
                  type ? type : "null");
    return 0;
}

/* One a layer, of the maker's list, which has MTP layers', too, or by words. */
static void
set_ratios(struct hf *h)
{
    const json_t *list = core_json_array_of(&h->config, "compress_ratios");
    const json_t *types = convert_hf_layers_list(h, "layer_types");
    size_t n = (size_t)h->n_layer;
    int32_t *x = mem_array(n, sizeof(*x));

    if (!x) {
        h->config.status = error_nomem(h->config.err);
        return;
    }
    if (!types && json_array_size(list) < n)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "compress_ratios: no number for each layer");
    for (size_t i = 0; i < n && convert_hf_good(h); i++) {
        const json_t *at = json_array_get(types ? types : list, i);

        x[i] = (int32_t)(types ? ratio_of(h, json_string_value(at))
                               : json_integer_value(at));
    }
    convert_hf_set_layers(h, "attention.compress_ratios", GGUF_TYPE_INT32, x);
}

/* The first layers, as a number or a list says. */
static void
set_hash_layers(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "mlp_layer_types");
    size_t n = json_array_size(list), hash = 0;
    int64_t said = core_json_int(&h->config, "num_hash_layers", 0, h->n_layer,
                                 h->n_layer < 3 ? h->n_layer : 3);

    for (size_t i = 0; i < n; i++) {
        const char *type = json_string_value(json_array_get(list, i));
        bool is_hash = type && !strcmp(type, "hash_moe");

        if (is_hash && hash == i)
            hash++;
        else if (is_hash || !type || strcmp(type, "moe") != 0)
            core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                          "mlp_layer_types: %.40s in layer %zu: hash_moe is in "
                          "front here, and moe follows",
                          type ? type : "null", i);
    }
    convert_hf_set_u32(h, "hash_layer_count", list ? (int64_t)hash : said);
}

static void
set_limits(struct hf *h)
{
    double limit = core_json_number(&h->config, "swiglu_limit", 0, 1e6, 10);
    const char *const names[] = { "swiglu_clamp_exp", "swiglu_clamp_shexp" };

    for (int k = 0; k < 2; k++) {
        float *x = mem_array((size_t)h->n_layer, sizeof(*x));

        if (!x) {
            h->config.status = error_nomem(h->config.err);
            return;
        }
        for (int32_t i = 0; i < h->n_layer; i++)
            x[i] = (float)limit;
        convert_hf_set_layers(h, names[k], GGUF_TYPE_FLOAT32, x);
    }
}

static void
set_mixture(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *gating = core_json_text(c, "scoring_func", "sqrtsoftplus");

    h->n_ff =
        (int32_t)convert_hf_number(h, "moe_intermediate_size", HF_MAX_FF, 2048);
    convert_hf_set_experts(h, 6);
    convert_hf_set_expert_length(h, "moe_intermediate_size");
    set_number(h, "n_shared_experts", "expert_shared_count", HF_MAX_SHARED, 1);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    convert_hf_set_bool(h, "expert_weights_norm", true);
    convert_hf_set_f32(
        h, "expert_weights_scale",
        core_json_number(c, "routed_scaling_factor", 0, 1e6, 1.5));
    if (strcmp(gating, "sqrtsoftplus") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "scoring_func: %.40s is not sqrtsoftplus", gating);
    convert_hf_set_u32(h, "expert_gating_func", HF_SQRT_SOFTPLUS);
}

/* Both bases stand next to the scaling, or in it. */
static void
set_bases(struct hf *h)
{
    struct core_json_keys *c = &h->config, own = h->config, other = h->config;
    const json_t *rope = core_json_object_of(c, "rope_parameters");
    double main = core_json_number(c, "rope_theta", 1, 1e12, 10000);
    double other_base =
        core_json_number(c, "compress_rope_theta", 1, 1e12, 160000);

    own.object = json_object_get(rope, "main");
    other.object = json_object_get(rope, "compress");
    if (json_is_object(own.object))
        main = core_json_number(&own, "rope_theta", 1, 1e12, main);
    if (json_is_object(other.object))
        other_base =
            core_json_number(&other, "rope_theta", 1, 1e12, other_base);
    convert_hf_set_f32(h, "rope.freq_base", main);
    convert_hf_set_f32(h, "attention.compress_rope_freq_base", other_base);
}

static void
keys_deepseek4(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    double part = core_json_number(c, "partial_rotary_factor", 0, 1, 0.125);

    h->n_rot = (int32_t)core_json_int(c, "qk_rope_head_dim", 2, h->d_head,
                                      lround(part * h->d_head));
    set_number(h, "q_lora_rank", "attention.q_lora_rank", MAX_RANK, 1024);
    set_number(h, "sliding_window", "attention.sliding_window", HF_MAX_CTX,
               128);
    set_number(h, "o_groups", "attention.output_group_count", MAX_GROUPS, 8);
    set_number(h, "o_lora_rank", "attention.output_lora_rank", MAX_RANK, 1024);
    convert_hf_set_indexer(h);
    set_ratios(h);
    set_bases(h);
    set_number(h, "hc_mult", "hyper_connection.count", MAX_STREAMS, 4);
    set_number(h, "hc_sinkhorn_iters", "hyper_connection.sinkhorn_iterations",
               MAX_SINKHORN, 20);
    convert_hf_set_f32(h, "hyper_connection.epsilon",
                       core_json_number(c, "hc_eps", 0, 1, 1e-6));
    set_mixture(h);
    set_hash_layers(h);
    set_limits(h);
}

static const char *const left_out[] = { "mtp.", NULL };

const struct hf_family convert_hf_family_deepseek4[] = {
    { "DeepseekV4ForCausalLM", "deepseek4", .setting = "compress_ratios",
      .layers = "layers.", .whole = whole,
      .layer = { attention, blocks, convert_hf_stream_names, mixture },
      .keys = keys_deepseek4, .any_layers = true, .no_base = true,
      .left_out = left_out },
    { "DeepseekV4ForCausalLM", "deepseek4", .whole = whole_saved,
      .layer = { attention, blocks, convert_hf_stream_names, mixture },
      .keys = keys_deepseek4, .any_layers = true, .no_base = true,
      .left_out = left_out },
    { 0 },
};
