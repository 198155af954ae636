/* multiply.h - a product of a few columns with what stands behind it */
#ifndef CUDA_MULTIPLY_H
#define CUDA_MULTIPLY_H

#include "cuda/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUDA_FEW_COLUMNS 8

/* mul_mat, of at most CUDA_FEW_COLUMNS columns, and, unless NULL: `add`, F32,
 * of the product and a tensor of its shape or one row; or `glu` of the product
 * and `second`, another of the same shapes, types and strides. */
struct cuda_product {
    struct ggml_tensor *mul_mat, *add, *second, *glu;
};

void
cuda_run_product(struct cuda_ctx *c, const struct cuda_product *p);

#ifdef __cplusplus
}
#endif

#endif
