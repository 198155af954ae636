/* attention_small_batch.h - attention of few queries, as in decoding: Q K^T and
 * P V with keys and values where they lie in the KV cache */
#ifndef CPU_GEMM_ATTENTION_SMALL_BATCH_H
#define CPU_GEMM_ATTENTION_SMALL_BATCH_H

#include "cpu/vector.h"

/* ---- products of rows ---------------------------------------------------- */

/* A tile: keys and queries, four of either, whose sums come together. */
#define TILE_KEYS    4
#define TILE_QUERIES 4

/* The row that is prefetched while row j of b is multiplied. */
INLINE void
prefetch_key(enum ggml_type type, const struct cpu_small_batch *p, int64_t j)
{
    const char *row = p->prefetch + (size_t)j * p->b_stride;
    size_t size = cpu_values_size(type, p->k);

    for (size_t at = 0; p->prefetch && at < size; at += LINE)
        cpu_prefetch_line(row + at, 1, PREFETCH_TO_L1);
}

/* Values [k, k + n) of N rows of b and of C rows of a; n is at most a step. */
INLINE void
qk_add(enum ggml_type type, int N, int C, const struct cpu_small_batch *p,
       const float *a, const char *b, int64_t k, int64_t n,
       vec sum[][TILE_QUERIES])
{
    a += k;
    b += cpu_values_size(type, k);
    UNROLL for (int r = 0; r < N; r++, b += p->b_stride)
        UNROLL for (int64_t i = 0; i < cpu_values_step(type); i += VEC)
    {
        vec w;

        if (i >= n)
            break;
        w = v_load_values(type, n - i, b, i);
        UNROLL for (int c = 0; c < C; c++) sum[r][c] =
            v_fused(w, v_load_floats(n - i, a + (size_t)c * p->a_stride + i),
                    sum[r][c]);
    }
}

/* As lanes end in one_lane(). */
INLINE void
qk_end_chain(int N, int C, int64_t k, vec sum[][TILE_QUERIES],
             vec total[][TILE_QUERIES])
{
    const int64_t chain = cpu_chain_values(GGML_TYPE_F32);

    if (!chain || !k || k % chain)
        return;
    UNROLL for (int r = 0; r < N; r++) UNROLL for (int c = 0; c < C; c++)
    {
        total[r][c] += sum[r][c];
        sum[r][c] = v_splat(0);
    }
}

/* The lanes of the products of N rows of b with C rows of a. */
INLINE void
qk_rows(enum ggml_type type, int N, int C, const struct cpu_small_batch *p,
        const float *a, const char *b, vec sum[][TILE_QUERIES])
{
    vec total[TILE_KEYS][TILE_QUERIES];
    const int64_t step = cpu_values_step(type);
    int64_t k = 0;

    UNROLL for (int r = 0; r < N; r++) UNROLL for (int c = 0; c < C; c++)
        sum[r][c] = total[r][c] = v_splat(0);
    for (; k + step <= p->k; k += step) {
        qk_end_chain(N, C, k, sum, total);
        qk_add(type, N, C, p, a, b, k, step, sum);
    }
    if (k < p->k) {
        qk_end_chain(N, C, k, sum, total);
        qk_add(type, N, C, p, a, b, k, p->k - k, sum);
    }
    if (cpu_chain_values(GGML_TYPE_F32))
        UNROLL for (int r = 0; r < N; r++) UNROLL for (int c = 0; c < C; c++)
            sum[r][c] += total[r][c];
}

INLINE void
qk_store(int R, int C, vec sum[][TILE_QUERIES], float *out, size_t stride)
{
#ifdef HAS_STORE_SUMS_4X4
    if (R == 4 && C == 4) {
        v_store_sums_4x4(out, stride, (const vec(*)[4])sum);
        return;
    }
#endif
    if (R == 1 && C == 4) {
        float one[4];

        v_store_sums(one, sum[0]);
        UNROLL for (int c = 0; c < 4; c++) out[(size_t)c * stride] = one[c];
    }
    for (int c = 0; R == 4 && c < C; c++) {
        const vec key[] = { sum[0][c], sum[1][c], sum[2][c], sum[3][c] };

        v_store_sums(out + (size_t)c * stride, key);
    }
    for (int c = 0; R == 1 && C < 4 && c < C; c++)
        out[(size_t)c * stride] = v_add_lanes(sum[0][c]);
}

