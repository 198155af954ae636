/* distilbert.c - folders of DistilBERT (Sanh et al. 2019): BERT without kinds of
 * texts and without a pooler, under names of its own */
#include "convert/hf/families.h"

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

const struct hf_family convert_hf_family_distilbert[] = {
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
    { 0 },
};
