/* bert.c - folders of BERT and its kin */
#include <string.h>

#include "convert/hf/families.h"

enum {
    MAX_KINDS = 1 << 16,
    MAX_PAD = 1 << 24,
    MAX_LAYERS = 4096,
};

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
static const struct hf_name bert_tokens[] = {
    WORDS("bert."),
    POSITIONS("bert.", 0),
    KINDS("bert."),
    NORM("bert."),
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
static const struct hf_name roberta_tokens[] = {
    WORDS("roberta."),
    POSITIONS("roberta.", HF_POSITIONS),
    KINDS("roberta."),
    NORM("roberta."),
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
    { EXPERTS "w1", "ffn_up_exps.weight", HF_STACKED | HF_EXACT | HF_OPTIONAL },
    { EXPERTS "w2", "ffn_down_exps.weight",
      HF_STACKED_COLUMNS | HF_EXACT | HF_OPTIONAL },
    { "norm2", "layer_output_norm", 0 },
    { 0 },
};
static const struct hf_name jina_whole[] = {
    WORDS("bert."),
    KINDS("bert."),
    NORM("bert."),
    { 0 },
};
/* Models for code have gates after what they gate, and more norms. */
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
/* As its maker saves it: next to each matrix there are adapters for tasks. */
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
/* The top that an encoder was trained with, a word's guess or the order of two
 * sentences, is left out, and so is what only another part of it has. */
static const char *const lm_head[] = { "lm_head.", NULL };
static const char *const adapters[] = { ".parametrizations.", NULL };
static const char *const experts_bias[] = { "mlp.experts.bias", NULL };

/* DistilBERT has no kinds of texts and no pooler, and names of its own. */
#define DISTIL                                                                 \
    { "distilbert.embeddings.word_embeddings", "token_embd", 0 },              \
        { "distilbert.embeddings.position_embeddings", "position_embd",        \
          HF_F32 },                                                            \
    {                                                                          \
        "distilbert.embeddings.LayerNorm", "token_embd_norm", 0                \
    }
static const struct hf_name distil_whole[] = { DISTIL, { 0 } };
static const struct hf_name distil_rank[] = {
    DISTIL,
    { "pre_classifier", "cls", HF_F32 },
    { "classifier", "cls.output", HF_F32 },
    { 0 },
};
static const struct hf_name distil_tokens[] = {
    DISTIL,
    { "classifier", "cls.output", HF_F32 },
    { 0 },
};
static const struct hf_name distil_layer[] = {
    { "attention.q_lin", "attn_q", 0 },
    { "attention.k_lin", "attn_k", 0 },
    { "attention.v_lin", "attn_v", 0 },
    { "attention.out_lin", "attn_output", 0 },
    { "sa_layer_norm", "attn_output_norm", 0 },
    { "ffn.lin1", "ffn_up", 0 },
    { "ffn.lin2", "ffn_down", 0 },
    { "output_layer_norm", "layer_output_norm", 0 },
    { 0 },
};
/* A word's guess. */
static const char *const distil_top[] = { "vocab_transform.",
                                          "vocab_layer_norm.",
                                          "vocab_projector.", NULL };

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
check_positions(struct hf *h, const char *want, const char *other)
{
    const char *positions =
        core_json_text(&h->config, "position_embedding_type", other);

    if (strcmp(positions, want) != 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "position_embedding_type: '%.40s' is not known here",
                      positions);
}

static void
keys_bert(struct hf *h)
{
    check_positions(h, "absolute", "absolute");
    convert_hf_must_be(h, "is_decoder", false, false);
    keys_encoder(h);
}

static void
keys_bert_rank(struct hf *h)
{
    keys_bert(h);
    convert_hf_keys_rank(h);
}

static void
keys_bert_tokens(struct hf *h)
{
    keys_bert(h);
    convert_hf_keys_token_labels(h);
}

/* Positions begin after the id of padding: the rows before are for it, and a
 * text is shorter by them. */
static void
skip_padding(struct hf *h)
{
    h->n_pad =
        1 + (int32_t)core_json_int(&h->config, "pad_token_id", 0, MAX_PAD, 1);
    if (h->n_ctx <= h->n_pad)
        core_json_bad(&h->config, GG_ERR_FORMAT,
                      "max_position_embeddings: leaves no positions");
    else
        h->n_ctx -= h->n_pad;
}

static void
keys_roberta(struct hf *h)
{
    keys_bert(h);
    skip_padding(h);
}

static void
keys_roberta_rank(struct hf *h)
{
    keys_roberta(h);
    convert_hf_keys_rank(h);
}

static void
keys_roberta_tokens(struct hf *h)
{
    keys_roberta(h);
    convert_hf_keys_token_labels(h);
}

static void
check_nomic(struct hf *h)
{
    convert_hf_must_be_int(h, "rotary_emb_fraction", 1);
    convert_hf_must_be(h, "rotary_emb_interleaved", false, false);
    convert_hf_must_be(h, "prenorm", false, false);
    convert_hf_must_be(h, "causal", false, false);
    convert_hf_must_be(h, "use_rms_norm", false, false);
    if (core_json_find(&h->config, "rotary_emb_scale_base"))
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "rotary_emb_scale_base: %s has none here",
                      h->family->arch);
    keys_encoder(h);
}

