/* float_gemm_bf16.c - GEMM with weights of BF16, with the matrix products
 * of Armv8.6: of two rows and two columns, four values at once
 *
 * Columns are rounded to BF16, too, which leaves half of a unit in the eighth
 * bit. An element is a chain over four values after four, which ends after
 * CHAIN of them, and is added up then; so it is in every tile. */
#include "cpu/arm/vector_neon.h"

#define CHAIN 128
#define STEP  8 /* values that are loaded at once */
/* A tile: its sums and totals, and the values of all rows and two columns,
 * fill the registers. */
#define ROWS 8
#define COLS 4

static size_t
bf16_column_size(int64_t k)
{
    return (size_t)(k * 2 + LINE - 1) / LINE * LINE;
}

static void
round_column_to_bf16(const float *x, void *column, int64_t k)
{
    char *y = column;

    for (int64_t i = 0; i < k; i += VEC) {
        vec v =
            k - i >= VEC ? v_load_f32(x + i) : v_load_f32_first(k - i, x + i);

        v_store_half_first(k - i, y + 2 * i,
                           vreinterpret_u16_bf16(vcvt_bf16_f32(v)));
    }
}

/* n values, STEP or fewer; the others are 0. */
INLINE uint64x2_t
load_values(int64_t n, const char *p)
{
    uint16_t part[STEP] = { 0 };

    if (n >= STEP)
        return vreinterpretq_u64_u16(vld1q_u16(AS(uint16_t, p)));
    memcpy(part, p, (size_t)n * sizeof(*part));
    return vreinterpretq_u64_u16(vld1q_u16(part));
}

/* The first four values of two rows, and the last four. */
INLINE void
load_two(int64_t n, const char *a, const char *b, bfloat16x8_t *v)
{
    uint64x2_t x = load_values(n, a), y = load_values(n, b);

    v[0] = vreinterpretq_bf16_u64(vzip1q_u64(x, y));
    v[1] = vreinterpretq_bf16_u64(vzip2q_u64(x, y));
}

/* n values of R rows and C columns, where they begin, by twos of both. */
INLINE void
add_values(const int R, const int C, int64_t n, const char *const *rows,
           const char *const *cols, size_t at, vec *sum)
{
    bfloat16x8_t w[ROWS];

    UNROLL for (int r = 0; r < R; r += 2)
        load_two(n, rows[r] + at, rows[r + 1] + at, w + r);
    UNROLL for (int c = 0; c < C; c += 2)
    {
        bfloat16x8_t x[2];

        load_two(n, cols[c] + at, cols[c + 1] + at, x);
        UNROLL for (int half = 0; half < 2; half++)
            UNROLL for (int r = 0; r < R; r += 2)
        {
            vec *s = &sum[r / 2 * (C / 2) + c / 2];

            *s = vbfmmlaq_f32(*s, w[r + half], x[half]);
        }
    }
}

INLINE void
end_chains(const int n, vec *sum, vec *total)
{
    UNROLL for (int i = 0; i < n; i++)
    {
        total[i] += sum[i];
        sum[i] = v_splat(0);
    }
}

/* Elements of two rows and two columns, of those that there are. */
INLINE void
store_four(const struct cpu_product *p, int64_t r, int64_t c, vec v)
{
    float part[4];

    vst1q_f32(part, v);
    for (int i = 0; i < 4; i++)
        if (r + i / 2 < p->n_rows && c + i % 2 < p->n_cols)
            p->out[(size_t)(c + i % 2) * p->out_stride + (size_t)(r + i / 2)] =
                part[i];
}

/* R x C elements from row r and column c on; after the last row or column comes
 * the last one once more. */
INLINE void
tile(const int R, const int C, const struct cpu_product *p, int64_t r,
     int64_t c)
{
    const char *rows[ROWS], *cols[COLS];
    vec sum[ROWS * COLS / 4], total[ROWS * COLS / 4];
    int64_t i = 0;

    UNROLL for (int a = 0; a < R; a++)
    {
        int64_t row = r + a < p->n_rows ? r + a : p->n_rows - 1;

        rows[a] = p->rows + (size_t)row * p->row_stride;
    }
    UNROLL for (int b = 0; b < C; b++)
    {
        int64_t col = c + b < p->n_cols ? c + b : p->n_cols - 1;

        cols[b] = p->cols + (size_t)col * p->col_stride;
    }
    UNROLL for (int a = 0; a < R * C / 4; a++) sum[a] = total[a] = v_splat(0);
    for (; i + STEP <= p->k; i += STEP) {
        if (i && i % CHAIN == 0)
            end_chains(R * C / 4, sum, total);
        add_values(R, C, STEP, rows, cols, (size_t)i * 2, sum);
    }
    if (i < p->k)
        add_values(R, C, p->k - i, rows, cols, (size_t)i * 2, sum);
    end_chains(R * C / 4, sum, total);
    UNROLL for (int a = 0; a < R * C / 4; a++)
        store_four(p, r + a / (C / 2) * 2, c + a % (C / 2) * 2, total[a]);
}

INLINE void
columns(const int C, const struct cpu_product *p, int64_t c)
{
    int64_t r = 0;

    for (; r + ROWS <= p->n_rows; r += ROWS)
        tile(ROWS, C, p, r, c);
    for (; r < p->n_rows; r += 2)
        tile(2, C, p, r, c);
}

static void
multiply(const struct cpu_product *p)
{
    int64_t c = 0;

    for (; c + 2 < p->n_cols; c += COLS)
        columns(COLS, p, c);
    if (c < p->n_cols)
        columns(2, p, c);
}

void
cpu_fill_armbf16(struct cpu_kernels *k)
{
    k->mul_mat[GGML_TYPE_BF16] = (struct cpu_mul_mat){
        .multiply = multiply,
        .prepare = round_column_to_bf16,
        .column_size = bf16_column_size,
    };
}
