/* floats_ref.c - rows of floats in plain C */
#include <math.h>
#include <string.h>

#include "core/half.h"
#include "cpu/kernels.h"
#include "cpu/ref/reference_kernels.h"
#include "quant/types.h"

static void
add(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] + b[i];
}

static void
sub(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] - b[i];
}

static void
mul(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] * b[i];
}

static void
divide(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] / b[i];
}

static void
scale(int64_t n, float *y, const float *x, float s, float b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * s + b;
}

static float
sum(int64_t n, const float *x)
{
    double s = 0;

    for (int64_t i = 0; i < n; i++)
        s += x[i];
    return (float)s;
}

static float
sum_squares(int64_t n, const float *x, float mean)
{
    double s = 0;

    for (int64_t i = 0; i < n; i++)
        s += ((double)x[i] - mean) * ((double)x[i] - mean);
    return (float)s;
}

static float
max(int64_t n, const float *x)
{
    float m = -INFINITY;

    for (int64_t i = 0; i < n; i++)
        m = x[i] > m ? x[i] : m;
    return m;
}

static float
exp_sum(int64_t n, float *y, const float *x, float largest)
{
    double s = 0;

    for (int64_t i = 0; i < n; i++) {
        y[i] = expf(x[i] - largest);
        s += y[i];
    }
    return (float)s;
}

static void
exp_row(int64_t n, float *y, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = expf(x[i]);
}

static void
silu(int64_t n, float *y, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] / (1 + expf(-x[i]));
}

static void
sigmoid(int64_t n, float *y, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = 1 / (1 + expf(-x[i]));
}

/* x / 2 * (1 + tanh(u)), u = sqrt(2 / pi) * (x + 0.044715 x^3), is
 * x / (1 + exp(-2 u)), which does not cancel where x is negative. */
static float
gelu_one(float x)
{
    const float root = 0.797884560802865f;
    float u = root * x * (1 + 0.044715f * x * x);

    return x / (1 + expf(-2 * u));
}

static void
gelu(int64_t n, float *y, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = gelu_one(x[i]);
}

/* x / 2 * (1 + erf(x / sqrt(2))), without a sum that cancels. */
static float
gelu_erf_one(float x)
{
    return (float)(0.5 * x * erfc(x * -0.70710678118654752));
}

static void
gelu_erf(int64_t n, float *y, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = gelu_erf_one(x[i]);
}

static void
gelu_quick(int64_t n, float *y, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] / (1 + expf(-1.702f * x[i]));
}

static void
swiglu(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = a[i] / (1 + expf(-a[i])) * b[i];
}

static void
geglu(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = gelu_one(a[i]) * b[i];
}

static void
geglu_erf(int64_t n, float *y, const float *a, const float *b)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = gelu_erf_one(a[i]) * b[i];
}

static void
tanh_row(int64_t n, float *y, const float *x)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = tanhf(x[i]);
}

static void
swiglu_oai(int64_t n, float *y, const float *a, const float *b, float alpha,
           float limit)
{
    for (int64_t i = 0; i < n; i++) {
        float x = a[i] > limit ? limit : a[i];
        float g = b[i] > limit ? limit : b[i] < -limit ? -limit : b[i];

        y[i] = x / (1 + expf(-alpha * x)) * (g + 1);
    }
}

static void
rotate(int64_t n, float *y0, float *y1, const float *x0, const float *x1,
       const float *c, const float *s)
{
    for (int64_t i = 0; i < n; i++) {
        float a = x0[i], b = x1[i];

        y0[i] = a * c[i] - b * s[i];
        y1[i] = a * s[i] + b * c[i];
    }
}

static void
rotate_pairs(int64_t n, float *y, const float *x, const float *c,
             const float *s)
{
    for (int64_t i = 0; i < n; i += 2) {
        float a = x[i], b = x[i + 1];

        y[i] = a * c[i] + b * s[i];
        y[i + 1] = b * c[i + 1] + a * s[i + 1];
    }
}

static void
fill_conversions(struct cpu_kernels *k)
{
    for (int t = 0; t < GGML_TYPE_COUNT; t++) {
        k->to_float[t] = quant_reader((enum ggml_type)t);
        k->from_float[t] = quant_writer((enum ggml_type)t);
    }
}

void
cpu_fill_reference(struct cpu_kernels *k)
{
    memset(k, 0, sizeof(*k));
    k->name = "c";
    fill_conversions(k);
    cpu_fill_products(k);
    cpu_fill_panels(k);
    cpu_fill_reference_recurrences(k);
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
}
