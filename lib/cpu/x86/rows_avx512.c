/* rows_avx512.c - rows of floats, with AVX-512 */
#include <math.h>

#include "cpu/x86/vector_avx512.h"

/* A row function: `expression` of the lanes v (and u), masked at the end. */
#define MAP(name, expression)                                                  \
    static void name(int64_t n, float *y, const float *x)                      \
    {                                                                          \
        int64_t i = 0;                                                         \
        for (; i + 16 <= n; i += 16) {                                         \
            __m512 v = _mm512_loadu_ps(x + i);                                 \
            _mm512_storeu_ps(y + i, expression);                               \
        }                                                                      \
        if (i < n) {                                                           \
            __mmask16 m = first_lanes(n - i);                                  \
            __m512 v = _mm512_maskz_loadu_ps(m, x + i);                        \
            _mm512_mask_storeu_ps(y + i, m, expression);                       \
        }                                                                      \
    }
#define ZIP(name, expression)                                                  \
    static void name(int64_t n, float *y, const float *a, const float *b)      \
    {                                                                          \
        int64_t i = 0;                                                         \
        for (; i + 16 <= n; i += 16) {                                         \
            __m512 v = _mm512_loadu_ps(a + i), u = _mm512_loadu_ps(b + i);     \
            _mm512_storeu_ps(y + i, expression);                               \
        }                                                                      \
        if (i < n) {                                                           \
            __mmask16 m = first_lanes(n - i);                                  \
            __m512 v = _mm512_maskz_loadu_ps(m, a + i);                        \
            __m512 u = _mm512_maskz_loadu_ps(m, b + i);                        \
            _mm512_mask_storeu_ps(y + i, m, expression);                       \
        }                                                                      \
    }

/* v / (1 + exp(-t)) */
INLINE __m512
over_one_plus_exp(__m512 v, __m512 minus_t)
{
    return _mm512_div_ps(v, _mm512_add_ps(_mm512_set1_ps(1), exp_ps(minus_t)));
}

INLINE __m512
silu_ps(__m512 v)
{
    return over_one_plus_exp(v, _mm512_sub_ps(_mm512_setzero_ps(), v));
}

/* -2 * sqrt(2 / pi) * v * (1 + 0.044715 v^2): see gelu_one() in C. */
INLINE __m512
gelu_ps(__m512 v)
{
    __m512 t = _mm512_mul_ps(v, _mm512_set1_ps(-2 * 0.797884560802865f));
    __m512 cubic = _mm512_fmadd_ps(
        _mm512_mul_ps(v, v), _mm512_set1_ps(0.044715f), _mm512_set1_ps(1));

    return over_one_plus_exp(v, _mm512_mul_ps(t, cubic));
}

ZIP(add, _mm512_add_ps(v, u))
ZIP(sub, _mm512_sub_ps(v, u))
ZIP(mul, _mm512_mul_ps(v, u))
ZIP(divide, _mm512_div_ps(v, u))
ZIP(swiglu, _mm512_mul_ps(silu_ps(v), u))
ZIP(geglu, _mm512_mul_ps(gelu_ps(v), u))
MAP(exp_row, exp_ps(v))
MAP(silu, silu_ps(v))
MAP(gelu, gelu_ps(v))
MAP(gelu_quick, over_one_plus_exp(v, _mm512_mul_ps(v, _mm512_set1_ps(-1.702f))))
MAP(sigmoid,
    over_one_plus_exp(_mm512_set1_ps(1), _mm512_sub_ps(_mm512_setzero_ps(), v)))

static void
scale(int64_t n, float *y, const float *x, float s, float b)
{
    __m512 vs = _mm512_set1_ps(s), vb = _mm512_set1_ps(b);

    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);

        _mm512_mask_storeu_ps(
            y + i, m, _mm512_fmadd_ps(_mm512_maskz_loadu_ps(m, x + i), vs, vb));
    }
}

/* Four vectors of partial sums, to hide latency. */
INLINE float
sum_four(const __m512 *s)
{
    return reduce_add(
        _mm512_add_ps(_mm512_add_ps(s[0], s[1]), _mm512_add_ps(s[2], s[3])));
}

static float
sum(int64_t n, const float *x)
{
    __m512 s[4] = { _mm512_setzero_ps(), _mm512_setzero_ps(),
                    _mm512_setzero_ps(), _mm512_setzero_ps() };
    int64_t i = 0;

    for (; i + 64 <= n; i += 64)
        UNROLL for (int j = 0; j < 4; j++) s[j] =
            _mm512_add_ps(s[j], _mm512_loadu_ps(x + i + 16 * j));
    for (; i < n; i += 16)
        s[0] = _mm512_add_ps(s[0],
                             _mm512_maskz_loadu_ps(first_lanes(n - i), x + i));
    return sum_four(s);
}

static float
sum_squares(int64_t n, const float *x, float mean)
{
    __m512 s[4] = { _mm512_setzero_ps(), _mm512_setzero_ps(),
                    _mm512_setzero_ps(), _mm512_setzero_ps() };
    __m512 vm = _mm512_set1_ps(mean);
    int64_t i = 0;

    for (; i + 64 <= n; i += 64)
        UNROLL for (int j = 0; j < 4; j++)
        {
            __m512 v = _mm512_sub_ps(_mm512_loadu_ps(x + i + 16 * j), vm);

            s[j] = _mm512_fmadd_ps(v, v, s[j]);
        }
    for (; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);
        __m512 v = _mm512_maskz_sub_ps(m, _mm512_maskz_loadu_ps(m, x + i), vm);

        s[0] = _mm512_fmadd_ps(v, v, s[0]);
    }
    return sum_four(s);
}

