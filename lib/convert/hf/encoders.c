/* encoders.c - encoders: names of their tensors there and here */
#include <config.h>

#ifdef HAVE_JANSSON

#include "convert/hf/families.h"

/* ---- BERT, RoBERTa ------------------------------------------------------- */

#define WORDS(prefix)                                                          \
    {                                                                          \
        prefix "embeddings.word_embeddings", "token_embd", 0                   \
    }
#define POSITIONS(prefix, how)                                                 \
    {                                                                          \
        prefix "embeddings.position_embeddings", "position_embd", HF_F32 | how \
    }
#define KINDS(prefix)                                                          \
    {                                                                          \
        prefix "embeddings.token_type_embeddings", "token_types", HF_F32       \
    }
#define NORM(prefix)                                                           \
    {                                                                          \
        prefix "embeddings.LayerNorm", "token_embd_norm", 0                    \
    }

static const struct hf_name bert_whole[] = {
    WORDS("bert."), POSITIONS("bert.", 0), KINDS("bert."), NORM("bert."), { 0 },
};
static const struct hf_name bert_rank[] = {
    WORDS("bert."),
    POSITIONS("bert.", 0),
    KINDS("bert."),
    NORM("bert."),
    { "bert.pooler.dense", "cls", HF_F32 },
    { "classifier", "cls.output", HF_F32 },
    { 0 },
};
static const struct hf_name roberta_whole[] = {
    WORDS("roberta."),
    POSITIONS("roberta.", HF_POSITIONS),
    KINDS("roberta."),
    NORM("roberta."),
    { 0 },
};
static const struct hf_name roberta_rank[] = {
    WORDS("roberta."),
    POSITIONS("roberta.", HF_POSITIONS),
    KINDS("roberta."),
    NORM("roberta."),
    { "classifier.dense", "cls", HF_F32 },
    { "classifier.out_proj", "cls.output", HF_F32 },
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

/* ---- nomic-bert ---------------------------------------------------------- */

static const struct hf_name nomic_whole[] = {
    WORDS("bert."),
    KINDS("bert."),
    { "bert.emb_ln", "token_embd_norm", 0 },
    { 0 },
};
static const struct hf_name nomic_layer[] = {
    { "attn.Wqkv", "attn_qkv", 0 },      { "attn.out_proj", "attn_output", 0 },
    { "norm1", "attn_output_norm", 0 },  { "mlp.fc11", "ffn_up", 0 },
    { "mlp.fc12", "ffn_gate", 0 },       { "mlp.fc2", "ffn_down", 0 },
    { "norm2", "layer_output_norm", 0 }, { 0 },
};
/* A layer has experts, or none. */
#define EXPERTS "mlp.experts.mlp."
static const struct hf_name nomic_moe_layer[] = {
    { "attn.Wqkv", "attn_qkv", 0 },
    { "attn.out_proj", "attn_output", 0 },
    { "norm1", "attn_output_norm", 0 },
    { "mlp.fc1", "ffn_up", HF_OPTIONAL },
    { "mlp.fc2", "ffn_down", HF_OPTIONAL },
    { "mlp.router.layer", "ffn_gate_inp", HF_F32 | HF_OPTIONAL },
    { EXPERTS "w1", "ffn_up_exps.weight", HF_EXACT | HF_STACKED | HF_OPTIONAL },
    { EXPERTS "w2", "ffn_down_exps.weight",
      HF_EXACT | HF_STACKED | HF_TRANSPOSE | HF_OPTIONAL },
    { "norm2", "layer_output_norm", 0 },
    { 0 },
};

/* ---- jina-bert ----------------------------------------------------------- */

static const struct hf_name jina_whole[] = {
    WORDS("bert."),
    KINDS("bert."),
    NORM("bert."),
    { 0 },
};
/* Those for code have gates behind what they gate, and more norms. */
static const struct hf_name jina_layer[] = {
    { "attention.self.query", "attn_q", 0 },
    { "attention.self.key", "attn_k", 0 },
    { "attention.self.value", "attn_v", 0 },
    { "attention.self.layer_norm_q", "attn_q_norm", HF_OPTIONAL },
    { "attention.self.layer_norm_k", "attn_k_norm", HF_OPTIONAL },
    { "attention.output.dense", "attn_output", 0 },
    { "attention.output.LayerNorm", "attn_output_norm", 0 },
    { "layer_norm_1", "attn_norm_2", HF_OPTIONAL },
    { "mlp.gated_layers", "ffn_up", HF_OPTIONAL },
    { "mlp.up_gated_layer", "ffn_up", HF_GATES | HF_OPTIONAL },
    { "mlp.up_gated_layer", "ffn_gate", HF_UPS | HF_OPTIONAL },
    { "mlp.wo", "ffn_down", HF_OR_NEXT },
    { "mlp.down_layer", "ffn_down", 0 },
    { "mlp.layernorm", "layer_output_norm", HF_OR_NEXT },
    { "layer_norm_2", "layer_output_norm", 0 },
    { 0 },
};
static const struct hf_name jina3_whole[] = {
    WORDS("roberta."),
    KINDS("roberta."),
    { "roberta.emb_ln", "token_embd_norm", 0 },
    { 0 },
};
static const struct hf_name jina3_layer[] = {
    { "mixer.Wqkv", "attn_qkv", 0 },
    { "mixer.out_proj", "attn_output", 0 },
    { "norm1", "attn_output_norm", 0 },
    { "mlp.fc1", "ffn_up", 0 },
    { "mlp.fc2", "ffn_down", 0 },
    { "norm2", "layer_output_norm", 0 },
    { 0 },
};
/* As its maker saves it: beside each matrix there are adapters for tasks. */
#define ADAPTED ".parametrizations.weight.original"
static const struct hf_name jina3_adapted_whole[] = {
    { "roberta.embeddings.word_embeddings" ADAPTED, "token_embd.weight",
      HF_EXACT },
    { "roberta.embeddings.token_type_embeddings" ADAPTED, "token_types.weight",
      HF_EXACT | HF_F32 },
    { "roberta.emb_ln", "token_embd_norm", 0 },
    { 0 },
};
static const struct hf_name jina3_adapted_layer[] = {
    { "mixer.Wqkv" ADAPTED, "attn_qkv.weight", HF_EXACT },
    { "mixer.Wqkv.bias", "attn_qkv.bias", HF_EXACT },
    { "mixer.out_proj" ADAPTED, "attn_output.weight", HF_EXACT },
    { "mixer.out_proj.bias", "attn_output.bias", HF_EXACT },
    { "norm1", "attn_output_norm", 0 },
    { "mlp.fc1" ADAPTED, "ffn_up.weight", HF_EXACT },
    { "mlp.fc1.bias", "ffn_up.bias", HF_EXACT },
    { "mlp.fc2" ADAPTED, "ffn_down.weight", HF_EXACT },
    { "mlp.fc2.bias", "ffn_down.bias", HF_EXACT },
    { "norm2", "layer_output_norm", 0 },
    { 0 },
};

/* ---- ModernBERT, EuroBERT, NeoBERT --------------------------------------- */

#define MODERN                                                                 \
    { "model.embeddings.tok_embeddings", "token_embd", 0 },                    \
        { "model.embeddings.norm", "token_embd_norm", 0 },                     \
    {                                                                          \
        "model.final_norm", "output_norm", 0                                   \
    }

static const struct hf_name modern_whole[] = { MODERN, { 0 } };
static const struct hf_name modern_rank[] = {
    MODERN,
    { "head.dense", "cls", HF_F32 },
    { "head.norm", "cls.norm", HF_F32 },
    { "classifier", "cls.output", HF_F32 },
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

/* ---- T5 ------------------------------------------------------------------ */

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

/* ---- the table ----------------------------------------------------------- */

/* What an encoder was trained with on top, a word's guess or the order of two
 * sentences, is left out, and so is what only another part of it has. */
static const char *const lm_head[] = { "lm_head.", NULL };
static const char *const modern_head[] = { "head.", "decoder.", NULL };
static const char *const neo_head[] = { "decoder.", NULL };
static const char *const adapters[] = { ".parametrizations.", NULL };
static const char *const experts_bias[] = { "mlp.experts.bias", NULL };
static const char *const t5_rest[] = { "decoder.", "lm_head.",
                                       "encoder.embed_tokens.", NULL };

#define BERT(whole, and)                                                       \
    "bert", "bert.encoder.layer.", whole, { bert_layer },                      \
        .layer_norm = true, .epsilon = 1e-12, .activations = "gelu",           \
        .encoder = true, .positions = true, .keys = convert_hf_keys_##and
#define ROBERTA(whole, and)                                                    \
    "bert", "roberta.encoder.layer.", whole, { bert_layer },                   \
        .layer_norm = true, .epsilon = 1e-12, .activations = "gelu",           \
        .encoder = true, .positions = true, .keys = convert_hf_keys_##and
#define JINA2                                                                  \
    "jina-bert-v2", "bert.encoder.layer.", jina_whole, { jina_layer },         \
        .layer_norm = true, .epsilon = 1e-12, .activations = "gelu",           \
        .encoder = true, .positions = true, .keys = convert_hf_keys_jina_v2
#define JINA3(names)                                                           \
    "jina-bert-v3", "roberta.encoder.layers.", names##_whole,                  \
        { names##_layer }, .layer_norm = true, .activations = "gelu",          \
                           .encoder = true, .keys = convert_hf_keys_jina_v3
#define MODERNBERT(whole, and)                                                 \
    "modern-bert", "model.layers.", whole, { modern_layer },                   \
        .layer_norm = true, .activations = "gelu|silu", .encoder = true,       \
        .keys = convert_hf_keys_##and, .windowed_base = 10000,                 \
        .full_every = 3, .full_at = 0
#define NEOBERT(whole, and)                                                    \
    "neo-bert", "model.transformer_encoder.", whole, { neo_layer },            \
        .activations = "SwiGLU|swiglu", .encoder = true,                       \
        .keys = convert_hf_keys_##and
#define T5                                                                     \
    "t5encoder", "encoder.block.", t5_whole, { t5_layer },                     \
        .activations = "relu|gated-gelu", .encoder = true, .positions = true,  \
        .keys = convert_hf_keys_t5, .to = "enc.blk.", .left_out = t5_rest,     \
        .n_ctx = 512

const struct hf_family convert_hf_encoders[] = {
    { "BertModel", BERT(bert_whole, bert) },
    { "BertForMaskedLM", BERT(bert_whole, bert) },
    { "BertForPreTraining", BERT(bert_whole, bert) },
    { "BertForSequenceClassification", BERT(bert_rank, bert_rank) },
    { "RobertaModel", ROBERTA(roberta_whole, roberta) },
    { "RobertaForMaskedLM", ROBERTA(roberta_whole, roberta),
      .left_out = lm_head },
    { "RobertaForSequenceClassification", ROBERTA(roberta_rank, roberta_rank) },
    { "XLMRobertaModel", JINA3(jina3_adapted), .setting = "lora_adaptations",
      .left_out = adapters },
    { "XLMRobertaModel", ROBERTA(roberta_whole, roberta) },
    { "XLMRobertaForMaskedLM", ROBERTA(roberta_whole, roberta),
      .left_out = lm_head },
    { "XLMRobertaForSequenceClassification",
      ROBERTA(roberta_rank, roberta_rank) },
    { "JinaEmbeddingsV3Model", JINA3(jina3) },
    { "JinaBertModel", JINA2 },
    { "JinaBertForMaskedLM", JINA2 },
    { "EuroBertModel",
      "eurobert",
      "model.layers.",
      eurobert_whole,
      { convert_hf_attention, convert_hf_norms, convert_hf_mlp },
      .epsilon = 1e-5,
      .activations = "silu",
      .encoder = true,
      .keys = convert_hf_keys_eurobert },
    { "ModernBertModel", MODERNBERT(modern_whole, modern) },
    { "ModernBertForMaskedLM", MODERNBERT(modern_whole, modern),
      .left_out = modern_head },
    { "ModernBertForSequenceClassification",
      MODERNBERT(modern_rank, modern_rank) },
    { "NeoBERT", NEOBERT(neo_whole, neo), .left_out = neo_head },
    { "NeoBERTLMHead", NEOBERT(neo_whole, neo), .left_out = neo_head },
    { "NeoBERTForSequenceClassification", NEOBERT(neo_rank, neo_rank),
      .left_out = neo_head },
    { "NomicBertModel",
      "nomic-bert-moe",
      "bert.encoder.layers.",
      nomic_whole,
      { nomic_moe_layer },
      .layer_norm = true,
      .activations = "gelu",
      .encoder = true,
      .keys = convert_hf_keys_nomic_moe,
      .setting = "moe_every_n_layers",
      .left_out = experts_bias },
    { "NomicBertModel",
      "nomic-bert",
      "bert.encoder.layers.",
      nomic_whole,
      { nomic_layer },
      .layer_norm = true,
      .activations = "swiglu|silu",
      .encoder = true,
      .keys = convert_hf_keys_nomic },
    { "T5EncoderModel", T5 },
    { "T5ForConditionalGeneration", T5 },
    { "MT5EncoderModel", T5 },
    { "UMT5EncoderModel", T5 },
    { 0 },
};

#endif
