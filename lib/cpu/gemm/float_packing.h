/* float_packing.h - cache blocking and packing for GEMM with weights of F32,
 * F16, BF16: blocks of values that caches hold, and rows that are copied */
#ifndef CPU_GEMM_FLOAT_PACKING_H
#define CPU_GEMM_FLOAT_PACKING_H

#include "cpu/gemm/float_sums.h"

/* Columns of a tile that do not fit the L1 cache are multiplied in blocks of
 * values, of whole chains: rows and columns are multiplied over the first
 * values, then with the next, and sums are kept meanwhile. Smaller vectors can
 * wait for the second; so do all where the first has 8 ways, too few for 4 rows
 * and 6 columns whose lines are some 4 KB apart. BLOCK_ROWS are multiplied with
 * BLOCK_PANELS of columns, as their sums fit the L2 cache together with what
 * comes by: the more they are, the less often columns come from memory. */
#define BLOCK_BYTES  ((VEC >= 16 && cpu_large_l1 ? 24 : 96) * 1024)
#define BLOCK_ROWS   48
#define BLOCK_PANELS 16
/* Rows of one block that are multiplied with all columns before the next are:
 * bytes of an L2 cache. */
#define L2_ROWS_BYTES (384 * 1024)

/* Values [first, end) of rows. */
struct block {
    int64_t first, end;
    const char *rows; /* the first of them, of row `row`, and the next row's */
    size_t stride;
    int64_t row;
    vec (*kept)[COLS]; /* NULL: a row's values are one block */
    /* Bytes of the next rows that a tile of several columns prefetches, as
     * these share it: all, and those of a turn. */
    size_t part, each;
};

INLINE int64_t
cpu_block_values(enum ggml_type type, int64_t k)
{
    const int64_t most =
        BLOCK_BYTES / COLS / (int64_t)cpu_value_size(COLUMN_TYPE);
    const int64_t chain =
        cpu_chain_values(type) ? cpu_chain_values(type) : TURN;
    int64_t blocks = (k + most - 1) / most;

    if (blocks <= 1)
        return k;
    return (k + blocks * chain - 1) / (blocks * chain) * chain;
}

/* For the sums that are kept. */
static size_t
blocks_size(int64_t k)
{
    return cpu_block_values(GGML_TYPE_F32, k) < k
               ? sizeof(vec) * COLS * BLOCK_ROWS * BLOCK_PANELS
               : 0;
}

/* ---- rows that are copied ------------------------------------------------ */

/* Rows that are multiplied with all columns before the next are, copied where
 * that is better. A file has them on multiples of 32 bytes: loads of a whole
 * line would take two. And what is rounded need not be for every column. */
INLINE int64_t
cpu_rows_in_l2(enum ggml_type type, int64_t k)
{
    int64_t n = L2_ROWS_BYTES / ((k + !k) * (int64_t)cpu_value_size(type)) /
                ROWS * ROWS;

    return cpu_block_values(type, k) < k ? BLOCK_ROWS : n > ROWS ? n : ROWS;
}

/* No power of two, so that rows lie in different parts of the cache. */
INLINE size_t
packed_stride(enum ggml_type type, int64_t n)
{
    return ((size_t)n * cpu_value_size(type) + LINE - 1) / LINE * LINE + LINE;
}

/* Weights of F16 with columns of BF16. */
INLINE bool
is_rounded(enum ggml_type type)
{
    return cpu_value_size(COLUMN_TYPE) == 2 && type != COLUMN_TYPE;
}

/* Fewer columns would not make up for it. */
INLINE bool
may_be_packed(enum ggml_type type, int64_t n_cols)
{
    if (is_rounded(type))
        return n_cols >= COLS;
    return n_cols >= 8 * COLS && (cpu_value_size(COLUMN_TYPE) == 2 ||
                                  VEC * cpu_value_size(type) >= LINE);
}

INLINE bool
cpu_is_packed(enum ggml_type type, const struct cpu_product *p)
{
    return may_be_packed(type, p->n_cols) &&
           (is_rounded(type) || (uintptr_t)p->rows % LINE ||
            p->row_stride % LINE);
}

/* Bytes of what cpu_is_packed(), and of blocks_size(). */
INLINE size_t
cpu_packed_size(enum ggml_type type, int64_t k, int64_t n_rows, int64_t n_cols)
{
    int64_t n =
        cpu_rows_in_l2(type, k) < n_rows ? cpu_rows_in_l2(type, k) : n_rows;

    if (!may_be_packed(type, n_cols))
        return blocks_size(k);
    return (size_t)n * packed_stride(type, cpu_block_values(type, k)) +
           blocks_size(k);
}

INLINE void
pack_row(enum ggml_type type, int64_t n, char *y, const char *x)
{
    if (!is_rounded(type)) {
        memcpy(y, x, (size_t)n * cpu_value_size(type));
        return;
    }
#ifdef DOT_BF16
    for (int64_t i = 0; i < n; i += STEP)
        v_store_bf16_pairs(
            n - i, y + 2 * i,
            cpu_load_operand(type, n - i < STEP ? n - i : STEP, x + 2 * i));
#endif
}

/* The block's values of rows [r, r + n). */
INLINE void
cpu_pack_rows(enum ggml_type type, const struct cpu_product *p, int64_t r,
              int64_t n, struct block *k)
{
    const char *from = p->rows + (size_t)r * p->row_stride;
    char *to = (char *)p->scratch + blocks_size(p->k);

    k->rows = to;
    k->row = r;
    k->stride = packed_stride(type, k->end - k->first);
    for (int64_t i = 0; i < n; i++, to += k->stride, from += p->row_stride)
        pack_row(type, k->end - k->first, to,
                 from + (size_t)k->first * cpu_value_size(type));
}

/* The type of packed copies. */
INLINE enum ggml_type
cpu_packed_type(enum ggml_type type)
{
    return is_rounded(type) ? COLUMN_TYPE : type;
}

#endif
