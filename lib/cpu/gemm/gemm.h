/* gemm.h - weights of any type times columns, GEMV to GEMM: what MUL_MAT and
 * MUL_MAT_ID share
 *
 * Types with a kernel are multiplied by it; rows of the others are dequantised
 * to floats, some at a time. */
#ifndef CPU_GEMM_GEMM_H
#define CPU_GEMM_GEMM_H

#include "cpu/exec/task.h"

/* Pieces are of a multiple of this many rows, as kernels like it. */
#define CPU_PIECE_ROWS 16
/* Rows of pieces with several columns: kernels take 8, 16 or 48 rows, or 4, at
 * a time. */
#define CPU_SEVERAL_ROWS 48

/* How weights of a type are multiplied with columns of k values. */
struct cpu_product_plan {
    const struct cpu_mul_mat *kernel;
    enum ggml_type type;
    int64_t k;
    bool convert;   /* weights to floats first */
    size_t column;  /* bytes of a column that was put */
    size_t scratch; /* bytes that cpu_multiply() and cpu_put_column() need */
};

/* The plan of MUL_MAT or MUL_MAT_ID. */
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

/* The prefetch distance: how many bytes of rows are to be prefetched before
 * they are multiplied with a small batch of n_cols columns. */
size_t
cpu_prefetch_distance(const struct cpu_product_plan *p, size_t stride,
                      int64_t n_cols);

/* Rows of a piece of w, where a job multiplies `n_rows` like them in all, by
 * several columns each or one. */
int64_t
cpu_piece_rows(const struct ggml_tensor *w, int64_t n_rows, bool several,
               int n_threads);

/* True if w can be weights and x columns. */
bool
cpu_can_multiply(const struct ggml_tensor *w, const struct ggml_tensor *x);

/* ---- products that a job computes together: MUL_MAT with one matrix ------ */

/* True if both find the same columns, prepared once, in the same places of the
 * work memory. */
bool
cpu_products_alike(const struct ggml_tensor *a, const struct ggml_tensor *b,
                   const struct cpu_kernels *k);

/* True if the pieces read src1 itself. */
bool
cpu_product_reads_columns(const struct ggml_tensor *dst,
                          const struct cpu_kernels *k);

/* How a product is cut together with others, whose weights have `bytes` bytes
 * in all; 0: alone. And into how many pieces. */
struct cpu_piece_shape
cpu_product_piece_shape(const struct ggml_tensor *dst, int n_threads,
                        int64_t bytes);
int
cpu_product_pieces(const struct ggml_tensor *dst, struct cpu_piece_shape tile);

/* Elements [elements.first, elements.end) of rows [rows.first, rows.end). */
struct cpu_part {
    struct cpu_range elements, rows;
};

/* The part of dst that piece t->ith computes. */
struct cpu_part
cpu_product_part(const struct cpu_task *t, const struct ggml_tensor *dst);

#endif
