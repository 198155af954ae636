/* imatrix_entry.h - what an importance matrix is made of; for imatrix*.c */
#ifndef EVAL_IMATRIX_ENTRY_H
#define EVAL_IMATRIX_ENTRY_H

#include <string.h>

#include <ggml.h>

#include "gg-eval/imatrix.h"

/* Sums of one tensor of weights. */
struct imatrix_entry {
    char name[GGML_MAX_NAME];
    int64_t n_columns, n_matrices;
    double *sums;   /* n_columns of each matrix */
    double *counts; /* n_matrices */
};

struct imatrix {
    struct imatrix_entry
        *entries; /* in the order in which they are used first */
    size_t n;
    float *values; /* scratch: what weights are multiplied with */
    int32_t *ids;  /* scratch: which experts */
    char *bytes;   /* for rank 0 */
};

/* Makes a new entry, of zeros, number `at`. */
struct imatrix_entry *
imatrix_insert(struct imatrix *m, size_t at, const char *name,
               int64_t n_columns, int64_t n_matrices);

/* Whether a tensor is a layer's, of an encoder's and a decoder's, too. */
static inline bool
imatrix_of_layer(const char *name)
{
    if (!strncmp(name, "enc.", 4) || !strncmp(name, "dec.", 4))
        name += 4;
    return strncmp(name, "blk.", 4) == 0;
}

#endif
