/* weights.h - the tensors of a folder, and rows that are made of them */
#ifndef CONVERT_HF_WEIGHTS_H
#define CONVERT_HF_WEIGHTS_H

#include "convert/safetensors.h"
#include "core/hash.h"

/* ---- weights: weights.c ----------------------------------------------- */

enum {
    HF_STEPS = 2, /* with weights of their own, after the model */
};

struct hf_packed;

struct hf_weights {
    struct safetensors *files;
    size_t n_files;
    struct safetensors_tensor **tensors; /* of all files */
    bool *used;                          /* one for each */
    size_t n;
    struct hash_map names;
    struct hf_packed *packed; /* of tensors that are quantised already */
    size_t n_packed;
    struct safetensors steps[HF_STEPS]; /* files in folders of theirs */
    size_t n_steps;
    const char *const *parts; /* that names may lack; ended by NULL; or NULL */
};

/* All files that the index names, or the one that there is. */
enum gg_status
convert_hf_weights_open(const char *folder, struct hf_weights *out,
                        struct gg_error *err);
/* One file of the folder; `root`, which names may begin with, is left out. */
enum gg_status
convert_hf_weights_open_file(const char *folder, const char *name,
                             const char *root, struct hf_weights *out,
                             struct gg_error *err);
void
convert_hf_weights_close(struct hf_weights *w); /* takes an empty one */

/* A file of the folder itself, and no other. */
bool
convert_hf_is_plain(const char *name);

/* NULL: there is none; one that is found counts as used. Some save a model
 * without its outermost name: "h.0" for "transformer.h.0"; the first ones of
 * norms say gamma and beta for weight and bias. */
const struct safetensors_tensor *
convert_hf_weights_find(struct hf_weights *w, const char *name);

/* Finds a weight by its complete name. */
struct safetensors_tensor *
convert_hf_weights_exact(struct hf_weights *w, const char *name);

/* Whether the weight of that name is there without its outermost part. */
bool
convert_hf_weights_are_bare(const struct hf_weights *w, const char *name);

/* ---- rows: rows.c ----------------------------------------------------- */

enum hf_order {
    HF_AS_IS,
    HF_PAIRS, /* of a head: the two halves alternate, as llama.cpp turns them */
    HF_FILLED, /* those beyond n_head are the first */
    HF_PARTS, /* groups of queries, a key, a value become all queries, all keys,
                 all values */
    HF_TILED, /* after those that stay, groups of heads become the first of
                 each group, the second of each ... */
    HF_FLAT,  /* groups of a query, a key, values, gates of these become all
                 queries, all keys, all values */
    HF_SWAPPED, /* of HF_MIXED parts, or blocks, the first and the fourth change
                   places */
};

enum {
    HF_BANDS = 5,
    HF_MIXED = 5, /* what RWKV 6 mixes */
};

/* Where the values of a tensor come from: blocks of n_rows rows, one after
 * the other; all numbers in values. */
struct hf_rows {
    const struct safetensors_tensor **from; /* one a block, or one for all */
    size_t n_from;
    const void *made; /* in place of all that: values that no file has */
    int64_t n_blocks, n_rows, length; /* of a row */
    int64_t lacks;                    /* rows that the last block has not */
    size_t first, block, row, step;   /* from one to the next */
    enum hf_order order;
    int32_t n_head, n_head_kv; /* of HF_PARTS; n_head of HF_PAIRS, HF_FILLED;
                                  groups, and heads of each, of HF_TILED; groups
                                  of HF_FLAT */
    int64_t kept;  /* of HF_TILED: rows that stay; of HF_FLAT: of a query; of
                      HF_PAIRS: those that change, 0: all */
    int64_t blank; /* blocks at the start that are 0, without a source */
    /* Columns are those of n_groups groups of n_each heads, and become
     * HF_TILED; 0: they stay. */
    int32_t n_groups, n_each;
    float add;
    float times;   /* values are multiplied by it; 0: they are not */
    bool decays;   /* x is -exp(x) here */
    bool softplus; /* or log(1 + exp(x)) */
    /* Rows of a block, up to `end` of the band, are multiplied. */
    struct {
        int64_t end;
        float by;
    } bands[HF_BANDS];
    int n_bands;
};

static inline bool
convert_hf_is_scaled(const struct hf_rows *rows)
{
    return rows->times != 0 && rows->times != 1;
}

/* Writes rows first .. first + n - 1 of them all. */
void
convert_hf_rows_make(const struct hf_rows *rows, int64_t first, int64_t n,
                     enum ggml_type type, void *out);

#endif
