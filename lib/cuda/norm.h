/* norm.h - a norm fused with a residual sum, scale and bias */
#ifndef CUDA_NORM_H
#define CUDA_NORM_H

#include "cuda/kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out = norm(x) * weight + bias, where x = src0 of `norm`, or a + b if there is
 * an `add`, which is stored too. `mul` and `bias` are nodes after the norm, or
 * NULL; `next` is the node after all of them, or NULL. */
struct cuda_norm {
    struct ggml_tensor *add, *norm, *mul, *bias;
    const struct ggml_tensor *next;
};

void
cuda_run_norms(struct cuda_ctx *c, const struct cuda_norm *n);

#ifdef __cplusplus
}
#endif

#endif
