/* rows_avx2.c - rows of floats, with AVX2, FMA and F16C */
#include <math.h>

#include "cpu/x86/vector_avx2.h"

/* A row function: `expression` of the lanes v (and u), masked at the end. */
#define MAP(name, expression)                                                  \
    static void name(int64_t n, float *y, const float *x)                      \
    {                                                                          \
        int64_t i = 0;                                                         \
        for (; i + 8 <= n; i += 8) {                                           \
            __m256 v = _mm256_loadu_ps(x + i);                                 \
            _mm256_storeu_ps(y + i, expression);                               \
        }                                                                      \
        if (i < n) {                                                           \
            __m256i m = first_lanes(n - i);                                    \
            __m256 v = _mm256_maskload_ps(x + i, m);                           \
            _mm256_maskstore_ps(y + i, m, expression);                         \
        }                                                                      \
    }
#define ZIP(name, expression)                                                  \
    static void name(int64_t n, float *y, const float *a, const float *b)      \
    {                                                                          \
        int64_t i = 0;                                                         \
        for (; i + 8 <= n; i += 8) {                                           \
            __m256 v = _mm256_loadu_ps(a + i), u = _mm256_loadu_ps(b + i);     \
            _mm256_storeu_ps(y + i, expression);                               \
        }                                                                      \
        if (i < n) {                                                           \
            __m256i m = first_lanes(n - i);                                    \
            __m256 v = _mm256_maskload_ps(a + i, m);                           \
            __m256 u = _mm256_maskload_ps(b + i, m);                           \
            _mm256_maskstore_ps(y + i, m, expression);                         \
        }                                                                      \
    }

/* v / (1 + exp(-t)) */
INLINE __m256
over_one_plus_exp(__m256 v, __m256 minus_t)
{
    return _mm256_div_ps(v, _mm256_add_ps(_mm256_set1_ps(1), exp_ps(minus_t)));
}

INLINE __m256
silu_ps(__m256 v)
{
    return over_one_plus_exp(v, _mm256_sub_ps(_mm256_setzero_ps(), v));
}

/* -2 * sqrt(2 / pi) * v * (1 + 0.044715 v^2): see gelu_one() in C. */
INLINE __m256
gelu_ps(__m256 v)
{
    __m256 t = _mm256_mul_ps(v, _mm256_set1_ps(-2 * 0.797884560802865f));
    __m256 cubic = _mm256_fmadd_ps(
        _mm256_mul_ps(v, v), _mm256_set1_ps(0.044715f), _mm256_set1_ps(1));

    return over_one_plus_exp(v, _mm256_mul_ps(t, cubic));
}

ZIP(add, _mm256_add_ps(v, u))
ZIP(sub, _mm256_sub_ps(v, u))
ZIP(mul, _mm256_mul_ps(v, u))
ZIP(divide, _mm256_div_ps(v, u))
ZIP(swiglu, _mm256_mul_ps(silu_ps(v), u))
ZIP(geglu, _mm256_mul_ps(gelu_ps(v), u))
MAP(exp_row, exp_ps(v))
MAP(silu, silu_ps(v))
MAP(gelu, gelu_ps(v))
MAP(gelu_quick, over_one_plus_exp(v, _mm256_mul_ps(v, _mm256_set1_ps(-1.702f))))
MAP(sigmoid,
    over_one_plus_exp(_mm256_set1_ps(1), _mm256_sub_ps(_mm256_setzero_ps(), v)))

static void
scale(int64_t n, float *y, const float *x, float s, float b)
{
    __m256 vs = _mm256_set1_ps(s), vb = _mm256_set1_ps(b);

    for (int64_t i = 0; i < n; i += 8) {
        __m256i m = first_lanes(n - i);

        _mm256_maskstore_ps(
            y + i, m, _mm256_fmadd_ps(_mm256_maskload_ps(x + i, m), vs, vb));
    }
}

/* Four vectors of partial sums, to hide latency. */
INLINE float
sum_four(const __m256 *s)
{
    return reduce_add(
        _mm256_add_ps(_mm256_add_ps(s[0], s[1]), _mm256_add_ps(s[2], s[3])));
}