INLINE void
qk_tile(enum ggml_type type, int R, int C, const struct cpu_small_batch *p,
        int64_t i, int64_t j)
{
    const float *a = p->a + (size_t)i * p->a_stride;
    /* Rows side by side: sums that do not wait for each other. One is read from
     * its begin to its end, as memory sends it fastest. */
    const int N = C < TILE_QUERIES ? R : 1;
    vec sum[TILE_KEYS][TILE_QUERIES];

    ROLLED for (int r = 0; r < R; r += N)
    {
        for (int n = 0; i == 0 && n < N; n++)
            prefetch_key(type, p, j + r + n);
        qk_rows(type, N, C, p, a, p->b + (size_t)(j + r) * p->b_stride,
                sum + r);
    }
    qk_store(R, C, sum, p->c + (size_t)i * p->c_stride + j, p->c_stride);
}

INLINE void
qk_queries(enum ggml_type type, int C, const struct cpu_small_batch *p,
           int64_t i)
{
    bool four_keys =
        C < TILE_QUERIES || REGISTERS >= 32; /* for four keys' sums */
    int64_t j = 0;

    for (; four_keys && j + TILE_KEYS <= p->n; j += TILE_KEYS)
        qk_tile(type, TILE_KEYS, C, p, i, j);
    for (; j < p->n; j++)
        qk_tile(type, 1, C, p, i, j);
}

INLINE void
qk_any_type(enum ggml_type type, const struct cpu_small_batch *p)
{
    int64_t i = 0;

    for (; i + TILE_QUERIES <= p->m; i += TILE_QUERIES)
        qk_queries(type, TILE_QUERIES, p, i);
    if (p->m - i == 3)
        qk_queries(type, 3, p, i);
    else if (p->m - i == 2)
        qk_queries(type, 2, p, i);
    else if (p->m - i == 1)
        qk_queries(type, 1, p, i);
}

/* ---- weighted sums of rows ---------------------------------------------- */

#define PV_ROWS    4
#define PV_VECTORS 8

/* V vectors of the sums of R rows stay in registers while rows of b pass, from
 * column k on. */
INLINE void
pv_tile(enum ggml_type type, int R, int V, bool all,
        const struct cpu_small_batch *p, int64_t i, int64_t k, int64_t n)
{
    const float *a = p->a + (size_t)i * p->a_stride;
    const char *b = p->b + cpu_values_size(type, k);
    const int64_t in =
        V * VEC < cpu_values_step(type) ? k % cpu_values_step(type) : 0;
    float *c = p->c + (size_t)i * p->c_stride + k;
    vec s[PV_ROWS][PV_VECTORS];

    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
        s[r][v] =
            v_load_floats(n - VEC * v, c + (size_t)r * p->c_stride + VEC * v);
    for (int64_t j = 0; j < p->n; j++, a++, b += p->b_stride) {
        vec w[PV_ROWS];

        if (i == 0 && k == 0)
            prefetch_key(type, p, j);
        if (!all && a[0] == 0)
            continue;
        UNROLL for (int r = 0; r < R; r++) w[r] =
            v_splat(a[(size_t)r * p->a_stride]);
        UNROLL for (int v = 0; v < V; v++)
        {
            vec x = v_load_values(type, n - VEC * v, b, in + VEC * v);

            UNROLL for (int r = 0; r < R; r++) s[r][v] =
                v_fused(w[r], x, s[r][v]);
        }
    }
    UNROLL for (int r = 0; r < R; r++) UNROLL for (int v = 0; v < V; v++)
        v_store(n - VEC * v, c + (size_t)r * p->c_stride + VEC * v, s[r][v]);
}

/* R rows. `all`: none of their weights is 0; otherwise R is 1, and rows of b
 * whose weight is 0 are left out. */
