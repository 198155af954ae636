/* importance.h - an importance matrix: how much columns of weights matter */
#ifndef QUANTIZE_IMPORTANCE_H
#define QUANTIZE_IMPORTANCE_H

#include <gg.h>
#include <gguf.h>

struct importance {
    const char *path;
    struct gg_file *file;
};

/* Ends the tool where the file is none, in the format that gg-eval --imatrix
 * writes. */
void
importance_open(struct importance *m, const char *path);
void
importance_close(struct importance *m); /* takes an empty one */

/* Whether it has the tensor; one that it has for other columns or another
 * number of experts ends the tool. */
bool
importance_has(const struct importance *m, const struct gguf_context *gguf,
               int64_t tensor);

/* A weight for each column of each matrix of the tensor, which it has: its
 * mean square. The caller frees them. Those of an expert that was never used
 * are ones. */
float *
importance_weights(const struct importance *m, const struct gguf_context *gguf,
                   int64_t tensor);

/* How many tensors of the model it has; none ends the tool. */
int32_t
importance_count(const struct importance *m, const struct gguf_context *gguf);

/* Says in the metadata of the new file what it was made with. */
void
importance_describe(const struct importance *m, struct gguf_context *to,
                    int32_t count);

#endif
