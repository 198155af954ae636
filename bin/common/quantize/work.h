/* work.h - turns the values of a tensor into another type */
#ifndef QUANTIZE_WORK_H
#define QUANTIZE_WORK_H

#include <gg.h>
#include <ggml.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Changes n rows of values, from row `first` on; several threads call it. */
struct work_change {
    void (*rows)(void *data, float *x, int64_t first, int64_t n);
    void *data;
};

struct work {
    enum ggml_type from, to;
    const uint8_t *data; /* of `from`, of any alignment */
    uint8_t *out;
    int64_t row, n_rows;  /* values in a row; all rows of the tensor */
    const float *weights; /* of errors in the columns of each matrix, row of
                             them; NULL: all alike */
    int64_t matrix;       /* rows of one, where there are weights */
    const struct work_change *change; /* before they become another type; or
                                         NULL */
};

struct work_sums {
    double error, values; /* squares, of the differences and of the values */
    uint64_t odd;         /* NaNs and infinities, which count as nothing */
};

/* Does the work in n_threads threads; bytes and sums do not depend on their
 * number. Ends the tool where there is no memory or thread. */
void
work_run(const struct work *w, int n_threads, struct work_sums *sums);

/* A tensor of a file, to standard output, as the one of that number in `into`;
 * `weights` and `change` as above. Nothing is added to sums where nothing
 * changes. */
void
work_write(const struct gg_file *file, int64_t tensor,
           const struct gguf_context *into, const float *weights,
           const struct work_change *change, int n_threads,
           struct work_sums *sums);

#endif
