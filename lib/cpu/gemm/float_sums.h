/* float_sums.h - sums of products with weights of F32, F16, BF16, with the
 * functions of vector.h
 *
 * An element is the sum of VEC lanes, each a chain of fused products over
 * every VEC-th weight; so it is in every tile, whatever its shape. Few lanes
 * make long chains, which round more: theirs end after cpu_chain_values()
 * weights, and then are added up. So do those of small weights in eight lanes:
 * one chain of a row is too slow for memory, but the next begins before it
 * ends. */
#ifndef CPU_GEMM_FLOAT_SUMS_H
#define CPU_GEMM_FLOAT_SUMS_H

#include "cpu/gemm/switches.h"
#include "cpu/vector.h"

/* Where DOT_BF16 is defined, only weights of BF16 have products here: columns
 * become BF16 as well, and a step adds two products to each lane:
 *
 *     v_load_bf16_pairs(n, p)   n values of BF16, fewer than 2 * VEC or all
 *     v_store_bf16_pairs(n, p, v)
 *                               likewise
 *     v_round_to_bf16_pairs(a, b)
 *                               floats as BF16, a's first
 *     v_dot2_bf16(s, a, b)      s + the sums of two products each
 *     v_put_bf16(n, y, x)       n floats as BF16 */
#ifdef DOT_BF16
#define STEP        (2 * VEC)
#define COLUMN_TYPE GGML_TYPE_BF16
typedef bf16_pairs operand;
#else
#define STEP        VEC
#define COLUMN_TYPE GGML_TYPE_F32
typedef vec operand;
#endif

INLINE operand
cpu_load_operand(enum ggml_type type, int64_t n, const char *p)
{
#ifdef DOT_BF16
    if (type == GGML_TYPE_BF16)
        return v_load_bf16_pairs(n, p);
    return v_round_to_bf16_pairs(
        v_load(type, n, p),
        n > VEC ? v_load(type, n - VEC, p + VEC * cpu_value_size(type))
                : v_splat(0));
#else
    return v_load(type, n, p);
#endif
}

INLINE vec
add_product(operand w, operand x, vec sum)
{
#ifdef DOT_BF16
    return v_dot2_bf16(sum, w, x);
#else
    return v_fused(w, x, sum);
#endif
}

/* Values between two prefetches, whole lines of columns; with few registers
 * prefetching takes more of the time. */
#define TURN (VEC == 8 ? 64 : STEP < 16 ? 16 : STEP)

/* The largest tile: its sums, as many columns and a row fill the registers. A
 * wide one, of fewer rows, has up to eight columns, so that one or two that
 * would be left do not have all rows come by once more. */
#define ROWS      4
#define COLS      (REGISTERS >= 32 ? 6 : 3)
#define WIDE      (REGISTERS >= 32 ? COLS + 2 : COLS)
#define WIDE_ROWS 3

/* Adds n values of R rows and C columns, whose strides these are, n at most
 * STEP: of rows or of columns, whichever are fewer, all are in registers at
 * once. */
INLINE void
cpu_add_products(enum ggml_type type, int R, int C, int64_t n, vec sum[][WIDE],
                 const char *rows, size_t row_stride, const char *cols,
                 size_t col_stride)
{
    operand x[WIDE], w[WIDE_ROWS];

    if (C > COLS) {
        UNROLL for (int a = 0; a < R; a++) w[a] =
            cpu_load_operand(type, n, rows + (size_t)a * row_stride);
        UNROLL for (int b = 0; b < C; b++)
        {
            x[b] =
                cpu_load_operand(COLUMN_TYPE, n, cols + (size_t)b * col_stride);
            UNROLL for (int a = 0; a < R; a++) sum[a][b] =
                add_product(w[a], x[b], sum[a][b]);
        }
        return;
    }
    UNROLL for (int b = 0; b < C; b++) x[b] =
        cpu_load_operand(COLUMN_TYPE, n, cols + (size_t)b * col_stride);
    UNROLL for (int a = 0; a < R; a++)
    {
        w[0] = cpu_load_operand(type, n, rows + (size_t)a * row_stride);
        UNROLL for (int b = 0; b < C; b++) sum[a][b] =
            add_product(w[0], x[b], sum[a][b]);
    }
}

INLINE void
cpu_end_chains(int R, int C, vec sum[][WIDE], vec total[][WIDE])
{
    UNROLL for (int a = 0; a < R; a++) UNROLL for (int b = 0; b < C; b++)
    {
        total[a][b] += sum[a][b];
        sum[a][b] = v_splat(0);
    }
}

/* Before value n of a block, which begins with a chain. */
INLINE void
cpu_end_chain(enum ggml_type type, int R, int C, int64_t n, vec sum[][WIDE],
              vec total[][WIDE])
{
    if (cpu_chain_values(type) && n && n % cpu_chain_values(type) == 0)
        cpu_end_chains(R, C, sum, total);
}

/* The elements of a tile's column b: four at a time where there are four rows.
 */
INLINE void
cpu_store_sums_column(int R, int b, vec sum[][WIDE], float *out)
{
    int a = 0;

    UNROLL for (; a + 4 <= R; a += 4)
    {
        const vec four[4] = { sum[a][b], sum[a + 1][b], sum[a + 2][b],
                              sum[a + 3][b] };

        v_store_sums(out + a, four);
    }
    UNROLL for (; a < R; a++) out[a] = v_add_lanes(sum[a][b]);
}

/* The elements of a tile's row a, `stride` floats apart: four at a time. */
INLINE void
cpu_store_sums_row(int C, const vec *sum, float *out, size_t stride)
{
    int b = 0;

    UNROLL for (; b + 4 <= C; b += 4)
    {
        float four[4];

        v_store_sums(four, sum + b);
        UNROLL for (int i = 0; i < 4; i++) out[(size_t)(b + i) * stride] =
            four[i];
    }
    UNROLL for (; b < C; b++) out[(size_t)b * stride] = v_add_lanes(sum[b]);
}

#endif
