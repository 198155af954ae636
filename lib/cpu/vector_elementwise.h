/* vector_elementwise.h - rows of floats for any vectors */
#ifndef CPU_VECTOR_ELEMENTWISE_H
#define CPU_VECTOR_ELEMENTWISE_H

#include <math.h>

#include "cpu/vector.h"

/* Row functions: `expression` of the lanes v (and u). */
#define MAP(name, expression)                                                  \
    static void name(int64_t n, float *y, const float *x)                      \
    {                                                                          \
        int64_t i = 0;                                                         \
        for (; i + VEC <= n; i += VEC) {                                       \
            vec v = v_load_f32(x + i);                                         \
            v_store_f32(y + i, expression);                                    \
        }                                                                      \
        if (i < n) {                                                           \
            vec v = v_load_f32_first(n - i, x + i);                            \
            v_store_f32_first(n - i, y + i, expression);                       \
        }                                                                      \
    }
#define ZIP(name, expression)                                                  \
    static void name(int64_t n, float *y, const float *a, const float *b)      \
    {                                                                          \
        int64_t i = 0;                                                         \
        for (; i + VEC <= n; i += VEC) {                                       \
            vec v = v_load_f32(a + i), u = v_load_f32(b + i);                  \
            v_store_f32(y + i, expression);                                    \
        }                                                                      \
        if (i < n) {                                                           \
            vec v = v_load_f32_first(n - i, a + i);                            \
            vec u = v_load_f32_first(n - i, b + i);                            \
            v_store_f32_first(n - i, y + i, expression);                       \
        }                                                                      \
    }

/* v / (1 + exp(-t)) */
INLINE vec
over_one_plus_exp(vec v, vec minus_t)
{
    return v / (v_splat(1) + v_exp(minus_t));
}

INLINE vec
silu_lanes(vec v)
{
    return over_one_plus_exp(v, v_splat(0) - v);
}

/* -2 * sqrt(2 / pi) * v * (1 + 0.044715 v^2): see gelu_one() in C. */
INLINE vec
gelu_lanes(vec v)
{
    vec cubic = v_fused(v * v, v_splat(0.044715f), v_splat(1));

    return over_one_plus_exp(v, v * v_splat(-2 * 0.797884560802865f) * cubic);
}

/* Phi(v) - the normal distribution's - near 0, by its series
 *     1/2 + (v - v^3 / 6 + v^5 / 40 - v^7 / 336 ...) / sqrt(2 pi)
 */
INLINE vec
phi_near(vec v)
{
    static const float by[] = { -9.4446563e-6f, 1.1543469e-4f, -1.1873282e-3f,
                                9.9735570e-3f,  -0.066490380f, 0.39894228f };
    vec z = v * v, p = v_splat(by[0]);

    UNROLL for (int i = 1; i < 6; i++) p = v_fused(p, z, v_splat(by[i]));
    return v_fused(p, v, v_splat(0.5f));
}

/* v * Phi(v): with a = |v|,
 *     Phi(-a) = exp(-a^2 / 2) * t * p(t), t = 1 / (1 + 0.35 a)
 * (the form is that of Abramowitz and Stegun, 7.1.26), p of degree 8 fitted to
 * relative errors below 4e-8 for a up to 13.2, where exp() ends. Near 0 what t
 * is rounded by would be 4.4e-7 of the result. */
INLINE vec
gelu_erf_lanes(vec v)
{
    static const float by[] = { -0.0291090105f, 0.143788591f,   -0.2553280f,
                                0.158722803f,   -0.0227912590f, 0.105369397f,
                                0.119869046f,   0.139856711f,   0.139621705f };
    vec a = (vec)((vec_bits)v & 0x7fffffff), p = v_splat(by[0]), t, tail, far;

    t = v_splat(1) / v_fused(a, v_splat(0.35f), v_splat(1));
    UNROLL for (int i = 1; i < 9; i++) p = v_fused(p, t, v_splat(by[i]));
    tail = v_exp(a * a * v_splat(-0.5f)) * (p * t);
    far = v_choose_where((vec_bits)(v < v_splat(0)), tail, v_splat(1) - tail);
    return v * v_choose_where((vec_bits)(a < v_splat(0.6f)), phi_near(v), far);
}

