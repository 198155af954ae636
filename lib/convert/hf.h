/* hf.h - a folder as Hugging Face's transformers saves a model; for this room
 *
 * config.json, weights as safetensors, a tokenizer. Names and shapes of the
 * tensors are those of the library's models; what they become is what
 * llama.cpp's convert_hf_to_gguf.py makes of them. */
#ifndef CONVERT_HF_H
#define CONVERT_HF_H

#include "core/json.h"
#include "convert/safetensors.h"
#include "core/hash.h"
#include "gguf/reader.h"

/* ---- weights: hf_weights.c ----------------------------------------------- */

struct hf_weights {
    struct safetensors *files;
    size_t n_files;
    struct safetensors_tensor **tensors; /* of all files */
    bool *used;                          /* one for each */
    size_t n;
    struct hash_map names;
};

/* All files that the index names, or the one that there is. */
enum gg_status
hf_weights_open(const char *folder, struct hf_weights *out,
                struct gg_error *err);
void
hf_weights_close(struct hf_weights *w); /* takes an empty one */

/* A file of the folder itself, and no other. */
bool
hf_is_plain(const char *name);

/* NULL: there is none; one that is found counts as used. Some save a model
 * without its outermost name: "h.0" for "transformer.h.0"; the first ones of
 * norms say gamma and beta for weight and bias. */
const struct safetensors_tensor *
hf_weights_find(struct hf_weights *w, const char *name);

/* The same, by its complete name. */
struct safetensors_tensor *
hf_weights_exact(struct hf_weights *w, const char *name);

/* ---- rows: hf_rows.c ----------------------------------------------------- */

enum hf_order {
    HF_AS_IS,
    HF_PAIRS, /* of a head: the two halves alternate, as llama.cpp turns them */
    HF_PARTS, /* groups of queries, a key, a value become all queries, all keys,
                 all values */
};

/* Where the values of a tensor come from: blocks of n_rows rows, one behind
 * the other; all numbers in values. */
struct hf_rows {
    const struct safetensors_tensor **from; /* one a block, or one for all */
    size_t n_from;
    const float *made; /* in place of all that: values that no file has */
    int64_t n_blocks, n_rows, length; /* of a row */
    size_t first, block, row, step;   /* from one to the next */
    enum hf_order order;
    int32_t n_head, n_head_kv; /* of HF_PARTS; n_head of HF_PAIRS */
    float add;
};

/* Writes rows first .. first + n - 1 of them all. */
void
hf_rows_make(const struct hf_rows *rows, int64_t first, int64_t n,
             enum ggml_type type, void *out);

/* ---- a model ------------------------------------------------------------- */

struct hf_family;

struct hf {
    const char *path;
    const struct hf_family *family;
    struct core_json_keys config;
    struct core_json_keys here; /* for complaints about the folder */
    const json_t *quantized;    /* how weights were quantised; or NULL */
    json_t *document;           /* that the configuration is in */
    struct gguf_context *gguf;
    struct hf_weights weights;
    struct hf_rows *rows; /* one for each tensor */
    size_t cap_rows;

    int32_t n_vocab, n_ctx, n_embd, n_layer, n_ff, n_head, n_head_kv, d_head;
    int32_t n_rot, n_expert, n_kinds; /* of texts, of an encoder */
    bool weighed; /* the tensors are wanted, not only the keys */
};

/* True while nothing failed. */
bool
hf_good(const struct hf *h);
/* ARCH.name */
void
hf_set_u32(struct hf *h, const char *name, int64_t value);
void
hf_set_f32(struct hf *h, const char *name, double value);
void
hf_set_str(struct hf *h, const char *name, const char *value);
void
hf_set_bool(struct hf *h, const char *name, bool value);

/* Adds a tensor of such rows; frees what they point to if it cannot. */
void
hf_add(struct hf *h, const char *name, enum ggml_type type,
       const int64_t ne[GGML_MAX_DIMS], const struct hf_rows *rows);

/* ---- families: hf_families.c, hf_keys.c, hf_tensors.c, hf_rope.c --------- */

enum {
    HF_HEADS_Q = 1 << 0, /* HF_PAIRS by heads of queries */
    HF_HEADS_K = 1 << 1, /* and of keys */
    HF_QKV = 1 << 2,     /* HF_PARTS */
    HF_TURN = 1 << 3,    /* rows become columns */
    HF_PLUS_1 = 1 << 4,  /* 1 is added */
    HF_F32 = 1 << 5,     /* stays exact whatever the others become */
    HF_OPTIONAL = 1 << 6,
    HF_OR_NEXT = 1 << 7, /* where it is missing, the next one stands for it */
    HF_EXACT = 1 << 8,   /* both names are complete: no weight, no bias */
    HF_GATES = 1 << 9,   /* the first half of a block's rows */
    HF_UPS = 1 << 10,    /* the second */
    HF_EVEN = 1 << 11,   /* every second column, from the first on; turned */
    HF_ODD = 1 << 12,    /* from the second on */
    HF_MXFP4 = 1 << 13,  /* blocks, with scales; rows are rows here */
};

/* What a tensor is called there and here; "%d" is the layer in front of it, or
 * an expert. */
struct hf_name {
    const char *from, *to;
    unsigned how;
};

