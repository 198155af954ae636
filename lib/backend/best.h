/* best.h - the largest values of a row, found where the row lies
 *
 * A back end whose memory is far away offers, by the name BACKEND_BEST, a
 * backend_best_t. */
#ifndef BACKEND_BEST_H
#define BACKEND_BEST_H

#include <ggml-backend.h>

#define BACKEND_BEST "gg_backend_best"

/* The best of a row: the caller's memory for k ids and logits. */
struct backend_best_row {
    int32_t *ids;
    float *logits;
    double log_sum_exp;
};

/* The k largest of rows [first, first + n_rows) of F32 logits, after all work
 * of the back end: in falling order, the lower id first among equals, NaN
 * last; with the logarithm of the sum of exp() over each row. False: it
 * cannot, with that k or that memory. */
typedef bool (*backend_best_t)(ggml_backend_t backend,
                               const struct ggml_tensor *logits, int64_t first,
                               int n_rows, int k,
                               struct backend_best_row *rows);

#endif
