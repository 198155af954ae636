/* dequantize.h - rows of any type to floats */
#ifndef CUDA_DEQUANTIZE_H
#define CUDA_DEQUANTIZE_H

#include "cuda/tensor_view.h"

/* Dequantises or converts row i of x, or, with ids, row ids[i] of each of its
 * matrices, to row i of y; an id that is out of range gives zeros. x is of any
 * type, y of F32, F16 or BF16, with rows of the same length. */
void
cuda_dequantize_rows(struct cuda_ctx *c, const struct view *y,
                     const struct view *x, const struct view *ids);

#endif
