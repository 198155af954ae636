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

/* Evaluates the ids of `fd`, window by window, and writes what was seen to
 * standard output. */
void
imatrix_run(struct imatrix *m, const struct engine *engine, int fd,
            const char *name, bool quiet);

#endif
