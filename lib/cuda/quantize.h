/* quantize.h - columns of activations quantised to 8 bits
 *
 * For products with quantised weights: x = d * q for each sub-block of 32
 * values, d = absmax / 127, q to nearest, ties to even, as in the CPU's
 * cpu/gemm/column.h. A column is the q of all its values and then, for each
 * sub-block, its scale and sums. */
#ifndef CUDA_QUANTIZE_H
#define CUDA_QUANTIZE_H

#include "cuda/tensor_view.h"

struct q8_scale {
    float d;
    int16_t sums[2]; /* of q, 16 values each */
};

static inline int64_t
cuda_q8_column_size(int64_t k)
{
    return (k + k / 32 * (int64_t)sizeof(struct q8_scale) + 15) / 16 * 16;
}

/* Quantises all rows of x, whose length is a multiple of 32. */
void
cuda_quantize_columns(struct cuda_ctx *c, const struct view *x, void *columns);

#endif
