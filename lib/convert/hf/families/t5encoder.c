/* t5encoder.c - folders of T5's encoder (Raffel et al. 2020) */
#include "convert/hf/families.h"

enum {
    MAX_BUCKETS = 1 << 16,
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
static const char *const t5_rest[] = { "decoder.", "lm_head.",
                                       "encoder.embed_tokens.", NULL };

static void
keys_t5(struct hf *h)
{
    convert_hf_set_bool(h, "attention.causal", false);
    convert_hf_must_be_int(h, "relative_attention_max_distance", 128);
    convert_hf_set_u32(h, "attention.relative_buckets_count",
                       core_json_int(&h->config,
                                     "relative_attention_num_buckets", 4,
                                     MAX_BUCKETS, 32));
}

const struct hf_family convert_hf_family_t5encoder[] = {
    { "T5EncoderModel|T5ForConditionalGeneration|MT5EncoderModel|"
      "UMT5EncoderModel",
      "t5encoder", .layer = { t5_layer }, .layers = "encoder.block.",
      .whole = t5_whole, .activations = "relu|gated-gelu", .encoder = true,
      .positions = true, .keys = keys_t5, .to = "enc.blk.", .left_out = t5_rest,
      .n_ctx = 512 },
    { 0 },
};
