/* traits.c - row conversions and dot products, a type each, for programs */
#include <ggml-cpu.h>

#include "core/half.h"
#include "cpu/kernels.h"
#include "quant/blocks.h"
#include "quant/format.h"
#include "quant/types.h"

void
ggml_cpu_fp32_to_fp32(const float *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i];
}

void
ggml_cpu_fp32_to_i32(const float *x, int32_t *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = (int32_t)x[i];
}

void
ggml_cpu_fp32_to_fp16(const float *x, ggml_fp16_t *y, int64_t n)
{
    cpu_kernels()->from_float[GGML_TYPE_F16](x, y, n);
}

void
ggml_cpu_fp16_to_fp32(const ggml_fp16_t *x, float *y, int64_t n)
{
    cpu_kernels()->to_float[GGML_TYPE_F16](x, y, n);
}

void
ggml_cpu_fp32_to_bf16(const float *x, ggml_bf16_t *y, int64_t n)
{
    cpu_kernels()->from_float[GGML_TYPE_BF16](x, y, n);
}

void
ggml_cpu_bf16_to_fp32(const ggml_bf16_t *x, float *y, int64_t n)
{
    cpu_kernels()->to_float[GGML_TYPE_BF16](x, y, n);
}

#define FROM_FLOAT(name, type)                                                 \
    static void from_float_##name(const float *x, void *y, int64_t n)          \
    {                                                                          \
        cpu_kernels()->from_float[type](x, y, n);                              \
    }
FROM_FLOAT(f32, GGML_TYPE_F32)
FROM_FLOAT(f16, GGML_TYPE_F16)
FROM_FLOAT(bf16, GGML_TYPE_BF16)
FROM_FLOAT(q4_0, GGML_TYPE_Q4_0)
FROM_FLOAT(q4_1, GGML_TYPE_Q4_1)
FROM_FLOAT(q5_0, GGML_TYPE_Q5_0)
FROM_FLOAT(q5_1, GGML_TYPE_Q5_1)
FROM_FLOAT(q8_0, GGML_TYPE_Q8_0)
FROM_FLOAT(q8_1, GGML_TYPE_Q8_1)
FROM_FLOAT(q2_k, GGML_TYPE_Q2_K)
FROM_FLOAT(q3_k, GGML_TYPE_Q3_K)
FROM_FLOAT(q4_k, GGML_TYPE_Q4_K)
FROM_FLOAT(q5_k, GGML_TYPE_Q5_K)
FROM_FLOAT(q6_k, GGML_TYPE_Q6_K)
FROM_FLOAT(iq4_nl, GGML_TYPE_IQ4_NL)
FROM_FLOAT(iq4_xs, GGML_TYPE_IQ4_XS)
FROM_FLOAT(tq1_0, GGML_TYPE_TQ1_0)
FROM_FLOAT(tq2_0, GGML_TYPE_TQ2_0)
FROM_FLOAT(mxfp4, GGML_TYPE_MXFP4)
FROM_FLOAT(nvfp4, GGML_TYPE_NVFP4)
FROM_FLOAT(q1_0, GGML_TYPE_Q1_0)
FROM_FLOAT(q2_0, GGML_TYPE_Q2_0)

static void
from_float_q8_k(const float *x, void *y, int64_t n)
{
    quant_q8_k(x, y, n);
}

static void
from_float_i32(const float *x, void *y, int64_t n)
{
    ggml_cpu_fp32_to_i32(x, y, n);
}

/* One product at a time: nrc is 1, and the strides mean nothing. */
#define VEC_DOT(name, type, value)                                             \
    static void vec_dot_##name(int n, float *s, size_t bs, const void *vx,     \
                               size_t bx, const void *vy, size_t by, int nrc)  \
    {                                                                          \
        const type *x = vx, *y = vy;                                           \
        double sum = 0;                                                        \
        (void)bs, (void)bx, (void)by, (void)nrc;                               \
        for (int i = 0; i < n; i++)                                            \
            sum += (double)value(x[i]) * value(y[i]);                          \
        *s = (float)sum;                                                       \
    }