INLINE void
pv_rows(enum ggml_type type, int R, bool all, const struct cpu_small_batch *p,
        int64_t i)
{
    const int V = REGISTERS >= 32 ? (R > 2 ? 4 : 8) : R > 2 ? 2 : R > 1 ? 4 : 8;
    int64_t k = 0;

    for (; k + V * VEC <= p->k; k += V * VEC)
        pv_tile(type, R, V, all, p, i, k, V * VEC);
    for (; V > 4 && k + 4 * VEC <= p->k; k += 4 * VEC)
        pv_tile(type, R, 4, all, p, i, k, 4 * VEC);
    for (; k + VEC <= p->k; k += VEC)
        pv_tile(type, R, 1, all, p, i, k, VEC);
    if (k < p->k)
        pv_tile(type, R, 1, all, p, i, k, p->k - k);
}

/* Whether no weight of R rows from row i on is 0. */
INLINE bool
pv_all_nonzero(int R, const struct cpu_small_batch *p, int64_t i)
{
    const float *a = p->a + (size_t)i * p->a_stride;
    vec_bits zero = { 0 };
    uint32_t any = 0;

    for (int r = 0; r < R; r++, a += p->a_stride)
        for (int64_t j = 0; j < p->n; j += VEC) {
            vec v = v_choose_first(p->n - j, v_load_floats(p->n - j, a + j),
                                   v_splat(1));

            zero |= (vec_bits)(v == v_splat(0));
        }
    for (int l = 0; l < VEC; l++)
        any |= zero[l];
    return any == 0;
}

INLINE void
pv_group(enum ggml_type type, int R, const struct cpu_small_batch *p, int64_t i)
{
    if (R > 1 && pv_all_nonzero(R, p, i))
        pv_rows(type, R, true, p, i);
    else
        for (int r = 0; r < R; r++)
            pv_rows(type, 1, false, p, i + r);
}

INLINE void
pv_any_type(enum ggml_type type, const struct cpu_small_batch *p)
{
    int64_t i = 0;

    for (; i + PV_ROWS <= p->m; i += PV_ROWS)
        pv_group(type, PV_ROWS, p, i);
    if (p->m - i == 3)
        pv_group(type, 3, p, i);
    else if (p->m - i == 2)
        pv_group(type, 2, p, i);
    else if (p->m - i == 1)
        pv_group(type, 1, p, i);
}

#define SMALL_BATCH_OF_TYPE(name, type)                                        \
    static void qk_##name(const struct cpu_small_batch *p)                     \
    {                                                                          \
        qk_any_type(type, p);                                                  \
    }                                                                          \
    static void pv_##name(const struct cpu_small_batch *p)                     \
    {                                                                          \
        pv_any_type(type, p);                                                  \
    }
SMALL_BATCH_OF_TYPE(f32, GGML_TYPE_F32)
SMALL_BATCH_OF_TYPE(f16, GGML_TYPE_F16)
SMALL_BATCH_OF_TYPE(bf16, GGML_TYPE_BF16)
SMALL_BATCH_OF_TYPE(q8_0, GGML_TYPE_Q8_0)
SMALL_BATCH_OF_TYPE(q5_0, GGML_TYPE_Q5_0)
SMALL_BATCH_OF_TYPE(q4_0, GGML_TYPE_Q4_0)

static void
cpu_fill_small_batch(struct cpu_kernels *k)
{
    k->dot_rows[GGML_TYPE_F32] = qk_f32;
    k->dot_rows[GGML_TYPE_F16] = qk_f16;
    k->dot_rows[GGML_TYPE_BF16] = qk_bf16;
    k->dot_rows[GGML_TYPE_Q8_0] = qk_q8_0;
    k->dot_rows[GGML_TYPE_Q5_0] = qk_q5_0;
    k->dot_rows[GGML_TYPE_Q4_0] = qk_q4_0;
    k->add_weighted_rows[GGML_TYPE_F32] = pv_f32;
    k->add_weighted_rows[GGML_TYPE_F16] = pv_f16;
    k->add_weighted_rows[GGML_TYPE_BF16] = pv_bf16;
    k->add_weighted_rows[GGML_TYPE_Q8_0] = pv_q8_0;
    k->add_weighted_rows[GGML_TYPE_Q5_0] = pv_q5_0;
    k->add_weighted_rows[GGML_TYPE_Q4_0] = pv_q4_0;
}

#endif
