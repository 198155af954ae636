/* attention_small_batch.h - attention's few queries, and keys and values where
 * these lie, in the words of vector.h */
#ifndef CPU_GEMM_ATTENTION_SMALL_BATCH_H
#define CPU_GEMM_ATTENTION_SMALL_BATCH_H

#include "cpu/vector.h"

/* ---- products of rows ---------------------------------------------------- */

/* A tile: so many keys and queries, four of either, whose sums come together.
 */
#define FEW_KEYS    4
#define FEW_QUERIES 4

/* While row j of b is met. */
INLINE void
fetch_few(enum ggml_type type, const struct cpu_meeting *p, int64_t j)
{
    const char *row = p->ahead + (size_t)j * p->b_stride;
    size_t size = size_of(type, p->k);

    for (size_t at = 0; p->ahead && at < size; at += LINE)
        ask_for(row + at, 1, FETCH_NEAR);
}

/* Values [k, k + n) of N rows of b and of C rows of a; n is at most a step. */
INLINE void
add_few(enum ggml_type type, int N, int C, const struct cpu_meeting *p,
        const float *a, const char *b, int64_t k, int64_t n,
        vec sum[][FEW_QUERIES])
{
    a += k;
    b += size_of(type, k);
    UNROLL for (int r = 0; r < N; r++, b += p->b_stride)
        UNROLL for (int64_t i = 0; i < step_of(type); i += VEC)
    {
        vec w;

        if (i >= n)
            break;
        w = load_values(type, n - i, b, i);
        UNROLL for (int c = 0; c < C; c++) sum[r][c] = fused(
            w, load_floats(n - i, a + (size_t)c * p->a_stride + i), sum[r][c]);
    }
}

/* As lanes end in one_lane(). */
INLINE void
end_few(int N, int C, int64_t k, vec sum[][FEW_QUERIES],
        vec total[][FEW_QUERIES])
{
    const int64_t chain = chain_of(GGML_TYPE_F32);

    if (!chain || !k || k % chain)
        return;
    UNROLL for (int r = 0; r < N; r++) UNROLL for (int c = 0; c < C; c++)
    {
        total[r][c] += sum[r][c];
        sum[r][c] = splat(0);
    }
}

/* The lanes of the products of N rows of b with C rows of a. */
INLINE void
few_rows(enum ggml_type type, int N, int C, const struct cpu_meeting *p,
         const float *a, const char *b, vec sum[][FEW_QUERIES])
{
    vec total[FEW_KEYS][FEW_QUERIES];
    const int64_t step = step_of(type);
    int64_t k = 0;

    UNROLL for (int r = 0; r < N; r++) UNROLL for (int c = 0; c < C; c++)
        sum[r][c] = total[r][c] = splat(0);
    for (; k + step <= p->k; k += step) {
        end_few(N, C, k, sum, total);
        add_few(type, N, C, p, a, b, k, step, sum);
    }
    if (k < p->k) {
        end_few(N, C, k, sum, total);
        add_few(type, N, C, p, a, b, k, p->k - k, sum);
    }
    if (chain_of(GGML_TYPE_F32))
        UNROLL for (int r = 0; r < N; r++) UNROLL for (int c = 0; c < C; c++)
            sum[r][c] += total[r][c];
}

INLINE void
store_few(int R, int C, vec sum[][FEW_QUERIES], float *out, size_t stride)
{
#ifdef STORES_SIXTEEN
    if (R == 4 && C == 4) {
        store_sixteen(out, stride, (const vec(*)[4])sum);
        return;
    }
#endif
    if (R == 1 && C == 4) {
        float one[4];

        store_sums(one, sum[0]);
        UNROLL for (int c = 0; c < 4; c++) out[(size_t)c * stride] = one[c];
    }
    for (int c = 0; R == 4 && c < C; c++) {
        const vec key[] = { sum[0][c], sum[1][c], sum[2][c], sum[3][c] };

        store_sums(out + (size_t)c * stride, key);
    }
    for (int c = 0; R == 1 && C < 4 && c < C; c++)
        out[(size_t)c * stride] = add_lanes(sum[0][c]);
}

INLINE void
few_tile(enum ggml_type type, int R, int C, const struct cpu_meeting *p,
         int64_t i, int64_t j)
{
    const float *a = p->a + (size_t)i * p->a_stride;
    /* Rows side by side: sums that do not wait for each other. One is read from
     * its begin to its end, as memory sends it fastest. */
    const int N = C < FEW_QUERIES ? R : 1;
    vec sum[FEW_KEYS][FEW_QUERIES];

    ROLLED for (int r = 0; r < R; r += N)
    {
        for (int n = 0; i == 0 && n < N; n++)
            fetch_few(type, p, j + r + n);
        few_rows(type, N, C, p, a, p->b + (size_t)(j + r) * p->b_stride,
                 sum + r);
    }
    store_few(R, C, sum, p->c + (size_t)i * p->c_stride + j, p->c_stride);
}

INLINE void
few_queries(enum ggml_type type, int C, const struct cpu_meeting *p, int64_t i)
{
    bool room = C < FEW_QUERIES || REGISTERS >= 32; /* for four keys' sums */
    int64_t j = 0;

    for (; room && j + FEW_KEYS <= p->n; j += FEW_KEYS)
        few_tile(type, FEW_KEYS, C, p, i, j);
    for (; j < p->n; j++)
        few_tile(type, 1, C, p, i, j);
}