static float
max(int64_t n, const float *x)
{
    __m512 v = _mm512_set1_ps(-INFINITY);

    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);

        v = _mm512_mask_max_ps(v, m, _mm512_maskz_loadu_ps(m, x + i), v);
    }
    return _mm512_reduce_max_ps(v);
}

static float
exp_sum(int64_t n, float *y, const float *x, float largest)
{
    __m512 s = _mm512_setzero_ps(), vm = _mm512_set1_ps(largest);

    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);
        __m512 v = exp_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(m, x + i), vm));

        _mm512_mask_storeu_ps(y + i, m, v);
        s = _mm512_mask_add_ps(s, m, s, v);
    }
    return reduce_add(s);
}

static void
rotate(int64_t n, float *y0, float *y1, const float *x0, const float *x1,
       const float *c, const float *s)
{
    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);
        __m512 a = _mm512_maskz_loadu_ps(m, x0 + i);
        __m512 b = _mm512_maskz_loadu_ps(m, x1 + i);
        __m512 vc = _mm512_maskz_loadu_ps(m, c + i);
        __m512 vs = _mm512_maskz_loadu_ps(m, s + i);

        _mm512_mask_storeu_ps(y0 + i, m,
                              _mm512_fmsub_ps(a, vc, _mm512_mul_ps(b, vs)));
        _mm512_mask_storeu_ps(y1 + i, m,
                              _mm512_fmadd_ps(a, vs, _mm512_mul_ps(b, vc)));
    }
}

static void
f16_to_float(const void *x, float *y, int64_t n)
{
    const uint16_t *h = x;

    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);

        _mm512_mask_storeu_ps(y + i, m, load_f16_mask(m, h + i));
    }
}

static void
f16_from_float(const float *x, void *y, int64_t n)
{
    uint16_t *h = y;

    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);

        _mm256_mask_storeu_epi16(
            h + i, m,
            _mm512_cvtps_ph(_mm512_maskz_loadu_ps(m, x + i),
                            _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
    }
}

static void
bf16_to_float(const void *x, float *y, int64_t n)
{
    const uint16_t *h = x;

    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);

        _mm512_mask_storeu_ps(y + i, m, load_bf16_mask(m, h + i));
    }
}

/* Rounds as integers do; a NaN keeps its upper bits and becomes quiet. */
static void
bf16_from_float(const float *x, void *y, int64_t n)
{
    uint16_t *h = y;

    for (int64_t i = 0; i < n; i += 16) {
        __mmask16 m = first_lanes(n - i);
        __m512 v = _mm512_maskz_loadu_ps(m, x + i);
        __m512i u = _mm512_castps_si512(v), high = _mm512_srli_epi32(u, 16);
        __m512i odd = _mm512_and_si512(high, _mm512_set1_epi32(1));
        __m512i r = _mm512_srli_epi32(
            _mm512_add_epi32(u,
                             _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff))),
            16);

        r = _mm512_mask_or_epi32(r, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),
                                 high, _mm512_set1_epi32(64));
        _mm256_mask_storeu_epi16(h + i, m, _mm512_cvtepi32_epi16(r));
    }
}

/* `vectors` times sixteen columns of the sums stay in registers while the
 * rows pass. A row without weight is not looked at: it may hold anything. */
#define WEIGH(type, size)                                                      \
    INLINE void weigh_##type##_tile(const int vectors, __mmask16 last,         \
                                    float *y, const char *v, size_t stride,    \
                                    const float *p, int64_t n_rows)            \
    {                                                                          \
        __m512 s[8];                                                           \
        UNROLL for (int j = 0; j < vectors; j++) s[j] = _mm512_maskz_loadu_ps( \
            j == vectors - 1 ? last : 0xffff, y + 16 * j);                     \
        for (int64_t r = 0; r < n_rows; r++, v += stride) {                    \
            __m512 w = _mm512_set1_ps(p[r]);                                   \
            if (p[r] == 0)                                                     \
                continue;                                                      \
            UNROLL for (int j = 0; j < vectors; j++) s[j] = _mm512_fmadd_ps(   \
                w,                                                             \
                load_##type##_mask(j == vectors - 1 ? last : 0xffff,           \
                                   v + 16 * (size)*j),                         \
                s[j]);                                                         \
        }                                                                      \
        UNROLL for (int j = 0; j < vectors; j++) _mm512_mask_storeu_ps(        \
            y + 16 * j, j == vectors - 1 ? last : 0xffff, s[j]);               \
    }                                                                          \
    static void weigh_##type(int64_t n, float *y, const char *v,               \
                             size_t stride, const float *p, int64_t n_rows)    \
    {                                                                          \
        int64_t i = 0;                                                         \
        for (; i + 128 <= n; i += 128)                                         \
            weigh_##type##_tile(8, 0xffff, y + i, v + i * (size), stride, p,   \
                                n_rows);                                       \
        for (; i + 64 <= n; i += 64)                                           \
            weigh_##type##_tile(4, 0xffff, y + i, v + i * (size), stride, p,   \
                                n_rows);                                       \
        for (; i < n; i += 16)                                                 \
            weigh_##type##_tile(1, first_lanes(n - i), y + i, v + i * (size),  \
                                stride, p, n_rows);                            \
    }
WEIGH(f32, 4)
WEIGH(f16, 2)
WEIGH(bf16, 2)

void
cpu_fill_avx512(struct cpu_kernels *k)
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
    cpu_avx512_float_products(k);
    cpu_avx512_block_products(k);
}
