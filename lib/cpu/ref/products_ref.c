/* products_ref.c - matrix products in plain C */
#include <math.h>

#include "core/half.h"
#include "cpu/gemm/column.h"
#include "cpu/gemm/block_types.h"
#include "cpu/ref/reference_kernels.h"
#include "quant/format.h"
#include "quant/types.h"

/* Sixteen partial sums: the shape of the fast kernels, and their accuracy. */
#define LANES 16

static float
reduce(float *acc)
{
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            acc[i] += acc[i + half];
    return acc[0];
}

/* Defines a dot product of k weights, of a type that `value` makes a float,
 * with k floats. */
#define DOT(name, type, value)                                                 \
    static float name(int64_t k, const char *row, const char *col)             \
    {                                                                          \
        const type *w = (const type *)(const void *)row;                       \
        const float *x = (const float *)(const void *)col;                     \
        float acc[LANES] = { 0 };                                              \
        for (int64_t i = 0; i < k; i++)                                        \
            acc[i % LANES] += value(w[i]) * x[i];                              \
        return reduce(acc);                                                    \
    }
DOT(dot_f32, float, )
DOT(dot_f16, uint16_t, half_to_float)
DOT(dot_bf16, uint16_t, core_bf16_to_float)

static void
multiply(const struct cpu_product *p,
         float (*dot)(int64_t k, const char *row, const char *col))
{
    for (int64_t c = 0; c < p->n_cols; c++)
        for (int64_t r = 0; r < p->n_rows; r++)
            p->out[(size_t)c * p->out_stride + (size_t)r] =
                dot(p->k, p->rows + (size_t)r * p->row_stride,
                    p->cols + (size_t)c * p->col_stride);
}