INLINE void
few(enum ggml_type type, const struct cpu_meeting *p)
{
    int64_t i = 0;

    for (; i + FEW_QUERIES <= p->m; i += FEW_QUERIES)
        few_queries(type, FEW_QUERIES, p, i);
    if (p->m - i == 3)
        few_queries(type, 3, p, i);
    else if (p->m - i == 2)
        few_queries(type, 2, p, i);
    else if (p->m - i == 1)
        few_queries(type, 1, p, i);
}

/* ---- sums of weighed rows ------------------------------------------------ */

#define WEIGH_ROWS    4
#define WEIGH_VECTORS 8

/* So many vectors of the sums of R rows stay in registers while rows of b
 * pass, from column k on. */
INLINE void
weigh_tile(enum ggml_type type, int R, int V, bool all,
           const struct cpu_meeting *p, int64_t i, int64_t k, int64_t n)
{
    const float *a = p->a + (size_t)i * p->a_stride;
    const char *b = p->b + size_of(type, k);
    const int64_t in = V * VEC < step_of(type) ? k % step_of(type) : 0;
    float *c = p->c + (size_t)i * p->c_stride + k;
    vec s[WEIGH_ROWS][WEIGH_VECTORS];

    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
        s[r][v] =
            load_floats(n - VEC * v, c + (size_t)r * p->c_stride + VEC * v);
    for (int64_t j = 0; j < p->n; j++, a++, b += p->b_stride) {
        vec w[WEIGH_ROWS];

        if (i == 0 && k == 0)
            fetch_few(type, p, j);
        if (!all && a[0] == 0)
            continue;
        UNROLL for (int r = 0; r < R; r++) w[r] =
            splat(a[(size_t)r * p->a_stride]);
        UNROLL for (int v = 0; v < V; v++)
        {
            vec x = load_values(type, n - VEC * v, b, in + VEC * v);

            UNROLL for (int r = 0; r < R; r++) s[r][v] =
                fused(w[r], x, s[r][v]);
        }
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
        store(n - VEC * v, c + (size_t)r * p->c_stride + VEC * v, s[r][v]);
}

/* R rows. `all`: none of their weights is 0; otherwise R is 1, and rows of b
 * whose weight is 0 are left out. */
INLINE void
weigh_few(enum ggml_type type, int R, bool all, const struct cpu_meeting *p,
          int64_t i)
{
    const int V = REGISTERS >= 32 ? (R > 2 ? 4 : 8) : R > 2 ? 2 : R > 1 ? 4 : 8;
    int64_t k = 0;

    for (; k + V * VEC <= p->k; k += V * VEC)
        weigh_tile(type, R, V, all, p, i, k, V * VEC);
    for (; V > 4 && k + 4 * VEC <= p->k; k += 4 * VEC)
        weigh_tile(type, R, 4, all, p, i, k, 4 * VEC);
    for (; k + VEC <= p->k; k += VEC)
        weigh_tile(type, R, 1, all, p, i, k, VEC);
    if (k < p->k)
        weigh_tile(type, R, 1, all, p, i, k, p->k - k);
}

/* Whether no weight of R rows from row i on is 0. */
INLINE bool
all_weigh(int R, const struct cpu_meeting *p, int64_t i)
{
    const float *a = p->a + (size_t)i * p->a_stride;
    vec_bits zero = { 0 };
    uint32_t any = 0;

    for (int r = 0; r < R; r++, a += p->a_stride)
        for (int64_t j = 0; j < p->n; j += VEC) {
            vec v =
                choose_first(p->n - j, load_floats(p->n - j, a + j), splat(1));

            zero |= (vec_bits)(v == splat(0));
        }
    for (int l = 0; l < VEC; l++)
        any |= zero[l];
    return any == 0;
}

INLINE void
weigh_group(enum ggml_type type, int R, const struct cpu_meeting *p, int64_t i)
{
    if (R > 1 && all_weigh(R, p, i))
        weigh_few(type, R, true, p, i);
    else
        for (int r = 0; r < R; r++)
            weigh_few(type, 1, false, p, i + r);
}

INLINE void
weigh(enum ggml_type type, const struct cpu_meeting *p)
{
    int64_t i = 0;

    for (; i + WEIGH_ROWS <= p->m; i += WEIGH_ROWS)
        weigh_group(type, WEIGH_ROWS, p, i);
    if (p->m - i == 3)
        weigh_group(type, 3, p, i);
    else if (p->m - i == 2)
        weigh_group(type, 2, p, i);
    else if (p->m - i == 1)
        weigh_group(type, 1, p, i);
}

#define FEW_OF_TYPE(name, type)                                                \
    static void few_##name(const struct cpu_meeting *p)                        \
    {                                                                          \
        few(type, p);                                                          \
    }                                                                          \
    static void weigh_##name(const struct cpu_meeting *p)                      \
    {                                                                          \
        weigh(type, p);                                                        \
    }
FEW_OF_TYPE(f32, GGML_TYPE_F32)
FEW_OF_TYPE(f16, GGML_TYPE_F16)
FEW_OF_TYPE(bf16, GGML_TYPE_BF16)
FEW_OF_TYPE(q8_0, GGML_TYPE_Q8_0)

static void
fill_few(struct cpu_kernels *k)
{
    k->multiply_few[GGML_TYPE_F32] = few_f32;
    k->multiply_few[GGML_TYPE_F16] = few_f16;
    k->multiply_few[GGML_TYPE_BF16] = few_bf16;
    k->multiply_few[GGML_TYPE_Q8_0] = few_q8_0;
    k->weigh_rows[GGML_TYPE_F32] = weigh_f32;
    k->weigh_rows[GGML_TYPE_F16] = weigh_f16;
    k->weigh_rows[GGML_TYPE_BF16] = weigh_bf16;
    k->weigh_rows[GGML_TYPE_Q8_0] = weigh_q8_0;
}

#endif
