/* qwen4exp.c - folders of Qwen 4 experimental (Qwen 3.8 Flash Next)
 *
 * What n-grams are hashed by is in tensors of integers, or follows from the
 * configuration: the heads' sizes are primes, and factors come from a generator
 * of random numbers (Steele et al. 2014, "SplitMix"). */
#include <stdio.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"
#include "core/order.h"

enum {
    MAX_STREAMS = 16,
    MAX_RANK = 1 << 16,
    MAX_NGRAM = 8,
    MAX_NGRAM_HEADS = 64,
    MAX_SHARDS = 1 << 16,
    MAX_INDEX = 1 << 12,
    MAX_BLOCK = 1 << 10,
    MAX_LENGTH = 1 << 24,
};

#define PLE     "ple."
#define NGRAMS  PLE "ple_embedding."
#define INDEXER "self_attn.indexer."
#define ATTN    "attn_hyper_connection."
#define FFN     "mlp_hyper_connection."
#define MIXER   "model.hyper_connection_mixer."

static const struct hf_name whole[] = {
    { "model.embed_tokens", "token_embd", HF_VOCAB },
    { MIXER "hc_norm", "output_hc_norm", HF_PLUS_1 },
    { MIXER "input_mix_weight_down", "output_hc_down", 0 },
    { MIXER "input_mix_weight_up", "output_hc_up", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name streams[] = {
    { ATTN "hc_norm", "hc_attn_norm", HF_PLUS_1 },
    { ATTN "input_mix_weight_down", "hc_attn_down", 0 },
    { ATTN "input_mix_weight_up", "hc_attn_up", 0 },
    { ATTN "block_inject_weight", "hc_attn_inject", 0 },
    { FFN "hc_norm", "hc_ffn_norm", HF_PLUS_1 },
    { FFN "input_mix_weight_down", "hc_ffn_down", 0 },
    { FFN "input_mix_weight_up", "hc_ffn_up", 0 },
    { FFN "block_inject_weight", "hc_ffn_inject", 0 },
    { 0 },
};
static const struct hf_name attention[] = {
    { "self_attn.q_proj", "attn_q", HF_OPTIONAL },
    { "self_attn.k_proj", "attn_k", HF_OPTIONAL },
    { "self_attn.v_proj", "attn_v", HF_OPTIONAL },
    { "self_attn.o_proj", "attn_output", HF_OPTIONAL },
    { "self_attn.q_norm", "attn_q_norm", HF_PLUS_1 | HF_OPTIONAL },
    { "self_attn.k_norm", "attn_k_norm", HF_PLUS_1 | HF_OPTIONAL },
    { INDEXER "index_qk_proj", "indexer.q_proj", HF_INDEX_Q | HF_OPTIONAL },
    { INDEXER "index_qk_proj", "indexer.k_proj", HF_INDEX_K | HF_OPTIONAL },
    { INDEXER "q_layernorm", "indexer.q_norm", HF_PLUS_1 | HF_OPTIONAL },
    { INDEXER "k_layernorm", "indexer.k_norm", HF_PLUS_1 | HF_OPTIONAL },
    { 0 },
};
static const struct hf_name ngrams[] = {
    { NGRAMS "ngram_embedding.shard_%d", "per_layer_token_embd",
      HF_SHARDS | HF_OR_NEXT | HF_OPTIONAL },
    { NGRAMS "ngram_embedding", "per_layer_token_embd",
      HF_SHARDS | HF_OPTIONAL },
    { PLE "key_proj", "ple_key", HF_OPTIONAL },
    { PLE "value_proj", "ple_value", HF_OPTIONAL },
    { PLE "norm_key", "ple_norm_key", HF_PLUS_1 | HF_OPTIONAL },
    { PLE "norm_query", "ple_norm_query", HF_PLUS_1 | HF_OPTIONAL },
    { PLE "norm_conv", "ple_norm_conv", HF_PLUS_1 | HF_OPTIONAL },
    { PLE "conv1d", "ple_conv1d", HF_SQUEEZE | HF_F32 | HF_OPTIONAL },
    { 0 },
};
/* MTP layers, and numbers that are keys. */
static const char *const left[] = { "mtp.", NGRAMS "layer_multipliers",
                                    NGRAMS "ngram_heads_", NULL };

/* ---- the indexer ----------------------------------------------------------
 */

static void
set_blocks(struct hf *h, int32_t block)
{
    const json_t *types = core_json_array_of(&h->config, "layer_types");
    int32_t *x = mem_array((size_t)(h->n_layer + h->n_mtp), sizeof(*x));
    int64_t period =
        convert_hf_number(h, "full_attention_interval", 1 << 12, 4);

    for (int32_t i = 0; x && i < h->n_layer; i++) {
        const char *t = json_string_value(json_array_get(types, (size_t)i));
        bool attends =
            t ? strcmp(t, "linear_attention") != 0 : (i + 1) % period == 0;

        x[i] = attends ? block : 0;
    }
    convert_hf_set_layers(h, "attention.compress_ratios", GGUF_TYPE_INT32, x);
}

static void
set_indexer(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int32_t block;

    convert_hf_must_be_int(h, "indexer_kv_heads", 1);
    h->index.n_head =
        (int32_t)core_json_int(c, "indexer_n_heads", 1, MAX_INDEX, 0);
    h->index.d = (int32_t)core_json_int(c, "indexer_head_dim", 1, MAX_INDEX, 0);
    block =
        (int32_t)core_json_int(c, "indexer_compress_ratio", 2, MAX_BLOCK, 0);
    convert_hf_set_u32(h, "attention.indexer.head_count", h->index.n_head);
    convert_hf_set_u32(h, "attention.indexer.key_length", h->index.d);
    convert_hf_set_u32(h, "attention.indexer.top_k",
                       core_json_int(c, "indexer_budget", 1, HF_MAX_CTX, 0));
    set_blocks(h, block);
}

/* ---- what n-grams are hashed by -------------------------------------------
 */

static bool
is_prime(uint64_t n)
{
    if (n < 2 || n % 2 == 0)
        return n == 2;
    for (uint64_t d = 3; d * d <= n; d += 2)
        if (n % d == 0)
            return false;
    return true;
}

/* The first n primes from `least` on, and what stands before each of them. */
static void
find_sizes(uint64_t least, int32_t n, uint64_t *sizes, uint64_t *first)
{
    uint64_t sum = 0;

    for (int32_t i = 0; i < n; i++, least++) {
        while (!is_prime(least))
            least++;
        sizes[i] = least;
        first[i] = sum;
        sum += least;
    }
}

static uint64_t
split_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Odd, so that products with ids fit 63 bits. */
static void
find_factors(uint64_t seed, int32_t n_vocab, int32_t n, uint64_t *factors)
{
    uint64_t bound = (uint64_t)INT64_MAX / (uint64_t)n_vocab / 2;

    for (int32_t i = 0; i < n; i++) {
        uint64_t step = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(i + 1);

        factors[i] = 2 * (split_mix(seed + step) % (bound ? bound : 1)) + 1;
    }
}

/* The folder's own, if it has some. */
static void
read_integers(struct hf *h, int32_t layer, const char *name, int32_t n,
              uint64_t *out)
{
    char full[128];
    const struct safetensors_tensor *t;

    snprintf(full, sizeof(full), "model.layers.%d." NGRAMS "%s", (int)layer,
             name);
    t = convert_hf_weights_find(&h->weights, full);
    if (!t)
        return;
    if (t->type != GGML_TYPE_I64 || t->n != (size_t)n)
        core_json_bad(&h->here, GG_ERR_FORMAT, "%s: is no list of %d integers",
                      full, (int)n);
    for (int32_t i = 0; i < n && convert_hf_good(h); i++)
        out[i] = core_load_le64(t->data + 8 * (size_t)i);
}

static void
set_integers(struct hf *h, const char *name, int32_t n, const uint64_t *x)
{
    char key[96];

    snprintf(key, sizeof(key), "%s.%s", h->family->arch, name);
    gguf_set_arr_data(h->gguf, key, GGUF_TYPE_UINT64, x, (size_t)n);
}

static void
set_hash(struct hf *h, int32_t layer, int32_t n, int32_t n_heads)
{
    struct core_json_keys *c = &h->config;
    uint64_t sizes[MAX_NGRAM_HEADS], first[MAX_NGRAM_HEADS];
    uint64_t factors[MAX_NGRAM];

    find_sizes((uint64_t)core_json_int(c, "ngram_vocab_size_base", 1, INT32_MAX,
                                       20000000),
               n_heads, sizes, first);
    find_factors((uint64_t)core_json_int(c, "seed", 0, INT32_MAX, 1234),
                 h->n_vocab, n, factors);
    read_integers(h, layer, "layer_multipliers", n, factors);
    read_integers(h, layer, "ngram_heads_offsets", n_heads, first);
    read_integers(h, layer, "ngram_heads_vocab_sizes", n_heads, sizes);
    set_integers(h, "ple.layer_multipliers", n, factors);
    set_integers(h, "ple.head_offsets", n_heads, first);
    set_integers(h, "ple.head_vocab_sizes", n_heads, sizes);
}

/* The first of several; of rows of media, that of images. */
static void
set_special_ids(struct hf *h)
{
    const json_t *end = core_json_find(&h->config, "eos_token_id");
    const json_t *image = json_object_get(h->document, "image_token_id");

    end = end ? end : json_object_get(h->document, "eos_token_id");
    end = json_is_array(end) ? json_array_get(end, 0) : end;
    if (!json_is_integer(end) || json_integer_value(end) < 0 ||
        json_integer_value(end) >= h->n_vocab)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "eos_token_id: n-grams begin after an id");
    convert_hf_set_u32(h, "ple.eos_token_id", json_integer_value(end));
    if (json_is_integer(image) && json_integer_value(image) >= 0 &&
        json_integer_value(image) < h->n_vocab)
        convert_hf_set_u32(h, "ple.image_token_id", json_integer_value(image));
}

/* Layers are counted from 1 there. */
static int32_t
find_layer(struct hf *h)
{
    const json_t *list = core_json_array_of(&h->config, "ple_layer_ids");
    int64_t layer = json_integer_value(json_array_get(list, 0));

    if (json_array_size(list) == 0)
        return -1;
    if (json_array_size(list) > 1 || layer < 1 || layer > h->n_layer)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "ple_layer_ids: is not one layer");
    return (int32_t)layer - 1;
}