VEC_DOT(f32, float, )
VEC_DOT(f16, uint16_t, half_to_float)
VEC_DOT(bf16, uint16_t, core_bf16_to_float)

/* Value j of an activation row, and its scale. */
struct activation {
    const int8_t *q;
    float d;
};

static struct activation
at_q8_0(const void *row, int64_t j)
{
    const struct block_q8_0 *b = row;

    b += j / QUANT_BLOCK;
    return (struct activation){ b->qs + j % QUANT_BLOCK, half_to_float(b->d) };
}

static struct activation
at_q8_1(const void *row, int64_t j)
{
    const struct block_q8_1 *b = row;

    b += j / QUANT_BLOCK;
    return (struct activation){ b->qs + j % QUANT_BLOCK, half_to_float(b->d) };
}

static struct activation
at_q8_k(const void *row, int64_t j)
{
    const struct block_q8_k *b = row;

    b += j / QUANT_SUPER;
    return (struct activation){ b->qs + j % QUANT_SUPER, b->d };
}

/* Blocks of any type, unpacked, times blocks of eight bits: integer sums over
 * groups, which no block of activations splits. */
static float
dot_blocks(int n, const void *vx, const void *vy, enum ggml_type type,
           struct activation (*at)(const void *row, int64_t j))
{
    const struct quant_type *t = quant_type(type);
    const char *block = vx;
    struct quant_values x;
    double sum = 0;

    for (int64_t i = 0; i < n; i += x.n, block += t->traits.type_size) {
        t->unpack(block, &x);
        for (int j = 0; j < x.n; j += x.group) {
            struct activation y = at(vy, i + j);
            int32_t dot = 0, total = 0;
            int g = j / x.group;

            for (int k = 0; k < x.group; k++) {
                dot += x.q[j + k] * y.q[k];
                total += y.q[k];
            }
            sum += ((double)x.scale[g] * dot - (double)x.min[g] * total) *
                   (double)y.d;
        }
    }
    return (float)sum;
}

