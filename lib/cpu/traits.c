/* traits.c - row conversions and dot products, a type each, for programs */
#include <ggml-cpu.h>

#include "core/half.h"
#include "cpu/kernels.h"
#include "quant/blocks.h"

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
FROM_FLOAT(q8_0, GGML_TYPE_Q8_0)
FROM_FLOAT(q8_1, GGML_TYPE_Q8_1)

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
VEC_DOT(bf16, uint16_t, bf16_to_float)

static void
vec_dot_q8_0(int n, float *s, size_t bs, const void *vx, size_t bx,
             const void *vy, size_t by, int nrc)
{
    const struct block_q8_0 *x = vx, *y = vy;
    float acc = 0;

    (void)bs, (void)bx, (void)by, (void)nrc;
    for (int b = 0; b < n / QUANT_BLOCK; b++) {
        int32_t sum = 0;

        for (int j = 0; j < QUANT_BLOCK; j++)
            sum += x[b].qs[j] * y[b].qs[j];
        acc += (float)sum * (half_to_float(x[b].d) * half_to_float(y[b].d));
    }
    *s = acc;
}

static void
vec_dot_q4_0(int n, float *s, size_t bs, const void *vx, size_t bx,
             const void *vy, size_t by, int nrc)
{
    const struct block_q4_0 *x = vx;
    const struct block_q8_0 *y = vy;
    float acc = 0;

    (void)bs, (void)bx, (void)by, (void)nrc;
    for (int b = 0; b < n / QUANT_BLOCK; b++) {
        int32_t sum = 0;

        for (int j = 0; j < QUANT_BLOCK / 2; j++)
            sum += ((x[b].qs[j] & 15) - 8) * y[b].qs[j] +
                   ((x[b].qs[j] >> 4) - 8) * y[b].qs[j + QUANT_BLOCK / 2];
        acc += (float)sum * (half_to_float(x[b].d) * half_to_float(y[b].d));
    }
    *s = acc;
}

static const struct ggml_type_traits_cpu traits[GGML_TYPE_COUNT] = {
    [GGML_TYPE_F32] = { from_float_f32, vec_dot_f32, GGML_TYPE_F32, 1 },
    [GGML_TYPE_F16] = { from_float_f16, vec_dot_f16, GGML_TYPE_F16, 1 },
    [GGML_TYPE_BF16] = { from_float_bf16, vec_dot_bf16, GGML_TYPE_BF16, 1 },
    [GGML_TYPE_Q4_0] = { from_float_q4_0, vec_dot_q4_0, GGML_TYPE_Q8_0, 1 },
    [GGML_TYPE_Q8_0] = { from_float_q8_0, vec_dot_q8_0, GGML_TYPE_Q8_0, 1 },
    [GGML_TYPE_Q8_1] = { from_float_q8_1, NULL, GGML_TYPE_Q8_1, 1 },
    [GGML_TYPE_I32] = { .from_float = from_float_i32 },
};

const struct ggml_type_traits_cpu *
ggml_get_type_traits_cpu(enum ggml_type type)
{
    GGML_ASSERT((unsigned)type < GGML_TYPE_COUNT);
    return &traits[type];
}
