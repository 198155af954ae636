/* encoders.c - BERT and nomic-bert: names of their tensors, their keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "convert/hf/families.h"

enum {
    MAX_CTX = 1 << 28,
    MAX_KINDS = 1 << 16,
};

/* ---- names --------------------------------------------------------------- */

static const struct hf_name bert_whole[] = {
    { "bert.embeddings.word_embeddings", "token_embd", 0 },
    { "bert.embeddings.position_embeddings", "position_embd", HF_F32 },
    { "bert.embeddings.token_type_embeddings", "token_types", HF_F32 },
    { "bert.embeddings.LayerNorm", "token_embd_norm", 0 },
    { 0 },
};
static const struct hf_name bert_rank[] = {
    { "bert.embeddings.word_embeddings", "token_embd", 0 },
    { "bert.embeddings.position_embeddings", "position_embd", HF_F32 },
    { "bert.embeddings.token_type_embeddings", "token_types", HF_F32 },
    { "bert.embeddings.LayerNorm", "token_embd_norm", 0 },
    { "bert.pooler.dense", "cls", HF_F32 },
    { "classifier", "cls.output", HF_F32 },
    { 0 },
};
static const struct hf_name bert_layer[] = {
    { "attention.self.query", "attn_q", 0 },
    { "attention.self.key", "attn_k", 0 },
    { "attention.self.value", "attn_v", 0 },
    { "attention.output.dense", "attn_output", 0 },
    { "attention.output.LayerNorm", "attn_output_norm", 0 },
    { "intermediate.dense", "ffn_up", 0 },
    { "output.dense", "ffn_down", 0 },
    { "output.LayerNorm", "layer_output_norm", 0 },
    { 0 },
};
static const struct hf_name nomic_whole[] = {
    { "bert.embeddings.word_embeddings", "token_embd", 0 },
    { "bert.embeddings.token_type_embeddings", "token_types", HF_F32 },
    { "bert.emb_ln", "token_embd_norm", 0 },
    { 0 },
};
static const struct hf_name nomic_layer[] = {
    { "attn.Wqkv", "attn_qkv", 0 },      { "attn.out_proj", "attn_output", 0 },
    { "norm1", "attn_output_norm", 0 },  { "mlp.fc11", "ffn_up", 0 },
    { "mlp.fc12", "ffn_gate", 0 },       { "mlp.fc2", "ffn_down", 0 },
    { "norm2", "layer_output_norm", 0 }, { 0 },
};

static const struct hf_name modern_whole[] = {
    { "embeddings.tok_embeddings", "token_embd", 0 },
    { "embeddings.norm", "token_embd_norm", 0 },
    { "final_norm", "output_norm", 0 },
    { 0 },
};
static const struct hf_name modern_layer[] = {
    { "attn_norm", "attn_norm", HF_OPTIONAL }, /* the first has none */
    { "attn.Wqkv", "attn_qkv", 0 },
    { "attn.Wo", "attn_output", 0 },
    { "mlp_norm", "ffn_norm", 0 },
    { "mlp.Wi", "ffn_up", 0 },
    { "mlp.Wo", "ffn_down", 0 },
    { 0 },
};
static const struct hf_name eurobert_whole[] = {
    { "embed_tokens", "token_embd", 0 },
    { "norm", "output_norm", 0 },
    { 0 },
};

/* ---- keys ---------------------------------------------------------------- */

static void
keys_encoder(struct hf *h)
{
    convert_hf_set_bool(h, "attention.causal", false);
    h->n_kinds =
        (int32_t)core_json_int(&h->config, "type_vocab_size", 1, MAX_KINDS, 2);
    gguf_set_val_u32(h->gguf, "tokenizer.ggml.token_type_count",
                     (uint32_t)h->n_kinds);
}

static void
keys_bert(struct hf *h)
{
    const char *positions =
        core_json_text(&h->config, "position_embedding_type", "absolute");

    if (strcmp(positions, "absolute") != 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "position_embedding_type: '%.40s' is not known here",
                      positions);
    convert_hf_must_be(h, "is_decoder", false, false);
    keys_encoder(h);
}

/* A reranker, or another classifier of texts or pairs of them. */
static void
keys_bert_rank(struct hf *h)
{
    enum {
        RANK = 4 /* llama.cpp's enum llama_pooling_type */
    };

    keys_bert(h);
    convert_hf_set_u32(h, "pooling_type", RANK);
}

/* Positions beyond those of the training would be scaled by the length of a
 * text. */
static void
keys_nomic(struct hf *h)
{
    int64_t trained =
        core_json_int(&h->config, "max_trained_positions", 1, MAX_CTX, 2048);

    if (h->n_ctx > trained)
        h->n_ctx = (int32_t)trained;
    convert_hf_must_be_int(h, "moe_every_n_layers", 0);
    convert_hf_must_be_int(h, "rotary_emb_fraction", 1);
    convert_hf_must_be(h, "rotary_emb_interleaved", false, false);
    convert_hf_must_be(h, "prenorm", false, false);
    convert_hf_must_be(h, "causal", false, false);
    convert_hf_must_be(h, "use_rms_norm", false, false);
    if (core_json_find(&h->config, "rotary_emb_scale_base"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "rotary_emb_scale_base: nomic-bert has none here");
    keys_encoder(h);
}

static void
keys_modern(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_bool(h, "attention.causal", false);
    convert_hf_set_u32(h, "attention.sliding_window",
                       core_json_int(c, "local_attention", 0, MAX_CTX, 128));
    convert_hf_must_be_int(h, "global_attn_every_n_layers", 3);
}

static void
keys_eurobert(struct hf *h)
{
    convert_hf_set_bool(h, "attention.causal", false);
}

/* ---- the table ----------------------------------------------------------- */

/* What a text was trained with on top, a word's guess or the order of two
 * sentences, is left out. */
#define BERT                                                                   \
    "bert", "bert.encoder.layer.", bert_whole, { bert_layer },                 \
        .layer_norm = true, .epsilon = 1e-12, .activations = "gelu",           \
        .encoder = true, .positions = true, .keys = keys_bert

const struct hf_family convert_hf_encoders[] = {
    { "BertModel", BERT },
    { "BertForMaskedLM", BERT },
    { "BertForPreTraining", BERT },
    { "BertForSequenceClassification",
      "bert",
      "bert.encoder.layer.",
      bert_rank,
      { bert_layer },
      .layer_norm = true,
      .epsilon = 1e-12,
      .activations = "gelu",
      .encoder = true,
      .positions = true,
      .keys = keys_bert_rank },
    { "EuroBertModel",
      "eurobert",
      "layers.",
      eurobert_whole,
      { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .epsilon = 1e-5,
      .activations = "silu",
      .encoder = true,
      .keys = keys_eurobert },
    { "ModernBertModel",
      "modern-bert",
      "layers.",
      modern_whole,
      { modern_layer },
      .layer_norm = true,
      .epsilon = 1e-5,
      .activations = "gelu",
      .encoder = true,
      .keys = keys_modern,
      .windowed_base = 10000,
      .full_every = 3,
      .full_at = 0 },
    { "NomicBertModel",
      "nomic-bert",
      "bert.encoder.layers.",
      nomic_whole,
      { nomic_layer },
      .layer_norm = true,
      .activations = "swiglu",
      .encoder = true,
      .keys = keys_nomic },
    { 0 },
};

#endif
