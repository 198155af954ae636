/* importance.h - an importance matrix: how much columns of weights matter
 *
 * A file of GGUF whose general.type is "imatrix": for a matrix NAME of the
 * model NAME.in_sum2, columns x matrices, has the sums of the squares of what
 * it was multiplied with, and NAME.counts, 1 x matrices, how many they are. A
 * file is hostile until importance_open() has accepted it. */
#ifndef QUANTIZE_IMPORTANCE_H
#define QUANTIZE_IMPORTANCE_H

#include <gg.h>
#include <gguf.h>

struct importance {
    const char *path;
    struct gg_file *file; /* NULL: there is none, and it has no tensor */
};

/* Reads all of the file: sums without counts, shapes that disagree, and
 * numbers that are no sums of squares are told here. On failure *m is empty;
 * on GG_OK `path` must outlive it. */
GG_MUST_CHECK enum gg_status
importance_open(struct importance *m, const char *path, struct gg_error *err);
void
importance_close(struct importance *m); /* takes an empty one */

/* *has: whether it has the tensor. One that it has for other columns or
 * another number of experts is GG_ERR_FORMAT. */
GG_MUST_CHECK enum gg_status
importance_find(const struct importance *m, const struct gguf_context *gguf,
                int64_t tensor, bool *has, struct gg_error *err);

/* A weight for each column of each matrix of the tensor: its mean square,
 * 0 to 1e20. Those of an expert that was never used are ones.
 * The caller frees them; *out is NULL where it does not have the tensor. */
GG_MUST_CHECK enum gg_status
importance_weights(const struct importance *m, const struct gguf_context *gguf,
                   int64_t tensor, float **out, struct gg_error *err);

/* How many tensors of the model it has; none is GG_ERR_FORMAT. */
GG_MUST_CHECK enum gg_status
importance_count(const struct importance *m, const struct gguf_context *gguf,
                 int32_t *n, struct gg_error *err);

/* Says in the metadata of the new file what it was made with. */
void
importance_describe(const struct importance *m, struct gguf_context *to,
                    int32_t count);

#endif
