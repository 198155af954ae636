/* qwen3.c - folders of Qwen 3, OpenELM */
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

static const struct hf_name openelm_whole[] = {
    { "transformer.token_embeddings", "token_embd", 0 },
    { "transformer.norm", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name openelm_layer[] = {
    { "attn_norm", "attn_norm", 0 },        { "attn.qkv_proj", "attn_qkv", 0 },
    { "attn.q_norm", "attn_q_norm", 0 },    { "attn.k_norm", "attn_k_norm", 0 },
    { "attn.out_proj", "attn_output", 0 },  { "ffn_norm", "ffn_norm", 0 },
    { "ffn.proj_1", "ffn_gate", HF_GATES }, { "ffn.proj_1", "ffn_up", HF_UPS },
    { "ffn.proj_2", "ffn_down", 0 },        { 0 },
};

/* A number of heads for each layer. */
static void
set_heads(struct hf *h, const char *from, const char *to)
{
    const json_t *list = convert_hf_layers_list(h, from);
    int32_t *x = mem_array((size_t)h->n_layer, sizeof(*x));

    if (!list)
        core_json_bad(&h->config, GG_ERR_FORMAT, "%s: is no list", from);
    for (int32_t i = 0; x && i < h->n_layer; i++) {
        json_int_t n = json_integer_value(json_array_get(list, (size_t)i));

        if (convert_hf_good(h) && (n < 1 || n > HF_MAX_HEADS))
            core_json_bad(&h->config, GG_ERR_FORMAT, "%s: %lld", from,
                          (long long)n);
        else
            x[i] = (int32_t)n;
    }
    convert_hf_set_layers(h, to, GGUF_TYPE_INT32, x);
}

/* The multiple of `of` that is next to it, but no more than a tenth below. */
static int64_t
divisible(double x, int64_t of)
{
    int64_t n = (int64_t)(x + (double)of / 2) / of * of;

    n = n > of ? n : of;
    return (double)n < 0.9 * x ? n + of : n;
}

static void
set_lengths(struct hf *h)
{
    const json_t *list = convert_hf_layers_list(h, "ffn_multipliers");
    int64_t of = convert_hf_number(h, "ffn_dim_divisor", 1 << 16, 256);
    int32_t *x = mem_array((size_t)h->n_layer, sizeof(*x));

    if (!list)
        core_json_bad(&h->config, GG_ERR_FORMAT, "ffn_multipliers: no list");
    for (int32_t i = 0; x && i < h->n_layer; i++) {
        double times = json_number_value(json_array_get(list, (size_t)i));
        double n = times * h->n_embd;

        if (convert_hf_good(h) && !(n > 0 && n < HF_MAX_FF / 2))
            core_json_bad(&h->config, GG_ERR_FORMAT, "ffn_multipliers: %g",
                          times);
        else
            x[i] = (int32_t)divisible(n, of);
    }
    convert_hf_set_layers(h, "feed_forward_length", GGUF_TYPE_INT32, x);
}

static void
keys_openelm(struct hf *h)
{
    const char *name =
        core_json_text(&h->config, "activation_fn_name", "swish");

    if (strcmp(name, "swish") != 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "activation_fn_name: is swish here");
    convert_hf_must_be(h, "ffn_with_glu", true, true);
    convert_hf_must_be(h, "normalize_qk_projections", true, true);
    convert_hf_must_be(h, "share_input_output_layers", true, true);
    h->d_head = (int32_t)convert_hf_number(h, "head_dim", HF_MAX_HEADS, 64);
    set_heads(h, "num_query_heads", "attention.head_count");
    set_heads(h, "num_kv_heads", "attention.head_count_kv");
    set_lengths(h);
}

const struct hf_family convert_hf_family_qwen3[] = {
    { "Qwen3ForCausalLM", "qwen3",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_mlp },
      .keys = convert_hf_keys_qwen3 },
    { "Qwen3VLForConditionalGeneration", "qwen3vl",
      .layer = { convert_hf_attention, convert_hf_head_norms, convert_hf_norms,
                 convert_hf_mlp },
      .keys = convert_hf_keys_qwen3vl },
    { "OpenELMForCausalLM", "openelm", .layer = { openelm_layer },
      .layers = "transformer.layers.", .whole = openelm_whole, .tied = true,
      .no_heads = true, .keys = keys_openelm },
    { 0 },
};
