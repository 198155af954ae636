/* floats_avx2.c - products with weights of F32, F16, BF16, with AVX2
 *
 * An element is the sum of eight lanes, each a chain of fused products over
 * every eighth weight; so it is in every tile, whatever its shape. */
#include "cpu/x86/vector_avx2.h"

/* The largest tile: 12 sums, 3 columns, a row. */
#define ROWS 4
#define COLS 3

/* Defines a tile of R x C elements from row r and column c on, and the loops
 * over tiles. */
#define PRODUCT(type, size)                                                    \
    INLINE void type##_tile(const int R, const int C,                          \
                            const struct cpu_product *p, int64_t r, int64_t c) \
    {                                                                          \
        const char *rows = p->rows + (size_t)r * p->row_stride;                \
        const char *cols = p->cols + (size_t)c * p->col_stride;                \
        __m256 sum[ROWS][COLS], x[COLS];                                       \
        const char *ahead = C == 1 && R == ROWS                                \
                                ? tile_ahead(p, r, R, (size_t)p->k * (size))   \
                                : NULL;                                        \
        int64_t i = 0;                                                         \
        UNROLL for (int a = 0; a < R; a++) UNROLL for (int b = 0; b < C; b++)  \
            sum[a][b] = _mm256_setzero_ps();                                   \
        for (; i + 8 <= p->k; i += 8) {                                        \
            UNROLL for (int b = 0; b < C; b++) x[b] =                          \
                load_f32(cols + b * p->col_stride + i * 4);                    \
            if (C == 1 && ahead && i * (size) % 64 == 0)                       \
                UNROLL for (int a = 0; a < R; a++)                             \
                    _mm_prefetch(ahead + i * (size)*R + 64 * a, _MM_HINT_T1);  \
            UNROLL for (int a = 0; a < R; a++)                                 \
            {                                                                  \
                __m256 w = load_##type(rows + a * p->row_stride + i * (size)); \
                UNROLL for (int b = 0; b < C; b++) sum[a][b] =                 \
                    _mm256_fmadd_ps(w, x[b], sum[a][b]);                       \
            }                                                                  \
        }                                                                      \
        if (i < p->k) {                                                        \
            int64_t n = p->k - i;                                              \
            UNROLL for (int b = 0; b < C; b++) x[b] =                          \
                load_f32_first(n, cols + b * p->col_stride + i * 4);           \
            UNROLL for (int a = 0; a < R; a++)                                 \
            {                                                                  \
                __m256 w = load_##type##_first(n, rows + a * p->row_stride +   \
                                                      i * (size));             \
                UNROLL for (int b = 0; b < C; b++) sum[a][b] =                 \
                    _mm256_fmadd_ps(w, x[b], sum[a][b]);                       \
            }                                                                  \
        }                                                                      \
        UNROLL for (int b = 0; b < C; b++) UNROLL for (int a = 0; a < R; a++)  \
            p->out[(size_t)(c + b) * p->out_stride + (size_t)(r + a)] =        \
            reduce_add(sum[a][b]);                                             \
    }                                                                          \
    INLINE void type##_rows(const int C, const struct cpu_product *p,          \
                            int64_t c)                                         \
    {                                                                          \
        int64_t r = 0;                                                         \
        for (; r + ROWS <= p->n_rows; r += ROWS)                               \
            type##_tile(ROWS, C, p, r, c);                                     \
        for (; r < p->n_rows; r++)                                             \
            type##_tile(1, C, p, r, c);                                        \
    }                                                                          \
    static void type##_multiply(const struct cpu_product *p)                   \
    {                                                                          \
        int64_t c = 0;                                                         \
        if (p->n_cols == 1)                                                    \
            fetch_first(p, ROWS, (size_t)p->k *(size));                        \
        for (; c + COLS <= p->n_cols; c += COLS)                               \
            type##_rows(COLS, p, c);                                           \
        if (p->n_cols - c == 2)                                                \
            type##_rows(2, p, c);                                              \
        else if (p->n_cols - c == 1)                                           \
            type##_rows(1, p, c);                                              \
    }
PRODUCT(f32, 4)
PRODUCT(f16, 2)
PRODUCT(bf16, 2)

void
cpu_avx2_float_products(struct cpu_kernels *k)
{
    k->mul_mat[GGML_TYPE_F32].multiply = f32_multiply;
    k->mul_mat[GGML_TYPE_F16].multiply = f16_multiply;
    k->mul_mat[GGML_TYPE_BF16].multiply = bf16_multiply;
}
