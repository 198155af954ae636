/* float.c - F32, F16 and BF16 as types of tensors */
#include <string.h>
#include <ggml.h>
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

#include "core/half.h"
#include "quant/format.h"

float
ggml_fp16_to_fp32(ggml_fp16_t h)
{
    return half_to_float(h);
}

ggml_fp16_t
ggml_fp32_to_fp16(float f)
{
    return half_from_float(f);
}

#if defined(__x86_64__) && defined(__GNUC__)
/* As many as there are groups of eight; returns their number. */
__attribute__((target("avx2,f16c"))) static int64_t
widen_eights(const ggml_fp16_t *x, float *y, int64_t n)
{
    int64_t i = 0;

    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(
                                    (const __m128i *)(const void *)(x + i))));
    return i;
}

/* Every processor with the one has the other. */
static bool
can_widen(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
static int64_t
widen_eights(const ggml_fp16_t *x, float *y, int64_t n)
{
    (void)x, (void)y, (void)n;
    return 0;
}

static bool
can_widen(void)
{
    return false;
}
#endif

void
ggml_fp16_to_fp32_row(const ggml_fp16_t *x, float *y, int64_t n)
{
    int64_t i = can_widen() ? widen_eights(x, y, n) : 0;

    for (; i < n; i++)
        y[i] = half_to_float(x[i]);
}

void
ggml_fp32_to_fp16_row(const float *x, ggml_fp16_t *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = half_from_float(x[i]);
}

ggml_bf16_t
ggml_fp32_to_bf16(float f)
{
    return (ggml_bf16_t){ core_bf16_from_float(f) };
}

float
ggml_bf16_to_fp32(ggml_bf16_t h)
{
    return core_bf16_to_float(h.bits);
}

void
ggml_bf16_to_fp32_row(const ggml_bf16_t *x, float *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = core_bf16_to_float(x[i].bits);
}

void
ggml_fp32_to_bf16_row_ref(const float *x, ggml_bf16_t *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        y[i].bits = core_bf16_from_float(x[i]);
}

void
ggml_fp32_to_bf16_row(const float *x, ggml_bf16_t *y, int64_t n)
{
    ggml_fp32_to_bf16_row_ref(x, y, n);
}

void
quant_f32(const float *x, void *y, int64_t n)
{
    memcpy(y, x, (size_t)n * sizeof(*x));
}

void
quant_dequant_f32(const void *x, float *y, int64_t n)
{
    memcpy(y, x, (size_t)n * sizeof(*y));
}

void
quant_f16(const float *x, void *y, int64_t n)
{
    ggml_fp32_to_fp16_row(x, y, n);
}

void
quant_dequant_f16(const void *x, float *y, int64_t n)
{
    ggml_fp16_to_fp32_row(x, y, n);
}

void
quant_bf16(const float *x, void *y, int64_t n)
{
    ggml_fp32_to_bf16_row_ref(x, y, n);
}

void
quant_dequant_bf16(const void *x, float *y, int64_t n)
{
    ggml_bf16_to_fp32_row(x, y, n);
}
