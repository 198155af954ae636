/* modern_bert.c - folders of ModernBERT (Warner et al. 2024) */
#include <string.h>

#include "convert/hf/families.h"

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
static const char *const modern_head[] = { "head.", "decoder.", NULL };

static void
keys_modern(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *act = core_json_text(c, "hidden_activation", NULL);

    convert_hf_set_bool(h, "attention.causal", false);
    convert_hf_set_u32(h, "attention.sliding_window",
                       core_json_int(c, "local_attention", 0, HF_MAX_CTX, 128));
    convert_hf_must_be_int(h, "global_attn_every_n_layers", 3);
    if (act)
        convert_hf_set_str(h, "hidden_activation", act);
}

/* Writes the function after the head's first layer; GELU needs no key. */
static void
set_head(struct hf *h)
{
    const char *act =
        core_json_text(&h->config, "classifier_activation", "gelu");

    if (strcmp(act, "gelu") != 0)
        convert_hf_set_head_activation(h, act);
}

static void
keys_modern_tokens(struct hf *h)
{
    keys_modern(h);
    set_head(h);
    convert_hf_keys_token_labels(h);
}

static void
keys_modern_rank(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *how = core_json_text(c, "classifier_pooling", "cls");

    keys_modern(h);
    set_head(h);
    if (strcmp(how, "cls") && strcmp(how, "mean"))
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "classifier_pooling: must be cls or mean here");
    convert_hf_set_u32(h, "classifier.pooling_type",
                       strcmp(how, "cls") ? HF_POOL_MEAN : HF_POOL_CLS);
    convert_hf_keys_rank(h);
}

const struct hf_family convert_hf_family_modern_bert[] = {
    { "ModernBertModel", "modern-bert", .layer = { modern_layer },
      .whole = modern_whole, .layer_norm = true, .activations = "gelu|silu",
      .encoder = true, .characters = true, .keys = keys_modern,
      .windowed_base = 10000, .full_every = 3, .full_at = 0 },
    { "ModernBertForMaskedLM", "modern-bert", .layer = { modern_layer },
      .whole = modern_whole, .layer_norm = true, .activations = "gelu|silu",
      .encoder = true, .characters = true, .keys = keys_modern,
      .windowed_base = 10000, .full_every = 3, .full_at = 0,
      .left_out = modern_head },
    { "ModernBertForSequenceClassification", "modern-bert",
      .layer = { modern_layer }, .whole = modern_rank, .layer_norm = true,
      .activations = "gelu|silu", .encoder = true, .characters = true,
      .keys = keys_modern_rank, .windowed_base = 10000, .full_every = 3,
      .full_at = 0 },
    { "ModernBertForTokenClassification", "modern-bert",
      .layer = { modern_layer }, .whole = modern_rank, .layer_norm = true,
      .activations = "gelu|silu", .encoder = true, .characters = true,
      .keys = keys_modern_tokens, .windowed_base = 10000, .full_every = 3,
      .full_at = 0 },
    { 0 },
};