static float
sum(int64_t n, const float *x)
{
    __m256 s[4] = { _mm256_setzero_ps(), _mm256_setzero_ps(),
                    _mm256_setzero_ps(), _mm256_setzero_ps() };
    int64_t i = 0;

    for (; i + 32 <= n; i += 32)
        UNROLL for (int j = 0; j < 4; j++) s[j] =
            _mm256_add_ps(s[j], _mm256_loadu_ps(x + i + 8 * j));
    for (; i < n; i += 8)
        s[0] =
            _mm256_add_ps(s[0], _mm256_maskload_ps(x + i, first_lanes(n - i)));
    return sum_four(s);
}

static float
sum_squares(int64_t n, const float *x, float mean)
{
    __m256 s[4] = { _mm256_setzero_ps(), _mm256_setzero_ps(),
                    _mm256_setzero_ps(), _mm256_setzero_ps() };
    __m256 vm = _mm256_set1_ps(mean);
    int64_t i = 0;

    for (; i + 32 <= n; i += 32)
        UNROLL for (int j = 0; j < 4; j++)
        {
            __m256 v = _mm256_sub_ps(_mm256_loadu_ps(x + i + 8 * j), vm);

            s[j] = _mm256_fmadd_ps(v, v, s[j]);
        }
    for (; i < n; i += 8) {
        __m256i m = first_lanes(n - i);
        __m256 v = _mm256_sub_ps(_mm256_maskload_ps(x + i, m), vm);

        v = _mm256_and_ps(v, _mm256_castsi256_ps(m));
        s[0] = _mm256_fmadd_ps(v, v, s[0]);
    }
    return sum_four(s);
}

static float
max(int64_t n, const float *x)
{
    __m256 v = _mm256_set1_ps(-INFINITY);
    __m128 q;

    for (int64_t i = 0; i < n; i += 8) {
        __m256i m = first_lanes(n - i);
        __m256 u = _mm256_max_ps(_mm256_maskload_ps(x + i, m), v);

        v = _mm256_blendv_ps(v, u, _mm256_castsi256_ps(m));
    }
    q = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    q = _mm_max_ss(q, _mm_movehdup_ps(q));
    return _mm_cvtss_f32(q);
}

static float
exp_sum(int64_t n, float *y, const float *x, float largest)
{
    __m256 s = _mm256_setzero_ps(), vm = _mm256_set1_ps(largest);

    for (int64_t i = 0; i < n; i += 8) {
        __m256i m = first_lanes(n - i);
        __m256 v = exp_ps(_mm256_sub_ps(_mm256_maskload_ps(x + i, m), vm));

        _mm256_maskstore_ps(y + i, m, v);
        s = _mm256_add_ps(s, _mm256_and_ps(v, _mm256_castsi256_ps(m)));
    }
    return reduce_add(s);
}

static void
rotate(int64_t n, float *y0, float *y1, const float *x0, const float *x1,
       const float *c, const float *s)
{
    for (int64_t i = 0; i < n; i += 8) {
        __m256i m = first_lanes(n - i);
        __m256 a = _mm256_maskload_ps(x0 + i, m);
        __m256 b = _mm256_maskload_ps(x1 + i, m);
        __m256 vc = _mm256_maskload_ps(c + i, m);
        __m256 vs = _mm256_maskload_ps(s + i, m);

        _mm256_maskstore_ps(y0 + i, m,
                            _mm256_fmsub_ps(a, vc, _mm256_mul_ps(b, vs)));
        _mm256_maskstore_ps(y1 + i, m,
                            _mm256_fmadd_ps(a, vs, _mm256_mul_ps(b, vc)));
    }
}

static void
f16_to_float(const void *x, float *y, int64_t n)
{
    const uint16_t *h = x;

    for (int64_t i = 0; i < n; i += 8)
        _mm256_maskstore_ps(y + i, first_lanes(n - i),
                            load_f16_first(n - i, h + i));
}

