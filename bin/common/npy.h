/* npy.h - the head of NumPy's file format, version 1.0 */
#ifndef COMMON_NPY_H
#define COMMON_NPY_H

#include <ggml.h>
#include <stdio.h>

/* "<f2": what NumPy calls the type; NULL: it has none such. */
const char *
npy_type(enum ggml_type type);

/* All before the data, of n_dims dimensions, the one whose neighbours lie side
 * by side first, as ggml has them. */
void
npy_head(FILE *f, const char *type, const int64_t *ne, int n_dims);

#endif