ZIP(add, v + u)
ZIP(sub, v - u)
ZIP(mul, v *u)
ZIP(divide, v / u)
ZIP(swiglu, silu_lanes(v) * u)
ZIP(geglu, gelu_lanes(v) * u)
ZIP(geglu_erf, gelu_erf_lanes(v) * u)
MAP(exp_row, v_exp(v))
MAP(silu, silu_lanes(v))
MAP(gelu, gelu_lanes(v))
MAP(gelu_erf, gelu_erf_lanes(v))
MAP(gelu_quick, over_one_plus_exp(v, v *v_splat(-1.702f)))
MAP(sigmoid, over_one_plus_exp(v_splat(1), v_splat(0) - v))

/* By its series where 1 - 2 / (exp(2 x) + 1) would cancel. */
INLINE vec
tanh_lanes(vec v)
{
    vec a = (vec)((vec_bits)v & 0x7fffffff), z = v * v, p, far;

    p = v_fused(v_splat(-1382.0f / 155925), z, v_splat(62.0f / 2835));
    p = v_fused(p, z, v_splat(-17.0f / 315));
    p = v_fused(p, z, v_splat(2.0f / 15));
    p = v_fused(p, z, v_splat(-1.0f / 3));
    p = v_fused(p * z, v, v);
    far = v_splat(1) - v_splat(2) / (v_exp(a + a) + v_splat(1));
    far = (vec)((vec_bits)far | ((vec_bits)v & 0x80000000));
    return v_choose_where((vec_bits)(a < v_splat(0.4f)), p, far);
}
MAP(tanh_row, tanh_lanes(v))

static void
swiglu_oai(int64_t n, float *y, const float *a, const float *b, float alpha,
           float limit)
{
    vec most = v_splat(limit), least = v_splat(-limit), by = v_splat(-alpha);

    for (int64_t i = 0; i < n; i += VEC) {
        vec v = v_smaller(most, v_load_floats(n - i, a + i));
        vec u = v_larger(least, v_smaller(most, v_load_floats(n - i, b + i)));

        v_store(n - i, y + i, over_one_plus_exp(v, v * by) * (u + v_splat(1)));
    }
}

static void
scale(int64_t n, float *y, const float *x, float s, float b)
{
    vec vs = v_splat(s), vb = v_splat(b);

    for (int64_t i = 0; i < n; i += VEC)
        v_store(n - i, y + i, v_fused(v_load_floats(n - i, x + i), vs, vb));
}

/* Four vectors of partial sums, to hide latency. */
INLINE float
add_four(const vec *s)
{
    return v_add_lanes((s[0] + s[1]) + (s[2] + s[3]));
}

static float
sum(int64_t n, const float *x)
{
    vec s[4] = { v_splat(0), v_splat(0), v_splat(0), v_splat(0) };
    int64_t i = 0;

    for (; i + 4 * VEC <= n; i += 4 * VEC)
        UNROLL for (int j = 0; j < 4; j++) s[j] += v_load_f32(x + i + VEC * j);
    for (; i < n; i += VEC)
        s[0] += v_load_floats(n - i, x + i);
    return add_four(s);
}

static float
sum_squares(int64_t n, const float *x, float mean)
{
    vec s[4] = { v_splat(0), v_splat(0), v_splat(0), v_splat(0) };
    vec v, vm = v_splat(mean);
    int64_t i = 0;

    for (; i + 4 * VEC <= n; i += 4 * VEC)
        UNROLL for (int j = 0; j < 4; j++)
        {
            v = v_load_f32(x + i + VEC * j) - vm;
            s[j] = v_fused(v, v, s[j]);
        }
    for (; i < n; i += VEC) {
        v = v_load_floats(n - i, x + i) - vm;
        if (n - i < VEC)
            v = v_choose_first(n - i, v, v_splat(0));
        s[0] = v_fused(v, v, s[0]);
    }
    return add_four(s);
}

static float
max(int64_t n, const float *x)
{
    vec v = v_splat(-INFINITY);
    int64_t i = 0;

    for (; i + VEC <= n; i += VEC)
        v = v_larger(v_load_f32(x + i), v);
    if (i < n)
        v = v_choose_first(n - i, v_larger(v_load_f32_first(n - i, x + i), v),
                           v);
    return v_largest_lane(v);
}

