/* folder_parts.h - what the files that make folders share */
#ifndef TESTS_FOLDER_PARTS_H
#define TESTS_FOLDER_PARTS_H

#include <stdint.h>
#include <stdio.h>

#include "folder.h"
#include "gguf/reader.h"

struct folder {
    const char *family, *arch, *to;
    const char *kind; /* of the weights; or NULL */
    const struct gguf_context *gguf;
    uint32_t n_head, n_head_kv, n_expert;
};

/* A tensor that will be written. */
struct folder_tensor {
    char name[96];
    enum ggml_type type; /* f32, f16 or bf16 */
    int n_dims;
    int64_t shape[4];
    uint8_t *data;
    size_t size;
    const char *dtype; /* that of `type`, if NULL */
};

struct folder_tensors {
    struct folder_tensor list[2048];
    int n;
};

void
folder_die(const char *what);
FILE *
folder_open(const struct folder *f, const char *name);
/* ARCH.name, or `other`. */
double
folder_key(const struct folder *f, const char *name, double other);

/* All tensors in transformers' names and orders. */
void
folder_tensors(const struct folder *f, struct folder_tensors *out);

/* Makes them what `kind` says: "fp8" with scales of blocks, gpt-oss's "mxfp4";
 * "fp8-plain", "mxfp4-plain": the same values as BF16. The weights must be
 * BF16, and become others. */
void
folder_scale(struct folder_tensors *all, const char *kind);

void
folder_config(const struct folder *f);
void
folder_tokenizer(const struct folder *f);
/* Of encoders: BERT's tokens, and the steps of sentence-transformers. */
void
folder_wordpiece(const struct folder *f);

#endif