static void
set_ngrams(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    int32_t layer = find_layer(h), n, each;
    int64_t width;
    char key[96];

    if (layer < 0)
        return;
    n = (int32_t)core_json_int(c, "ngram_size", 2, MAX_NGRAM, 3);
    each = (int32_t)core_json_int(c, "heads_per_ngram", 1,
                                  MAX_NGRAM_HEADS / (n > 1 ? n - 1 : 1), 8);
    width = core_json_int(c, "ple_embed_dim", 1, MAX_LENGTH, h->n_embd);
    h->n_shards =
        (int32_t)core_json_int(c, "split_ngram_parts", 1, MAX_SHARDS, 512);
    if (convert_hf_good(h) && width % (each * (n - 1)))
        core_json_bad(c, GG_ERR_FORMAT,
                      "ple_embed_dim: is no multiple of the heads");
    if (!convert_hf_good(h))
        return;
    snprintf(key, sizeof(key), "%s.ple.layers", h->family->arch);
    gguf_set_arr_data(h->gguf, key, GGUF_TYPE_INT32, &layer, 1);
    convert_hf_set_u32(h, "ple.ngram_size", n);
    convert_hf_set_u32(h, "ple.heads_per_ngram", each);
    convert_hf_set_u32(
        h, "ple.conv_kernel",
        convert_hf_number(h, "ple_conv_kernel_size", HF_MAX_CONV, 4));
    convert_hf_set_u32(h, "embedding_length_per_layer_input",
                       width / (each * (n - 1)));
    set_special_ids(h);
    set_hash(h, layer, n, each * (n - 1));
}

