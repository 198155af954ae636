/* reference_kernels.h - what the files of the reference kernels share */
#ifndef CPU_REF_REFERENCE_KERNELS_H
#define CPU_REF_REFERENCE_KERNELS_H

#include "cpu/kernels.h"

/* Fills the mul_mat slots. */
void
cpu_fill_products(struct cpu_kernels *k);

/* Fills the slots of attention. */
void
cpu_fill_panels(struct cpu_kernels *k);

/* Fills those of recurrences. */
void
cpu_fill_reference_recurrences(struct cpu_kernels *k);

/* The column of eight-bit blocks that column.h describes. */
void
cpu_prepare_column(const float *x, void *column, int64_t k);
size_t
cpu_column_size(int64_t k);

#endif
