/* set_rows.h - rows stored to a KV cache, as floats or as blocks */
#ifndef CUDA_SET_ROWS_H
#define CUDA_SET_ROWS_H

#include "cuda/tensor_view.h"

/* Quantises row i of x to row i of y, or, with ids, to row ids[i] of its
 * matrix; an id that is out of range is skipped. */
void
cuda_quantize_rows(struct cuda_ctx *c, const struct view *y,
                   const struct view *x, const struct view *ids);

/* The row of y that row r of x is stored to, by ids; -1: none. */
DEVICE int64_t
cuda_set_rows_target(const struct view *ids, const struct view *y, struct row r)
{
    const char *p = ids->data + r.i1 * ids->nb[0] +
                    cuda_modulo(r.i2, ids->ne[1]) * ids->nb[1] +
                    cuda_modulo(r.i3, ids->ne[2]) * ids->nb[2];
    int64_t to = ids->type == GGML_TYPE_I64 ? *(const int64_t *)(const void *)p
                                            : *(const int32_t *)(const void *)p;

    return to >= 0 && to < y->ne[1] ? to : -1;
}

#endif