/* Positions beyond those of the training would be scaled by the length of a
 * text. transformers' own class has no others. */
static void
keys_nomic(struct hf *h)
{
    int64_t other = core_json_find(&h->config, "n_embd") ? 2048 : HF_MAX_CTX;
    int64_t trained = core_json_int(&h->config, "max_trained_positions", 1,
                                    HF_MAX_CTX, other);

    if (h->n_ctx > trained)
        h->n_ctx = (int32_t)trained;
    convert_hf_must_be_int(h, "moe_every_n_layers", 0);
    check_nomic(h);
}

/* The one that there is was trained with texts of 512 ids, whatever it says. */
static void
keys_nomic_moe(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    if (h->n_ctx == 2048)
        h->n_ctx = 512;
    check_nomic(h);
    convert_hf_must_be(h, "expert_choice_router", false, false);
    convert_hf_must_be(h, "moe_normalize_expert_weights", false, false);
    convert_hf_must_be_int(h, "num_shared_experts", 0);
    convert_hf_set_experts(h, 1);
    convert_hf_set_u32(h, "expert_used_count",
                       core_json_int(c, "moe_top_k", 1, HF_MAX_USED, 0));
    convert_hf_set_u32(
        h, "moe_every_n_layers",
        core_json_int(c, "moe_every_n_layers", 1, MAX_LAYERS, 0));
}

static void
keys_jina_v2(struct hf *h)
{
    const char *ff = core_json_text(&h->config, "feed_forward_type", "geglu");

    check_positions(h, "alibi", "absolute");
    if (strcmp(ff, "geglu") != 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "feed_forward_type: '%.40s' is not known here", ff);
    convert_hf_must_be(h, "is_decoder", false, false);
    keys_encoder(h);
}

static void
keys_jina_v3(struct hf *h)
{
    check_positions(h, "rotary", "rotary");
    keys_encoder(h);
    skip_padding(h);
    h->n_pad = 0; /* there is no table of positions */
}

static void
keys_distil(struct hf *h)
{
    convert_hf_set_bool(h, "attention.causal", false);
}

static void
keys_distil_rank(struct hf *h)
{
    keys_distil(h);
    convert_hf_set_head_activation(h, "relu");
    convert_hf_keys_rank(h);
}

static void
keys_distil_tokens(struct hf *h)
{
    keys_distil(h);
    convert_hf_keys_token_labels(h);
}

