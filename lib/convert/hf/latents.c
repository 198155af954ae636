/* latents.c - latent attention
 *
 * One matrix makes keys and values of all heads of the latent row. Files have
 * it in two parts, for graphs that keep the row alone, or whole. */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "convert/hf/families.h"

enum {
    MAX_LENGTH = 1 << 16,
};

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
const struct hf_name convert_hf_latent[] = {
    LATENT,
    { "self_attn.kv_b_proj.weight", "attn_k_b.weight",
      HF_LATENT_K | HF_EXACT | HF_OPTIONAL },
    { "self_attn.kv_b_proj.weight", "attn_v_b.weight",
      HF_LATENT_V | HF_EXACT | HF_OPTIONAL },
    { 0 },
};
const struct hf_name convert_hf_latent_whole[] = {
    LATENT,
    { "self_attn.kv_b_proj", "attn_kv_b", 0 },
    { 0 },
};

/* The indexer, which chooses the positions that attention reads. */
const struct hf_name convert_hf_indexer[] = {
    { "self_attn.indexer.wq_b", "indexer.attn_q_b", HF_OPTIONAL },
    { "self_attn.indexer.wk", "indexer.attn_k", HF_OPTIONAL },
    { "self_attn.indexer.k_norm", "indexer.k_norm", HF_OPTIONAL },
    { "self_attn.indexer.weights_proj", "indexer.proj", HF_F32 | HF_OPTIONAL },
    { 0 },
};

static int32_t
length(struct hf *h, const char *name, int32_t least)
{
    return (int32_t)core_json_int(&h->config, name, least, MAX_LENGTH, -1);
}

/* Returns how much of a key turns; where nothing does, all heads share it as
 * well, and it may be nothing. */
int32_t
convert_hf_set_latent(struct hf *h, bool absorbed)
{
    int32_t n = length(h, "kv_lora_rank", 1);
    int32_t shared =
        length(h, "qk_rope_head_dim", h->family->positions ? 0 : 2);

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

void
convert_hf_set_indexer(struct hf *h)
{
    convert_hf_set_u32(h, "attention.indexer.head_count",
                       length(h, "index_n_heads", 1));
    convert_hf_set_u32(h, "attention.indexer.key_length",
                       length(h, "index_head_dim", 1));
    convert_hf_set_u32(
        h, "attention.indexer.top_k",
        core_json_int(&h->config, "index_topk", 1, HF_MAX_CTX, -1));
}

/* Layers in front without experts, where the configuration says which have
 * some; `other` where it does not. */
int64_t
convert_hf_count_dense(struct hf *h, int64_t other)
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

#endif
