/* quantize.h - columns of activations in eight bits
 *
 * For products with weights in blocks: x = d * q for each unit of 32 values,
 * d the greatest magnitude / 127, q to nearest, ties to even, as the CPU's
 * cpu/gemm/column.h has them. A column is the q of all its values and then, for
 * each unit, its figures. */
#ifndef CUDA_QUANTIZE_H
#define CUDA_QUANTIZE_H

#include "cuda/view.h"

struct figures {
    float d;
    int16_t sums[2]; /* of 16 q each */
};

static inline int64_t
column_size(int64_t k)
{
    return (k + k / 32 * (int64_t)sizeof(struct figures) + 15) / 16 * 16;
}

/* Prepares all rows of x; whole units. */
void
cuda_quantize_columns(struct cuda_ctx *c, const struct view *x, void *columns);

#endif
