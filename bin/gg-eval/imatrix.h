/* imatrix.h - how much each column of each matrix matters to a text
 *
 * The importance matrix, in the GGUF format of llama.cpp: general.type is
 * "imatrix"; NAME.in_sum2, columns x matrices, has the sums of squares of what
 * each column was multiplied with, and NAME.counts, 1 x matrices, of how many
 * rows. A tensor of experts holds a matrix for each. */
#ifndef EVAL_IMATRIX_H
#define EVAL_IMATRIX_H

#include "common/engine.h"

struct imatrix;

struct imatrix *
imatrix_new(void);
void
imatrix_free(struct imatrix *m);

/* A gg_watch_callback for the session; `m` is a struct imatrix. */
bool
imatrix_watch(struct ggml_tensor *t, bool ask, void *m);

/* Sums that another rank of a pipeline has seen, for imatrix_add(): *n bytes,
 * which live until the next call. */
const void *
imatrix_answer(void *m, size_t *n);

/* Adds what another rank has seen. False: it is damaged. */
bool
imatrix_add(struct imatrix *m, const void *bytes, size_t n);

/* Evaluates the ids of `fd`, window by window, and writes what was seen, by
 * other ranks of the pipeline (NULL: there are none), too, to standard output.
 */
void
imatrix_run(struct imatrix *m, const struct engine *engine,
            struct gg_pipeline *pipeline, int fd, const char *name, bool quiet);

#endif
