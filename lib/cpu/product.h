/* product.h - weights of any type times columns: what MUL_MAT and MUL_MAT_ID
 * share
 *
 * Types with a kernel are multiplied by it; rows of the others are made
 * floats, some at a time. */
#ifndef CPU_PRODUCT_H
#define CPU_PRODUCT_H

#include "cpu/task.h"

/* Tiles are of a multiple of this many rows, as kernels like it. */
#define CPU_TILE_ROWS 16
/* Of those that meet several columns: kernels take 8, 16 or 48 rows, or 4, at
 * a time. */
#define CPU_SEVERAL_ROWS 48

/* How weights of a type meet columns of k values. */
struct cpu_product_plan {
    const struct cpu_mul_mat *kernel;
    enum ggml_type type;
    int64_t k;
    bool convert;   /* weights to floats first */
    size_t column;  /* bytes of a column that was put */
    size_t scratch; /* bytes that cpu_multiply() and cpu_put_column() need */
};

/* Of MUL_MAT or MUL_MAT_ID. */
struct cpu_product_plan
cpu_plan_product(const struct ggml_tensor *dst, const struct cpu_kernels *ks);

/* Row r of x as a column in the form that the kernel reads. */
void
cpu_put_column(const struct cpu_task *t, const struct cpu_product_plan *p,
               const struct ggml_tensor *x, struct cpu_row r, char *column,
               char *scratch);

/* `product` with weights of the plan's type; its scratch is the plan's. */
void
cpu_multiply(const struct cpu_task *t, const struct cpu_product_plan *p,
             const struct cpu_product *product);

/* Rows of a tile of w, whose matrices are read `n_matrices` times in all, for
 * several columns each or one. */
int64_t
cpu_tile_rows(const struct ggml_tensor *w, int64_t n_matrices, bool several,
              int n_threads);

/* True if w can be weights and x columns. */
bool
cpu_can_multiply(const struct ggml_tensor *w, const struct ggml_tensor *x);

#endif
