/* eurobert.c - folders of EuroBERT and NeoBERT */
#include "convert/hf/families.h"

static const struct hf_name eurobert_whole[] = {
    { "model.embed_tokens", "token_embd", 0 },
    { "model.norm", "output_norm", 0 },
    { 0 },
};
static const struct hf_name neo_whole[] = {
    { "model.encoder", "token_embd", 0 },
    { "model.layer_norm", "enc.output_norm", 0 },
    { 0 },
};
static const struct hf_name neo_rank[] = {
    { "model.encoder", "token_embd", 0 },
    { "model.layer_norm", "enc.output_norm", 0 },
    { "dense", "cls", HF_F32 },
    { "classifier", "cls.output", HF_F32 },
    { 0 },
};
/* Queries, keys and values of a head stand together. */
static const struct hf_name neo_layer[] = {
    { "attention_norm", "attn_norm", 0 },
    { "qkv", "attn_qkv", HF_QKV },
    { "wo", "attn_output", 0 },
    { "ffn_norm", "ffn_norm", 0 },
    { "ffn.w12", "ffn_up", 0 },
    { "ffn.w3", "ffn_down", 0 },
    { 0 },
};
static const char *const neo_head[] = { "decoder.", NULL };

static void
keys_eurobert(struct hf *h)
{
    convert_hf_set_bool(h, "attention.causal", false);
}

/* Two thirds as long as it says, in eights; the vector of a text is the first,
 * unless the folder says otherwise. */
static void
keys_neo(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_bool(h, "attention.causal", false);
    convert_hf_must_be(h, "rope", true, true);
    convert_hf_must_be(h, "rms_norm", true, true);
    h->n_ctx = (int32_t)core_json_int(c, "max_length", 1, HF_MAX_CTX, h->n_ctx);
    h->n_ff = (int32_t)((2 * (int64_t)h->n_ff / 3 + 7) / 8 * 8);
    convert_hf_set_u32(h, "pooling_type", HF_POOL_CLS);
}

static void
keys_neo_rank(struct hf *h)
{
    keys_neo(h);
    convert_hf_keys_rank(h);
}

const struct hf_family convert_hf_family_eurobert[] = {
    { "EuroBertModel", "eurobert",
      .layer = { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .whole = eurobert_whole, .epsilon = 1e-5, .encoder = true,
      .keys = keys_eurobert },
    { "NeoBERT|NeoBERTLMHead", "neo-bert", .layer = { neo_layer },
      .layers = "model.transformer_encoder.", .whole = neo_whole,
      .activations = "SwiGLU|swiglu", .encoder = true, .keys = keys_neo,
      .left_out = neo_head },
    { "NeoBERTForSequenceClassification", "neo-bert", .layer = { neo_layer },
      .layers = "model.transformer_encoder.", .whole = neo_rank,
      .activations = "SwiGLU|swiglu", .encoder = true, .keys = keys_neo_rank,
      .left_out = neo_head },
    { 0 },
};
