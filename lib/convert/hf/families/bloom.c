/* bloom.c - folders of BLOOM */
#include "convert/hf/families.h"

static const struct hf_name bloom_whole[] = {
    { "transformer.word_embeddings", "token_embd", 0 },
    { "transformer.word_embeddings_layernorm", "token_embd_norm", 0 },
    { "transformer.ln_f", "output_norm", 0 },
    { "lm_head", "output", HF_OPTIONAL },
    { 0 },
};
static const struct hf_name bloom_layer[] = {
    { "input_layernorm", "attn_norm", 0 },
    { "self_attention.query_key_value", "attn_qkv", HF_QKV },
    { "self_attention.dense", "attn_output", 0 },
    { "post_attention_layernorm", "ffn_norm", 0 },
    { "mlp.dense_h_to_4h", "ffn_up", 0 },
    { "mlp.dense_4h_to_h", "ffn_down", 0 },
    { 0 },
};

/* All heads have keys of their own, and a feed-forward vector four times the
 * hidden one. */
static void
keys_bloom(struct hf *h)
{
    h->n_head_kv = h->n_head;
    h->n_ff = 4 * h->n_embd;
    convert_hf_must_be(h, "apply_residual_connection_post_layernorm", false,
                       false);
}

const struct hf_family convert_hf_family_bloom[] = {
    { "BloomForCausalLM", "bloom", .layer = { bloom_layer },
      .layers = "transformer.h.", .whole = bloom_whole, .layer_norm = true,
      .activations = HF_GELU_TANH, .positions = true, .tied = true,
      .keys = keys_bloom },
    { 0 },
};
