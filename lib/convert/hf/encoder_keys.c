/* encoder_keys.c - the configuration of encoders in GGUF's keys */
#include <config.h>

#ifdef HAVE_JANSSON

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/hf/families.h"
#include "core/mem.h"

enum {
    MAX_CTX = 1 << 28,
    MAX_KINDS = 1 << 16,
    MAX_LAYERS = 4096,
    MAX_USED = 64,
    MAX_PAD = 1 << 24,
    MAX_BUCKETS = 1 << 16,
};

/* llama.cpp's enum llama_pooling_type. */
enum {
    MEAN = 1,
    CLS = 2,
    RANK = 4,
};

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

/* ---- rerankers ----------------------------------------------------------- */

/* The i-th name of what a classifier tells apart; or NULL. */
static const char *
label_at(const json_t *map, size_t i)
{
    char key[24];

    snprintf(key, sizeof(key), "%zu", i);
    return json_string_value(json_object_get(map, key));
}

/* The names of the scores. Two that nobody has named are left out, as
 * llama.cpp does. */
static void
set_labels(struct hf *h)
{
    const json_t *map = core_json_object_of(&h->config, "id2label");
    size_t n = json_object_size(map), i = 0;
    struct gguf_str *list = mem_array(n + 1, sizeof(*list));
    const char *text;
    char key[96];

    if (!list)
        h->config.status = error_nomem(h->config.err);
    for (; list && i < n && (text = label_at(map, i)); i++)
        list[i] = (struct gguf_str){ text, strlen(text) };
    snprintf(key, sizeof(key), "%s.classifier.output_labels", h->family->arch);
    if (list && i == n && n && (n != 2 || strcmp(label_at(map, 0), "LABEL_0")))
        gguf_set_strings(h->gguf, key, list, n);
    mem_free(list);
}

/* A reranker, or another classifier of texts or pairs of them. */
static void
keys_rank(struct hf *h)
{
    convert_hf_set_u32(h, "pooling_type", RANK);
    set_labels(h);
}

/* ---- BERT, RoBERTa ------------------------------------------------------- */

void
convert_hf_keys_bert(struct hf *h)
{
    check_positions(h, "absolute", "absolute");
    convert_hf_must_be(h, "is_decoder", false, false);
    keys_encoder(h);
}

void
convert_hf_keys_bert_rank(struct hf *h)
{
    convert_hf_keys_bert(h);
    keys_rank(h);
}

/* Positions begin behind the id that pads: the rows before are for it, and a
 * text is so much shorter. */
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

void
convert_hf_keys_roberta(struct hf *h)
{
    convert_hf_keys_bert(h);
    skip_padding(h);
}

void
convert_hf_keys_roberta_rank(struct hf *h)
{
    convert_hf_keys_roberta(h);
    keys_rank(h);
}

/* ---- nomic-bert ---------------------------------------------------------- */

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
void
convert_hf_keys_nomic(struct hf *h)
{
    int64_t other = core_json_find(&h->config, "n_embd") ? 2048 : MAX_CTX;
    int64_t trained =
        core_json_int(&h->config, "max_trained_positions", 1, MAX_CTX, other);

    if (h->n_ctx > trained)
        h->n_ctx = (int32_t)trained;
    convert_hf_must_be_int(h, "moe_every_n_layers", 0);
    check_nomic(h);
}

/* The one that there is was trained with texts of 512 ids, whatever it says. */
void
convert_hf_keys_nomic_moe(struct hf *h)
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
                       core_json_int(c, "moe_top_k", 1, MAX_USED, 0));
    convert_hf_set_u32(
        h, "moe_every_n_layers",
        core_json_int(c, "moe_every_n_layers", 1, MAX_LAYERS, 0));
}

/* ---- jina-bert ----------------------------------------------------------- */

void
convert_hf_keys_jina_v2(struct hf *h)
{
    const char *ff = core_json_text(&h->config, "feed_forward_type", "geglu");

    check_positions(h, "alibi", "absolute");
    if (strcmp(ff, "geglu") != 0)
        core_json_bad(&h->config, GG_ERR_UNSUPPORTED,
                      "feed_forward_type: '%.40s' is not known here", ff);
    convert_hf_must_be(h, "is_decoder", false, false);
    keys_encoder(h);
}

void
convert_hf_keys_jina_v3(struct hf *h)
{
    check_positions(h, "rotary", "rotary");
    keys_encoder(h);
    skip_padding(h);
    h->n_pad = 0; /* there is no table of positions */
}

/* ---- ModernBERT, EuroBERT, NeoBERT --------------------------------------- */

void
convert_hf_keys_modern(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *act = core_json_text(c, "hidden_activation", NULL);

    convert_hf_set_bool(h, "attention.causal", false);
    convert_hf_set_u32(h, "attention.sliding_window",
                       core_json_int(c, "local_attention", 0, MAX_CTX, 128));
    convert_hf_must_be_int(h, "global_attn_every_n_layers", 3);
    if (act)
        convert_hf_set_str(h, "hidden_activation", act);
}

void
convert_hf_keys_modern_rank(struct hf *h)
{
    struct core_json_keys *c = &h->config;
    const char *how = core_json_text(c, "classifier_pooling", "cls");
    const char *act = core_json_text(c, "classifier_activation", "gelu");

    convert_hf_keys_modern(h);
    if (strcmp(how, "cls") && strcmp(how, "mean"))
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "classifier_pooling: must be cls or mean here");
    if (strcmp(act, "gelu") != 0)
        core_json_bad(c, GG_ERR_UNSUPPORTED,
                      "classifier_activation: must be gelu here");
    convert_hf_set_u32(h, "classifier.pooling_type",
                       strcmp(how, "cls") ? MEAN : CLS);
    keys_rank(h);
}

void
convert_hf_keys_eurobert(struct hf *h)
{
    convert_hf_set_bool(h, "attention.causal", false);
}

/* Two thirds as long as it says, in eights; the vector of a text is the first,
 * unless the folder says otherwise. */
void
convert_hf_keys_neo(struct hf *h)
{
    struct core_json_keys *c = &h->config;

    convert_hf_set_bool(h, "attention.causal", false);
    convert_hf_must_be(h, "rope", true, true);
    convert_hf_must_be(h, "rms_norm", true, true);
    h->n_ctx = (int32_t)core_json_int(c, "max_length", 1, MAX_CTX, h->n_ctx);
    h->n_ff = (int32_t)((2 * (int64_t)h->n_ff / 3 + 7) / 8 * 8);
    convert_hf_set_u32(h, "pooling_type", CLS);
}

void
convert_hf_keys_neo_rank(struct hf *h)
{
    convert_hf_keys_neo(h);
    keys_rank(h);
}

/* ---- T5 ------------------------------------------------------------------ */

void
convert_hf_keys_t5(struct hf *h)
{
    convert_hf_set_bool(h, "attention.causal", false);
    convert_hf_must_be_int(h, "relative_attention_max_distance", 128);
    convert_hf_set_u32(h, "attention.relative_buckets_count",
                       core_json_int(&h->config,
                                     "relative_attention_num_buckets", 4,
                                     MAX_BUCKETS, 32));
}

#endif
