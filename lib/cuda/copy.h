/* copy.h - a copy of bytes on the device */
#ifndef CUDA_COPY_H
#define CUDA_COPY_H

#include "cuda/kernels.h"

/* Both addresses are aligned to 16 bytes; the ranges are disjoint, or the
 * same. */
void
cuda_copy_bytes(struct cuda_ctx *c, void *to, const void *from, int64_t size);

#endif