struct hf_family {
    const char *model;  /* architectures[0] in config.json */
    const char *arch;   /* general.architecture */
    const char *layers; /* "model.layers." */
    const struct hf_name *whole, *layer[4]; /* ended by one without a name */
    bool layer_norm;                        /* with means; else RMS */
    double epsilon; /* unless the configuration says it; 0: the customary */
    bool encoder;   /* no logits */
    bool positions; /* learned ones; else rotary */
    const char *activations;    /* "silu": those that the graph has */
    bool tied;                  /* unless the configuration says otherwise */
    void (*keys)(struct hf *h); /* what is special; or NULL */
    int full_every; /* every so many layers one sees all; 0: all alike */
    int full_at;    /* which of so many */
    bool listed;    /* it is any layer that layer_types says */
};

/* hf_encoders.c: ended by one without a name. */
extern const struct hf_family hf_encoders[];

const struct hf_family *
hf_family_find(const char *model);

void
hf_read_keys(struct hf *h);
/* hf_pooling.c: how the vectors of a text become one, if the folder says it. */
void
hf_read_pooling(struct hf *h);
/* hf_special.c: what only some families have. A setting must have, or default
 * to, one value. */
void
hf_must_be(struct hf *h, const char *name, bool value, bool other);
void
hf_must_be_int(struct hf *h, const char *name, int64_t value);
void
hf_keys_window(struct hf *h);
void
hf_keys_gpt_neox(struct hf *h);
void
hf_keys_falcon(struct hf *h);
void
hf_keys_mixtral(struct hf *h);
void
hf_keys_qwen(struct hf *h);
void
hf_keys_qwen2moe(struct hf *h);
void
hf_keys_qwen3moe(struct hf *h);
void
hf_keys_gemma2(struct hf *h);
void
hf_keys_gemma3(struct hf *h);
void
hf_keys_phi2(struct hf *h);
void
hf_keys_phi3(struct hf *h);
void
hf_keys_gpt_oss(struct hf *h);
void
hf_keys_smollm3(struct hf *h);
void
hf_keys_olmo3(struct hf *h);
void
hf_keys_granite(struct hf *h);

/* hf_scaled.c: finds the scales of weights that are quantised already. */
void
hf_link_scales(struct hf *h, const json_t *how);
/* The scale of a value. */
float
hf_scale_at(const struct safetensors_tensor *t, size_t at);
/* n values from `at` on as blocks of MXFP4; both are whole blocks. */
void
hf_pack_mxfp4(const struct safetensors_tensor *t, size_t at, size_t n,
              uint8_t *out);

/* Rotary positions: keys, and divisors where the scaling has some. */
void
hf_read_rope(struct hf *h);

void
hf_add_tensors(struct hf *h);

/* ---- tokens: hf_tokens.c, hf_ids.c, hf_bpe.c, hf_pre.c, hf_spm.c,
 *              hf_wordpiece.c ---------------------------------------------- */

struct hf_tokens;

/* A kind of tokenizer, and where its tokens are. */
struct hf_tokenizer {
    const char *model; /* tokenizer.ggml.model */
    void (*tokens)(struct hf_tokens *t);
    /* What is to be said once all tokens are there; or NULL. */
    void (*keys)(struct hf_tokens *t);
    bool scored; /* SentencePiece's */
    bool words;  /* BERT's */
};

/* The vocabulary in the making. */
struct hf_tokens {
    struct hf *h;
    const struct hf_tokenizer *kind;
    struct file_map map;          /* tokenizer.model, vocab.txt; or empty */
    struct core_json_keys file;   /* tokenizer.json; or empty */
    struct core_json_keys config; /* tokenizer_config.json; or empty */
    json_t *added;                /* added_tokens.json; or NULL */
    struct gguf_str *text;        /* points into the documents, or the file */
    int32_t *types;               /* 0: there is no token of that id */
    float *scores;                /* of SentencePiece; else NULL */
    char *marked;                 /* what `text` may point into */
    int32_t n;
    struct hash_map ids; /* of `text`, once all are there */
};

/* The token of that text, or -1. */
int32_t
hf_token_find(const struct hf_tokens *t, const char *text, size_t len);

/* Takes the token; complains where the id is taken or too large. */
void
hf_token_put(struct hf_tokens *t, int64_t id, const char *text, size_t len,
             int32_t type);

/* hf_ids.c: the token that begins a text, and others, by their number; -1. */
enum {
    HF_SPECIALS = 6
};
int32_t
hf_special_find(const struct hf_tokens *t, int i);
/* Their keys. */
void
hf_set_specials(struct hf_tokens *t);

/* hf_bpe.c: the tokens of tokenizer.json, also those of WordPiece. */
void
hf_bpe_tokens(struct hf_tokens *t);
void
hf_bpe_keys(struct hf_tokens *t);
/* Whether its tokens are SentencePiece's: characters, and bytes as <0xHH>. */
bool
hf_bpe_is_spm(const struct hf_tokens *t);

/* hf_spm.c: the tokens and scores of tokenizer.model; and the key that only it
 * knows. */
void
hf_spm_tokens(struct hf_tokens *t);

/* hf_wordpiece.c: whether tokenizer.json is of this kind; the tokens of
 * vocab.txt. */
bool
hf_wordpiece_is(const struct hf_tokens *t);
void
hf_wordpiece_lines(struct hf_tokens *t);
void
hf_wordpiece_keys(struct hf_tokens *t);

/* hf_pre.c: tokenizer.ggml.pre by the steps of a pre_tokenizer; NULL: no rule
 * is known that does the same. */
const char *
hf_pre_name(const json_t *pre, bool ignore_merges);

void
hf_read_tokens(struct hf *h);

#endif