#define MULTIPLY(type)                                                         \
    static void multiply_##type(const struct cpu_product *p)                   \
    {                                                                          \
        multiply(p, dot_##type);                                               \
    }
MULTIPLY(f32)
MULTIPLY(f16)
MULTIPLY(bf16)

/* Integer sums over n values: of weights' products, and of the column. */
struct sums {
    int32_t dot, sum;
};

static struct sums
sum_values(const int8_t *w, const int8_t *q, int n)
{
    struct sums s = { 0 };

    for (int i = 0; i < n; i++) {
        s.dot += w[i] * q[i];
        s.sum += q[i];
    }
    return s;
}

/* Sums of the unit of 32 from j on of a block whose scales are integers: times
 * these, and times minima. */
static struct sums
sum_coded(const struct quant_values *v, const int8_t *q, int j)
{
    struct sums all = { 0 };

    for (int i = j; i < j + COLUMN_BLOCK; i += v->group) {
        struct sums s = sum_values(v->q + i, q + i, v->group);

        all.dot += v->scale_code[i / v->group] * s.dot;
        all.sum += v->min_code[i / v->group] * s.sum;
    }
    return all;
}

static float
add_int_scaled(float acc, const struct quant_values *v, int kind,
               const int8_t *q, const float *d)
{
    bool none = kind & CPU_MINIMA && v->d == 0;
    float dw = none ? 1 : v->d;
    float ratio = kind & CPU_MINIMA ? v->dmin / dw : 0, part = 0;

    for (int j = 0; j < v->n; j += COLUMN_BLOCK) {
        struct sums s = sum_coded(v, q, j);

        part += ((none ? 0 : (float)s.dot) - (float)s.sum * ratio) *
                d[j / COLUMN_BLOCK];
    }
    return acc + part * dw;
}

/* The unpacked groups of a block of weights, times a column's values from `at`
 * on: the chain of column.h. */
static float
add_block(float acc, const struct quant_values *v, int kind,
          const struct cpu_product *p, const char *col, int64_t at)
{
    const int8_t *q = (const int8_t *)col + at;
    const float *d = cpu_column_scales(col, p->k) + at / COLUMN_BLOCK;

    if (kind & CPU_INT_SCALES)
        return add_int_scaled(acc, v, kind, q, d);
    for (int j = 0; j < v->n; j += v->group) {
        struct sums s = sum_values(v->q + j, q + j, v->group);
        float dx = d[j / COLUMN_BLOCK];
        int g = j / v->group;

        acc += (float)s.dot * (v->scale[g] * dx);
        if (kind & CPU_MINIMA)
            acc -= v->min[g] * (dx * (float)s.sum);
    }
    return acc;
}

/* Weights of any type of blocks; a block is unpacked once for all columns. */
static void
multiply_unpacked(const struct cpu_product *p, enum ggml_type type, int kind)
{
    const struct quant_type *t = quant_type(type);

    for (int64_t r = 0; r < p->n_rows; r++) {
        const char *block = p->rows + (size_t)r * p->row_stride;
        struct quant_values v;

        for (int64_t c = 0; c < p->n_cols; c++)
            p->out[(size_t)c * p->out_stride + (size_t)r] = 0;
        for (int64_t at = 0; at < p->k; at += v.n) {
            t->unpack(block, &v);
            for (int64_t c = 0; c < p->n_cols; c++) {
                float *out = &p->out[(size_t)c * p->out_stride + (size_t)r];

                *out = add_block(*out, &v, kind, p,
                                 p->cols + (size_t)c * p->col_stride, at);
            }
            block += t->traits.type_size;
        }
    }
}

#define MULTIPLY_UNPACKED(name, type, kind)                                    \
    static void multiply_##name(const struct cpu_product *p)                   \
    {                                                                          \
        multiply_unpacked(p, type, kind);                                      \
    }
#define FILL_UNPACKED(name, type, kind)                                        \
    k->mul_mat[type] = blocks;                                                 \
    k->mul_mat[type].multiply = multiply_##name;
CPU_GROUP_TYPES(MULTIPLY_UNPACKED)

size_t
cpu_column_size(int64_t k)
{
    size_t n = (size_t)(k + k / COLUMN_BLOCK * 24);

    return (n + 63) & ~(size_t)63;
}

/* Adding and subtracting 1.5 * 2^23 rounds to the nearest integer. */
static int8_t
nearest(float v)
{
    return (int8_t)quant_to_int((v + 0x1.8p23f) - 0x1.8p23f);
}

void
cpu_prepare_column(const float *x, void *column, int64_t k)
{
    struct column_arrays runs = cpu_column_arrays(column, k);
    int8_t *q = column;

    for (int64_t b = 0; b < k / COLUMN_BLOCK; b++) {
        int16_t sums[4];
        float amax = 0, inverse;

        for (int j = 0; j < COLUMN_BLOCK; j++)
            amax = quant_larger_magnitude(amax, x[j]);
        inverse = amax > 0 ? 127 / amax : 0;
        for (int j = 0; j < COLUMN_BLOCK; j++)
            q[j] = nearest(x[j] * inverse);
        cpu_column_block_sums(q, sums);
        cpu_column_set_block(&runs, b, amax, sums);
        x += COLUMN_BLOCK;
        q += COLUMN_BLOCK;
    }
}

void
cpu_fill_products(struct cpu_kernels *k)
{
    static const struct cpu_mul_mat floats = { .multiply = multiply_f32 };
    static const struct cpu_mul_mat blocks = { .prepare = cpu_prepare_column,
                                               .column_size = cpu_column_size };

    k->mul_mat[GGML_TYPE_F32] = floats;
    k->mul_mat[GGML_TYPE_F16] = floats;
    k->mul_mat[GGML_TYPE_F16].multiply = multiply_f16;
    k->mul_mat[GGML_TYPE_BF16] = floats;
    k->mul_mat[GGML_TYPE_BF16].multiply = multiply_bf16;
    CPU_GROUP_TYPES(FILL_UNPACKED)
}
