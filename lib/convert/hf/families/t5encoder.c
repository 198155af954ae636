/* t5encoder.c - folders of T5 (Raffel et al. 2020) and its kin, whole or of the
 * encoder alone
 *
 * Where the configuration calls the output the embedding's matrix, a decoder
 * scales what it gives, which the graph does where the file has no output; the
 * library has a setting of its own for that since it ties all of them. */
#include "convert/hf/families.h"

enum {
    MAX_BUCKETS = 1 << 16,
    MAX_DECODER = 1 << 11, /* layers */
};

static const struct hf_name t5_whole[] = {
    { "shared", "token_embd", HF_OR_NEXT },
    { "encoder.embed_tokens", "token_embd", 0 },
    { "encoder.final_layer_norm", "enc.output_norm", 0 },
    { 0 },
};
#define ATTENTION "layer.0.SelfAttention."
#define DENSE     "layer.1.DenseReluDense."
static const struct hf_name t5_layer[] = {
    { "layer.0.layer_norm", "attn_norm", 0 },
    { ATTENTION "q", "attn_q", 0 },
    { ATTENTION "k", "attn_k", 0 },
    { ATTENTION "v", "attn_v", 0 },
    { ATTENTION "o", "attn_o", 0 },
    { ATTENTION "relative_attention_bias", "attn_rel_b", HF_F32 | HF_OPTIONAL },
    { "layer.1.layer_norm", "ffn_norm", 0 },
    { DENSE "wi_0", "ffn_gate", HF_OPTIONAL },
    { DENSE "wi", "ffn_up", HF_OR_NEXT },
    { DENSE "wi_1", "ffn_up", 0 },
    { DENSE "wo", "ffn_down", 0 },
    { 0 },
};
#define CROSS "layer.1.EncDecAttention."
#define LAST  "layer.2.DenseReluDense."
static const struct hf_name t5_both[] = {
    { "shared", "token_embd", HF_OR_NEXT },
    { "encoder.embed_tokens", "token_embd", 0 },
    { "encoder.final_layer_norm", "enc.output_norm", 0 },
    { "decoder.final_layer_norm", "dec.output_norm", 0 },
    { "lm_head", "output", HF_OR_NEXT },
    { "shared", "output", 0 },
    { 0 },
};
static const struct hf_name t5_decoder[] = {
    { "layer.0.layer_norm", "attn_norm", 0 },
    { ATTENTION "q", "attn_q", 0 },
    { ATTENTION "k", "attn_k", 0 },
    { ATTENTION "v", "attn_v", 0 },
    { ATTENTION "o", "attn_o", 0 },
    { ATTENTION "relative_attention_bias", "attn_rel_b", HF_F32 | HF_OPTIONAL },
    { "layer.1.layer_norm", "cross_attn_norm", 0 },
    { CROSS "q", "cross_attn_q", 0 },
    { CROSS "k", "cross_attn_k", 0 },
    { CROSS "v", "cross_attn_v", 0 },
    { CROSS "o", "cross_attn_o", 0 },
    { "layer.2.layer_norm", "ffn_norm", 0 },
    { LAST "wi_0", "ffn_gate", HF_OPTIONAL },
    { LAST "wi", "ffn_up", HF_OR_NEXT },
    { LAST "wi_1", "ffn_up", 0 },
    { LAST "wo", "ffn_down", 0 },
    { 0 },
};
/* Biases of attention to the encoder are in some files and read by nobody. */
static const char *const t5_unread[] = {
    "embed_tokens.", "EncDecAttention.relative_attention_bias.", NULL
};
static const char *const t5_rest[] = { "decoder.", "lm_head.",
                                       "encoder.embed_tokens.", NULL };

static void
keys_t5(struct hf *h)
{
    convert_hf_must_be_int(h, "relative_attention_max_distance", 128);
    convert_hf_set_u32(h, "attention.relative_buckets_count",
                       core_json_int(&h->config,
                                     "relative_attention_num_buckets", 4,
                                     MAX_BUCKETS, 32));
}

static void
keys_t5_decoder(struct hf *h)
{
    keys_t5(h);
    h->n_decoder = (int32_t)core_json_int(&h->config, "num_decoder_layers", 1,
                                          MAX_DECODER, h->n_layer);
    convert_hf_set_u32(h, "decoder_block_count", h->n_decoder);
    convert_hf_set_u32(h, "decoder_start_token_id",
                       core_json_int(&h->config,
                                     "decoder_start_token_id|pad_token_id", 0,
                                     h->n_vocab - 1, 0));
}

static void
keys_t5_encoder(struct hf *h)
{
    convert_hf_set_bool(h, "attention.causal", false);
    keys_t5(h);
}

const struct hf_family convert_hf_family_t5encoder[] = {
    { "T5ForConditionalGeneration|MT5ForConditionalGeneration|"
      "UMT5ForConditionalGeneration",
      "t5", .layer = { t5_layer }, .layers = "encoder.block.", .whole = t5_both,
      .activations = "relu|gated-gelu", .positions = true, .tied = true,
      .keys = keys_t5_decoder, .to = "enc.blk.", .left_out = t5_unread,
      .n_ctx = 512, .decoder = "decoder.block.", .decoder_layer = t5_decoder },
    { "T5EncoderModel|MT5EncoderModel|UMT5EncoderModel", "t5encoder",
      .layer = { t5_layer }, .layers = "encoder.block.", .whole = t5_whole,
      .activations = "relu|gated-gelu", .encoder = true, .positions = true,
      .keys = keys_t5_encoder, .to = "enc.blk.", .left_out = t5_rest,
      .n_ctx = 512 },
    { 0 },
};