const struct hf_family convert_hf_family_bert[] = {
    { "BertModel|BertForMaskedLM|BertForPreTraining", "bert",
      .layer = { bert_layer }, .layers = "bert.encoder.layer.",
      .whole = bert_whole, .layer_norm = true, .epsilon = 1e-12,
      .activations = "gelu", .encoder = true, .positions = true,
      .keys = keys_bert },
    { "BertForSequenceClassification", "bert", .layer = { bert_layer },
      .layers = "bert.encoder.layer.", .whole = bert_rank, .layer_norm = true,
      .epsilon = 1e-12, .activations = "gelu", .encoder = true,
      .positions = true, .keys = keys_bert_rank },
    { "BertForTokenClassification", "bert", .layer = { bert_layer },
      .layers = "bert.encoder.layer.", .whole = bert_tokens, .layer_norm = true,
      .epsilon = 1e-12, .activations = "gelu", .encoder = true,
      .positions = true, .keys = keys_bert_tokens },
    { "DistilBertModel|DistilBertForMaskedLM", "bert",
      .layer = { distil_layer }, .layers = "distilbert.transformer.layer.",
      .whole = distil_whole, .layer_norm = true, .epsilon = 1e-12,
      .activations = "gelu", .encoder = true, .positions = true,
      .keys = keys_distil, .left_out = distil_top },
    { "DistilBertForSequenceClassification", "bert", .layer = { distil_layer },
      .layers = "distilbert.transformer.layer.", .whole = distil_rank,
      .layer_norm = true, .epsilon = 1e-12, .activations = "gelu",
      .encoder = true, .positions = true, .keys = keys_distil_rank },
    { "DistilBertForTokenClassification", "bert", .layer = { distil_layer },
      .layers = "distilbert.transformer.layer.", .whole = distil_tokens,
      .layer_norm = true, .epsilon = 1e-12, .activations = "gelu",
      .encoder = true, .positions = true, .keys = keys_distil_tokens },
    { "RobertaModel", "bert", .layer = { bert_layer },
      .layers = "roberta.encoder.layer.", .whole = roberta_whole,
      .layer_norm = true, .epsilon = 1e-12, .activations = "gelu",
      .encoder = true, .positions = true, .keys = keys_roberta },
    { "RobertaForMaskedLM|XLMRobertaForMaskedLM", "bert",
      .layer = { bert_layer }, .layers = "roberta.encoder.layer.",
      .whole = roberta_whole, .layer_norm = true, .epsilon = 1e-12,
      .activations = "gelu", .encoder = true, .positions = true,
      .keys = keys_roberta, .left_out = lm_head },
    { "RobertaForTokenClassification|XLMRobertaForTokenClassification|"
      "CamembertForTokenClassification",
      "bert", .layer = { bert_layer }, .layers = "roberta.encoder.layer.",
      .whole = roberta_tokens, .layer_norm = true, .epsilon = 1e-12,
      .activations = "gelu", .encoder = true, .positions = true,
      .keys = keys_roberta_tokens },
    { "RobertaForSequenceClassification|"
      "XLMRobertaForSequenceClassification|"
      "CamembertForSequenceClassification",
      "bert", .layer = { bert_layer }, .layers = "roberta.encoder.layer.",
      .whole = roberta_rank, .layer_norm = true, .epsilon = 1e-12,
      .activations = "gelu", .encoder = true, .positions = true,
      .keys = keys_roberta_rank },
    { "XLMRobertaModel", "jina-bert-v3", .layer = { jina3_adapted_layer },
      .layers = "roberta.encoder.layers.", .whole = jina3_adapted_whole,
      .layer_norm = true, .activations = "gelu", .encoder = true,
      .keys = keys_jina_v3, .setting = "lora_adaptations",
      .left_out = adapters },
    { "XLMRobertaModel", "bert", .layer = { bert_layer },
      .layers = "roberta.encoder.layer.", .whole = roberta_whole,
      .layer_norm = true, .epsilon = 1e-12, .activations = "gelu",
      .encoder = true, .positions = true, .keys = keys_roberta },
    { "JinaEmbeddingsV3Model", "jina-bert-v3", .layer = { jina3_layer },
      .layers = "roberta.encoder.layers.", .whole = jina3_whole,
      .layer_norm = true, .activations = "gelu", .encoder = true,
      .keys = keys_jina_v3 },
    { "JinaBertModel|JinaBertForMaskedLM", "jina-bert-v2",
      .layer = { jina_layer }, .layers = "bert.encoder.layer.",
      .whole = jina_whole, .layer_norm = true, .epsilon = 1e-12,
      .activations = "gelu", .encoder = true, .positions = true,
      .keys = keys_jina_v2 },
    { "NomicBertModel", "nomic-bert-moe", .layer = { nomic_moe_layer },
      .layers = "bert.encoder.layers.", .whole = nomic_whole,
      .layer_norm = true, .activations = "gelu", .encoder = true,
      .keys = keys_nomic_moe, .setting = "moe_every_n_layers",
      .left_out = experts_bias },
    { "NomicBertModel", "nomic-bert", .layer = { nomic_layer },
      .layers = "bert.encoder.layers.", .whole = nomic_whole,
      .layer_norm = true, .activations = "swiglu|silu", .encoder = true,
      .keys = keys_nomic },
    { 0 },
};
