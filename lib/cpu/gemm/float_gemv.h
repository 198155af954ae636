/* float_gemv.h - GEMV with weights of F32, F16, BF16: how rows are read, and
 * prefetched
 *
 * It takes as long as weights take to come from memory. Rows are read one after
 * the other, wholly or in strips; or some at once, as a tile of float_gemm.h.
 */
#ifndef CPU_GEMM_FLOAT_GEMV_H
#define CPU_GEMM_FLOAT_GEMV_H

#include "cpu/gemm/float_sums.h"

/* The fewer rows are read at once, the faster they come from memory. Long
 * vectors keep up with rows that are read one after the other, though each has
 * one chain of sums: ROWS of them are multiplied with a strip of the column,
 * then the next. Of strips that the L1 cache keeps, chains need not end there;
 * of short ones that come to L1, one row's chain waits while the next has
 * begun. */
#define IN_STRIPS    (VEC >= 16)
#define STRIP_VALUES 2048
#define L1_STRIP     128

/* How often lines are prefetched to L2 in GEMV: the less is computed of one
 * before the next, the more often a request is dropped. */
#define PREFETCH_TIMES_L2 5

/* The prefetch distance in bytes where GEMV reads one row after the other. */
#define GEMV_PREFETCH_DISTANCE 2048

INLINE bool
cpu_gemv_float_row_by_row(enum ggml_type type)
{
    return GEMV_ROW_BY_ROW && type != HARDWARE_PREFETCHED;
}

/* Prefetches what a step over rows of a single column reads, or a line of
 * several steps. */
INLINE void
cpu_prefetch_step(bool to_l1, int64_t step, const char *p)
{
    const int64_t n = step > LINE ? step : LINE;

    UNROLL for (int64_t i = 0; i < n; i += LINE)
        cpu_prefetch_line(p + i, to_l1 ? PREFETCH_TIMES : PREFETCH_TIMES_L2,
                          to_l1 ? PREFETCH_TIMES : 0);
}

/* An element of a single column, from one stream of memory. */
INLINE void
cpu_gemv_float_row(enum ggml_type type, const struct cpu_product *p, int64_t r)
{
    const int64_t size = (int64_t)cpu_value_size(type);
    const int64_t col_size = (int64_t)cpu_value_size(COLUMN_TYPE);
    const char *row = p->rows + (size_t)r * p->row_stride;
    vec sum[1][WIDE], total[1][WIDE];
    int64_t i = 0;

    sum[0][0] = total[0][0] = v_splat(0);
    for (; i + TURN <= p->k; i += TURN) {
        cpu_end_chain(type, 1, 1, i, sum, total);
        UNROLL for (int64_t j = i; j < i + TURN; j += STEP)
        {
            if ((j - i) * size % LINE == 0)
                PREFETCH_L1(row + j * size + GEMV_PREFETCH_DISTANCE);
            cpu_add_products(type, 1, 1, STEP, sum, row + j * size, 0,
                             p->cols + j * col_size, 0);
        }
    }
    for (; i < p->k; i += STEP) {
        cpu_end_chain(type, 1, 1, i, sum, total);
        cpu_add_products(type, 1, 1, p->k - i < STEP ? p->k - i : STEP, sum,
                         row + i * size, 0, p->cols + i * col_size, 0);
    }
    cpu_end_chains(1, 1, sum, total);
    cpu_store_sums_column(1, 0, total, p->out + r);
}

/* Values [i, end) of a row of a single column, added to `before`; as many bytes
 * are prefetched. */
INLINE vec
add_strip(enum ggml_type type, bool to_l1, const struct cpu_product *p,
          const char *row, int64_t i, int64_t end, const char *source,
          vec before)
{
    const int64_t size = (int64_t)cpu_value_size(type);
    const int64_t col_size = (int64_t)cpu_value_size(COLUMN_TYPE);
    const int64_t turn = 4 * LINE / size;
    vec sum[1][WIDE];

    sum[0][0] = before;
    for (; i + turn <= end; i += turn, source += 4 * LINE)
        UNROLL for (int64_t j = 0; j < turn; j += STEP)
        {
            if (j * size % LINE == 0)
                cpu_prefetch_step(to_l1, LINE, source + j * size);
            cpu_add_products(type, 1, 1, STEP, sum, row + (i + j) * size, 0,
                             p->cols + (i + j) * col_size, 0);
        }
    for (; i < end; i += STEP)
        cpu_add_products(type, 1, 1, end - i < STEP ? end - i : STEP, sum,
                         row + i * size, 0, p->cols + i * col_size, 0);
    return sum[0][0];
}

/* Rows from r on, with a single column. */
INLINE void
cpu_rows_in_strips(enum ggml_type type, bool to_l1, const struct cpu_product *p,
                   int64_t r)
{
    const int64_t strip = to_l1 ? L1_STRIP : STRIP_VALUES;

    for (int64_t n; r < p->n_rows; r += n) {
        const char *source = cpu_prefetch_source(p, r);
        vec sum[ROWS];

        n = p->n_rows - r < ROWS ? p->n_rows - r : ROWS;
        for (int64_t a = 0; a < n; a++)
            sum[a] = v_splat(0);
        for (int64_t i = 0; i < p->k; i += strip) {
            int64_t end = p->k - i < strip ? p->k : i + strip;

            for (int64_t a = 0; a < n; a++) {
                const char *row = p->rows + (size_t)(r + a) * p->row_stride;

                sum[a] = add_strip(type, to_l1, p, row, i, end, source, sum[a]);
                source += (end - i) * (int64_t)cpu_value_size(type);
            }
        }
        for (int64_t a = 0; a < n; a++)
            p->out[r + a] = v_add_lanes(sum[a]);
    }
}

#endif
