/* copy.h - bytes to another place */
#ifndef CUDA_COPY_H
#define CUDA_COPY_H

#include "cuda/kernels.h"

/* Both addresses are multiples of 16; the pieces are apart, or the same. */
void
cuda_copy_flat(struct cuda_ctx *c, void *to, const void *from, int64_t size);

#endif
