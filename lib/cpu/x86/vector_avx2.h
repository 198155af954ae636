/* vector_avx2.h - eight floats at a time: loads, sums, exp */
#ifndef CPU_X86_VECTOR_AVX2_H
#define CPU_X86_VECTOR_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#include "cpu/x86/x86.h"

/* All ones in the first n of eight lanes. */
INLINE __m256i
first_lanes(int64_t n)
{
    int lanes = n >= 8 ? 8 : (int)n;

    return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes),
                              _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}

/* Halves are added, then quarters: always in this order. */
INLINE float
reduce_add(__m256 v)
{
    __m128 q =
        _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    q = _mm_add_ss(q, _mm_movehdup_ps(q));
    return _mm_cvtss_f32(q);
}

/* 2^n, n from -126 to 127. */
INLINE __m256
power_of_two(__m256i n)
{
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

/* Within 1 ulp or so: 2^n * p(r), |r| <= ln 2 / 2, p the Taylor series up to
 * r^7. 2^n comes in two factors, so that it underflows gradually; NaN stays. */
INLINE __m256
exp_ps(__m256 x)
{
    const __m256 log2e = _mm256_set1_ps(EXP_LOG2E);
    const __m256 ln2_high = _mm256_set1_ps(EXP_LN2_HIGH);
    const __m256 ln2_low = _mm256_set1_ps(EXP_LN2_LOW);
    __m256 n, r, p;
    __m256i whole, half;

    x = _mm256_max_ps(_mm256_set1_ps(EXP_LOWEST), x);
    x = _mm256_min_ps(_mm256_set1_ps(EXP_HIGHEST), x);
    n = _mm256_round_ps(_mm256_mul_ps(x, log2e),
                        _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    r = _mm256_fnmadd_ps(n, ln2_high, x);
    r = _mm256_fnmadd_ps(n, ln2_low, r);
    p = _mm256_set1_ps(1.0f / 5040);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1));
    whole = _mm256_cvtps_epi32(n);
    half = _mm256_srai_epi32(whole, 1);
    p = _mm256_mul_ps(p, power_of_two(half));
    return _mm256_mul_ps(p, power_of_two(_mm256_sub_epi32(whole, half)));
}

/* Eight weights as floats; the `first` form reads n of them, less than eight
 * or all, and nothing after. */
INLINE __m256
load_f32(const void *p)
{
    return _mm256_loadu_ps(p);
}

INLINE __m256
load_f32_first(int64_t n, const void *p)
{
    return _mm256_maskload_ps(p, first_lanes(n));
}

/* Eight 16-bit values; n of them. */
INLINE __m128i
load_first(int64_t n, const void *p)
{
    uint16_t few[8] = { 0 };

    if (n >= 8)
        return _mm_loadu_si128(p);
    memcpy(few, p, (size_t)n * 2);
    return _mm_loadu_si128(AS(__m128i, few));
}

INLINE void
store_first(int64_t n, void *p, __m128i v)
{
    uint16_t few[8];

    if (n >= 8) {
        _mm_storeu_si128(p, v);
        return;
    }
    _mm_storeu_si128(AS_OUT(__m128i, few), v);
    memcpy(p, few, (size_t)n * 2);
}

INLINE __m256
load_f16(const void *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128(p));
}

INLINE __m256
load_f16_first(int64_t n, const void *p)
{
    return _mm256_cvtph_ps(load_first(n, p));
}

INLINE __m256
widen_bf16(__m128i v)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(v), 16));
}

INLINE __m256
load_bf16(const void *p)
{
    return widen_bf16(_mm_loadu_si128(p));
}

INLINE __m256
load_bf16_first(int64_t n, const void *p)
{
    return widen_bf16(load_first(n, p));
}

#endif