static void
f16_from_float(const float *x, void *y, int64_t n)
{
    uint16_t *h = y;

    for (int64_t i = 0; i < n; i += 8) {
        __m256 v = _mm256_maskload_ps(x + i, first_lanes(n - i));

        store_first(
            n - i, h + i,
            _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
}

static void
bf16_to_float(const void *x, float *y, int64_t n)
{
    const uint16_t *h = x;

    for (int64_t i = 0; i < n; i += 8)
        _mm256_maskstore_ps(y + i, first_lanes(n - i),
                            load_bf16_first(n - i, h + i));
}

/* Rounds as integers do; a NaN keeps its upper bits and becomes quiet. */
static void
bf16_from_float(const float *x, void *y, int64_t n)
{
    uint16_t *h = y;

    for (int64_t i = 0; i < n; i += 8) {
        __m256 v = _mm256_maskload_ps(x + i, first_lanes(n - i));
        __m256i u = _mm256_castps_si256(v), high = _mm256_srli_epi32(u, 16);
        __m256i odd = _mm256_and_si256(high, _mm256_set1_epi32(1));
        __m256i r = _mm256_srli_epi32(
            _mm256_add_epi32(u,
                             _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff))),
            16);
        __m256i quiet = _mm256_or_si256(high, _mm256_set1_epi32(64));
        __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(v, v, _CMP_UNORD_Q));

        r = _mm256_blendv_epi8(r, quiet, nan);
        store_first(n - i, h + i,
                    _mm_packus_epi32(_mm256_castsi256_si128(r),
                                     _mm256_extracti128_si256(r, 1)));
    }
}

/* `vectors` times eight columns of the sums stay in registers while the rows
 * pass. A row without weight is not looked at: it may hold anything. */
#define WEIGH(type, size)                                                      \
    INLINE void weigh_##type##_tile(const int vectors, float *y,               \
                                    const char *v, size_t stride,              \
                                    const float *p, int64_t n_rows)            \
    {                                                                          \
        __m256 s[8];                                                           \
        UNROLL for (int j = 0; j < vectors; j++) s[j] =                        \
            _mm256_loadu_ps(y + 8 * j);                                        \
        for (int64_t r = 0; r < n_rows; r++, v += stride) {                    \
            __m256 w = _mm256_set1_ps(p[r]);                                   \
            if (p[r] == 0)                                                     \
                continue;                                                      \
            UNROLL for (int j = 0; j < vectors; j++) s[j] =                    \
                _mm256_fmadd_ps(w, load_##type(v + 8 * (size)*j), s[j]);       \
        }                                                                      \
        UNROLL for (int j = 0; j < vectors; j++)                               \
            _mm256_storeu_ps(y + 8 * j, s[j]);                                 \
    }                                                                          \
    static void weigh_##type(int64_t n, float *y, const char *v,               \
                             size_t stride, const float *p, int64_t n_rows)    \
    {                                                                          \
        int64_t i = 0;                                                         \
        for (; i + 64 <= n; i += 64)                                           \
            weigh_##type##_tile(8, y + i, v + i * (size), stride, p, n_rows);  \
        for (; i + 8 <= n; i += 8)                                             \
            weigh_##type##_tile(1, y + i, v + i * (size), stride, p, n_rows);  \
        if (i < n) {                                                           \
            __m256i m = first_lanes(n - i);                                    \
            __m256 s = _mm256_maskload_ps(y + i, m);                           \
            for (int64_t r = 0; r < n_rows; r++)                               \
                if (p[r] != 0)                                                 \
                    s = _mm256_fmadd_ps(                                       \
                        _mm256_set1_ps(p[r]),                                  \
                        load_##type##_first(n - i, v + (size_t)r * stride +    \
                                                       i * (size)),            \
                        s);                                                    \
            _mm256_maskstore_ps(y + i, m, s);                                  \
        }                                                                      \
    }
WEIGH(f32, 4)
WEIGH(f16, 2)
WEIGH(bf16, 2)

void
cpu_fill_avx2(struct cpu_kernels *k)
{
    k->add = add;
    k->sub = sub;
    k->mul = mul;
    k->div = divide;
    k->scale = scale;
    k->sum = sum;
    k->sum_squares = sum_squares;
    k->max = max;
    k->exp_sum = exp_sum;
    k->exp = exp_row;
    k->silu = silu;
    k->gelu = gelu;
    k->gelu_quick = gelu_quick;
    k->sigmoid = sigmoid;
    k->swiglu = swiglu;
    k->geglu = geglu;
    k->rotate = rotate;
    k->to_float[GGML_TYPE_F16] = f16_to_float;
    k->from_float[GGML_TYPE_F16] = f16_from_float;
    k->to_float[GGML_TYPE_BF16] = bf16_to_float;
    k->from_float[GGML_TYPE_BF16] = bf16_from_float;
    k->weigh_rows[GGML_TYPE_F32] = weigh_f32;
    k->weigh_rows[GGML_TYPE_F16] = weigh_f16;
    k->weigh_rows[GGML_TYPE_BF16] = weigh_bf16;
    cpu_avx2_float_products(k);
    cpu_avx2_block_products(k);
}
