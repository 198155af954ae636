/* open.h - rows of any type, as floats */
#ifndef CUDA_OPEN_H
#define CUDA_OPEN_H

#include "cuda/view.h"

/* Row i of y is row i of x, or, with ids, row ids[i] of each of its matrices;
 * a number that is no row gives zeros. x is of a block type or has elements,
 * y has elements, as many a row. */
void
cuda_open_rows(struct cuda_ctx *c, const struct view *y, const struct view *x,
               const struct view *ids);

#endif