/* ---- all ------------------------------------------------------------------
 */

/* GGUF files have no key for the gate: it is a sigmoid. */
static void
check_gate(struct hf *h)
{
    const char *gate =
        core_json_text(&h->config, "output_gate_type",
                       core_json_text(&h->config, "hidden_act", "silu"));

    if (strcmp(gate, "sigmoid") != 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "output_gate_type: '%.40s' is not sigmoid, which files "
                      "of this family have",
                      gate);
}

static void
keys_qwen4exp(struct hf *h)
{
    convert_hf_keys_qwen_delta(h, "full_attention|indexed_attention");
    convert_hf_set_qwen_sections(h);
    convert_hf_keys_qwen_shared(h, 10);
    convert_hf_must_be(h, "norm_topk_prob", true, true);
    check_gate(h);
    convert_hf_set_u32(h, "hyper_connection.count",
                       convert_hf_number(h, "hc_count", MAX_STREAMS, 4));
    convert_hf_set_u32(h, "hyper_connection.low_rank",
                       convert_hf_number(h, "hc_lowrank", MAX_RANK, 320));
    if (core_json_find(&h->config, "indexer_n_heads"))
        set_indexer(h);
    set_ngrams(h);
}

const struct hf_family convert_hf_family_qwen4exp[] = {
    { "Qwen4ExpForCausalLM|Qwen4ExpForConditionalGeneration", "qwen4exp",
      .layer = { streams, attention, convert_hf_qwen_delta, ngrams,
                 convert_hf_qwen_mixture },
      .whole = whole, .any_layers = true, .left_out = left,
      .keys = keys_qwen4exp },
    { 0 },
};