#define DOT_BLOCKS(name, type, other)                                          \
    static void vec_dot_##name(int n, float *s, size_t bs, const void *vx,     \
                               size_t bx, const void *vy, size_t by, int nrc)  \
    {                                                                          \
        (void)bs, (void)bx, (void)by, (void)nrc;                               \
        *s = dot_blocks(n, vx, vy, type, at_##other);                          \
    }
DOT_BLOCKS(q4_0, GGML_TYPE_Q4_0, q8_0)
DOT_BLOCKS(q4_1, GGML_TYPE_Q4_1, q8_1)
DOT_BLOCKS(q5_0, GGML_TYPE_Q5_0, q8_0)
DOT_BLOCKS(q5_1, GGML_TYPE_Q5_1, q8_1)
DOT_BLOCKS(q8_0, GGML_TYPE_Q8_0, q8_0)
DOT_BLOCKS(q2_k, GGML_TYPE_Q2_K, q8_k)
DOT_BLOCKS(q3_k, GGML_TYPE_Q3_K, q8_k)
DOT_BLOCKS(q4_k, GGML_TYPE_Q4_K, q8_k)
DOT_BLOCKS(q5_k, GGML_TYPE_Q5_K, q8_k)
DOT_BLOCKS(q6_k, GGML_TYPE_Q6_K, q8_k)
DOT_BLOCKS(iq2_xxs, GGML_TYPE_IQ2_XXS, q8_k)
DOT_BLOCKS(iq2_xs, GGML_TYPE_IQ2_XS, q8_k)
DOT_BLOCKS(iq2_s, GGML_TYPE_IQ2_S, q8_k)
DOT_BLOCKS(iq3_xxs, GGML_TYPE_IQ3_XXS, q8_k)
DOT_BLOCKS(iq3_s, GGML_TYPE_IQ3_S, q8_k)
DOT_BLOCKS(iq1_s, GGML_TYPE_IQ1_S, q8_k)
DOT_BLOCKS(iq1_m, GGML_TYPE_IQ1_M, q8_k)
DOT_BLOCKS(iq4_nl, GGML_TYPE_IQ4_NL, q8_0)
DOT_BLOCKS(iq4_xs, GGML_TYPE_IQ4_XS, q8_k)
DOT_BLOCKS(tq1_0, GGML_TYPE_TQ1_0, q8_k)
DOT_BLOCKS(tq2_0, GGML_TYPE_TQ2_0, q8_k)
DOT_BLOCKS(mxfp4, GGML_TYPE_MXFP4, q8_0)
DOT_BLOCKS(nvfp4, GGML_TYPE_NVFP4, q8_0)
DOT_BLOCKS(q1_0, GGML_TYPE_Q1_0, q8_0)
DOT_BLOCKS(q2_0, GGML_TYPE_Q2_0, q8_0)

/* A line of the table: reading and writing, reading only. */
#define BOTH(name, other)                                                      \
    {                                                                          \
        from_float_##name, vec_dot_##name, GGML_TYPE_##other, 1                \
    }
#define READS(name)                                                            \
    {                                                                          \
        NULL, vec_dot_##name, GGML_TYPE_Q8_K, 1                                \
    }

static const struct ggml_type_traits_cpu traits[GGML_TYPE_COUNT] = {
    [GGML_TYPE_F32] = BOTH(f32, F32),
    [GGML_TYPE_F16] = BOTH(f16, F16),
    [GGML_TYPE_BF16] = BOTH(bf16, BF16),
    [GGML_TYPE_Q8_1] = { from_float_q8_1, NULL, GGML_TYPE_Q8_1, 1 },
    [GGML_TYPE_Q8_K] = { .from_float = from_float_q8_k },
    [GGML_TYPE_I32] = { .from_float = from_float_i32 },
    [GGML_TYPE_Q4_0] = BOTH(q4_0, Q8_0),
    [GGML_TYPE_Q4_1] = BOTH(q4_1, Q8_1),
    [GGML_TYPE_Q5_0] = BOTH(q5_0, Q8_0),
    [GGML_TYPE_Q5_1] = BOTH(q5_1, Q8_1),
    [GGML_TYPE_Q8_0] = BOTH(q8_0, Q8_0),
    [GGML_TYPE_Q2_K] = BOTH(q2_k, Q8_K),
    [GGML_TYPE_Q3_K] = BOTH(q3_k, Q8_K),
    [GGML_TYPE_Q4_K] = BOTH(q4_k, Q8_K),
    [GGML_TYPE_Q5_K] = BOTH(q5_k, Q8_K),
    [GGML_TYPE_Q6_K] = BOTH(q6_k, Q8_K),
    [GGML_TYPE_IQ2_XXS] = READS(iq2_xxs),
    [GGML_TYPE_IQ2_XS] = READS(iq2_xs),
    [GGML_TYPE_IQ2_S] = READS(iq2_s),
    [GGML_TYPE_IQ3_XXS] = READS(iq3_xxs),
    [GGML_TYPE_IQ3_S] = READS(iq3_s),
    [GGML_TYPE_IQ1_S] = READS(iq1_s),
    [GGML_TYPE_IQ1_M] = READS(iq1_m),
    [GGML_TYPE_IQ4_NL] = BOTH(iq4_nl, Q8_0),
    [GGML_TYPE_IQ4_XS] = BOTH(iq4_xs, Q8_K),
    [GGML_TYPE_TQ1_0] = BOTH(tq1_0, Q8_K),
    [GGML_TYPE_TQ2_0] = BOTH(tq2_0, Q8_K),
    [GGML_TYPE_MXFP4] = BOTH(mxfp4, Q8_0),
    [GGML_TYPE_NVFP4] = BOTH(nvfp4, Q8_0),
    [GGML_TYPE_Q1_0] = BOTH(q1_0, Q8_0),
    [GGML_TYPE_Q2_0] = BOTH(q2_0, Q8_0),
};

const struct ggml_type_traits_cpu *
ggml_get_type_traits_cpu(enum ggml_type type)
{
    GGML_ASSERT((unsigned)type < GGML_TYPE_COUNT);
    return &traits[type];
}