static float
exp_sum(int64_t n, float *y, const float *x, float largest)
{
    vec s = v_splat(0), vm = v_splat(largest);
    int64_t i = 0;

    for (; i + VEC <= n; i += VEC) {
        vec v = v_exp(v_load_f32(x + i) - vm);

        v_store_f32(y + i, v);
        s += v;
    }
    if (i < n) {
        vec v = v_exp(v_load_f32_first(n - i, x + i) - vm);

        v_store_f32_first(n - i, y + i, v);
        s += v_choose_first(n - i, v, v_splat(0));
    }
    return v_add_lanes(s);
}

static void
rotate(int64_t n, float *y0, float *y1, const float *x0, const float *x1,
       const float *c, const float *s)
{
    for (int64_t i = 0; i < n; i += VEC) {
        int64_t m = n - i;
        vec a = v_load_floats(m, x0 + i), b = v_load_floats(m, x1 + i);
        vec vc = v_load_floats(m, c + i), vs = v_load_floats(m, s + i);

        v_store(m, y0 + i, v_fused(a, vc, -(b * vs)));
        v_store(m, y1 + i, v_fused(a, vs, b * vc));
    }
}

static void
rotate_pairs(int64_t n, float *y, const float *x, const float *c,
             const float *s)
{
    for (int64_t i = 0; i < n; i += VEC) {
        int64_t m = n - i;
        vec v = v_load_floats(m, x + i), vc = v_load_floats(m, c + i);

        v_store(m, y + i,
                v_fused(v, vc, v_swap_neighbours(v) * v_load_floats(m, s + i)));
    }
}

INLINE void
to_float(enum ggml_type type, const char *x, float *y, int64_t n)
{
    const int64_t step = cpu_values_step(type);

    for (; n >= step; n -= step, x += cpu_values_size(type, step), y += step)
        UNROLL for (int64_t i = 0; i < step; i += VEC)
            v_store_f32(y + i, v_load_values(type, VEC, x, i));
    if (n > 0)
        v_store(n, y, v_load_values(type, n, x, 0));
}

static void
f16_to_float(const void *x, float *y, int64_t n)
{
    to_float(GGML_TYPE_F16, x, y, n);
}

static void
bf16_to_float(const void *x, float *y, int64_t n)
{
    to_float(GGML_TYPE_BF16, x, y, n);
}

static void
q8_0_to_float(const void *x, float *y, int64_t n)
{
    to_float(GGML_TYPE_Q8_0, x, y, n);
}

static void
q5_0_to_float(const void *x, float *y, int64_t n)
{
    to_float(GGML_TYPE_Q5_0, x, y, n);
}

static void
q4_0_to_float(const void *x, float *y, int64_t n)
{
    to_float(GGML_TYPE_Q4_0, x, y, n);
}

static void
f16_from_float(const float *x, void *y, int64_t n)
{
    uint16_t *h = y;

    for (int64_t i = 0; i < n; i += VEC)
        v_store_half_first(n - i, h + i, v_to_f16(v_load_floats(n - i, x + i)));
}

/* Rounds as integers do; a NaN keeps its upper bits and becomes quiet. */
static void
bf16_from_float(const float *x, void *y, int64_t n)
{
    uint16_t *h = y;

    for (int64_t i = 0; i < n; i += VEC) {
        vec v = v_load_floats(n - i, x + i);
        vec_bits high = (vec_bits)v >> 16, nan = (vec_bits)(v != v);
        vec_bits r = ((vec_bits)v + (high & 1) + 0x7fff) >> 16;

        r = (nan & (high | 64)) | (~nan & r);
        v_store_half_first(n - i, h + i, v_narrow(r));
    }
}

static void
cpu_fill_rows(struct cpu_kernels *k)
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
    k->gelu_erf = gelu_erf;
    k->gelu_quick = gelu_quick;
    k->sigmoid = sigmoid;
    k->swiglu = swiglu;
    k->geglu = geglu;
    k->geglu_erf = geglu_erf;
    k->tanh = tanh_row;
    k->swiglu_oai = swiglu_oai;
    k->rotate = rotate;
    k->rotate_pairs = rotate_pairs;
    k->to_float[GGML_TYPE_F16] = f16_to_float;
    k->from_float[GGML_TYPE_F16] = f16_from_float;
    k->to_float[GGML_TYPE_BF16] = bf16_to_float;
    k->to_float[GGML_TYPE_Q8_0] = q8_0_to_float;
    k->to_float[GGML_TYPE_Q5_0] = q5_0_to_float;
    k->to_float[GGML_TYPE_Q4_0] = q4_0_to_float;
    k->from_float[GGML_TYPE_BF16] = bf16_from_float;
}

#endif
