/* sums.h - a single number from many terms */
#ifndef CUDA_SUMS_H
#define CUDA_SUMS_H

#include "cuda/tensor_view.h"

/* y, of one element, an F32, F16, BF16 or I64: the sum of n terms, in their
 * order whatever the device, over `divisor`. */
void
cuda_store_sum(struct cuda_ctx *c, const double *terms, int64_t n,
               double divisor, const struct view *y);

#endif
