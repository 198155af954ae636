/* falcon.c - folders of Falcon */
#include "convert/hf/families.h"

static const struct hf_name falcon_whole[] = {
    { "transformer.word_embeddings", "token_embd", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name falcon_layer[] = {
    { "ln_mlp", "attn_norm", HF_OR_NEXT },
    { "input_layernorm", "attn_norm", 0 },
    { "ln_attn", "attn_norm_2", HF_OPTIONAL },
    { "self_attention.query_key_value", "attn_qkv", HF_QKV },
    { "self_attention.dense", "attn_output", 0 },
    { "mlp.dense_h_to_4h", "ffn_up", 0 },
    { "mlp.dense_4h_to_h", "ffn_down", 0 },
    { 0 },
};

/* The first one has one head of keys, or as many as of queries. */
static void
keys_falcon(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    bool newer = core_json_bool(c, "new_decoder_architecture", false);
    bool one = core_json_bool(c, "multi_query", true);

    convert_hf_must_be(h, "alibi", false, false);
    convert_hf_must_be(h, "parallel_attn", true, true);
    h->n_head_kv = one ? 1 : h->n_head;
    if (newer)
        h->n_head_kv = (int32_t)core_json_int(c, "num_kv_heads", 1,
                                              HF_MAX_HEADS, h->n_head);
    if (h->n_head % h->n_head_kv)
        core_json_bad(c, GG_ERR_FORMAT,
                      "num_kv_heads: does not divide the heads");
}

const struct hf_family convert_hf_family_falcon[] = {
    { "FalconForCausalLM", "falcon", .layer = { falcon_layer },
      .layers = "transformer.h.", .whole = falcon_whole, .layer_norm = true,
      .activations = "gelu", .tied = true, .keys = keys_falcon },
    { 0 },
};
