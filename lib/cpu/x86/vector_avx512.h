/* vector_avx512.h - sixteen floats at a time: loads, sums, exp */
#ifndef CPU_X86_VECTOR_AVX512_H
#define CPU_X86_VECTOR_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#include "cpu/x86/x86.h"

/* The first n of sixteen lanes. */
INLINE __mmask16
first_lanes(int64_t n)
{
    return n >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << n) - 1);
}

/* Halves are added, then quarters, and so on: always in this order. */
INLINE float
reduce_add(__m512 v)
{
    __m256 h =
        _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 q =
        _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));

    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    q = _mm_add_ss(q, _mm_movehdup_ps(q));
    return _mm_cvtss_f32(q);
}

/* Within 1 ulp or so: 2^n * p(r), |r| <= ln 2 / 2, p the Taylor series up to
 * r^7. Underflows gradually; NaN stays. */
INLINE __m512
exp_ps(__m512 x)
{
    const __m512 log2e = _mm512_set1_ps(EXP_LOG2E);
    const __m512 ln2_high = _mm512_set1_ps(EXP_LN2_HIGH);
    const __m512 ln2_low = _mm512_set1_ps(EXP_LN2_LOW);
    __m512 n, r, p;

    x = _mm512_max_ps(_mm512_set1_ps(EXP_LOWEST), x);
    x = _mm512_min_ps(_mm512_set1_ps(EXP_HIGHEST), x);
    n = _mm512_roundscale_ps(_mm512_mul_ps(x, log2e), 0);
    r = _mm512_fnmadd_ps(n, ln2_high, x);
    r = _mm512_fnmadd_ps(n, ln2_low, r);
    p = _mm512_set1_ps(1.0f / 5040);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 720));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1));
    return _mm512_scalef_ps(p, n);
}

/* Sixteen weights as floats; the masked form reads nothing past the mask. */
INLINE __m512
load_f32(const void *p)
{
    return _mm512_loadu_ps(p);
}

INLINE __m512
load_f32_mask(__mmask16 m, const void *p)
{
    return _mm512_maskz_loadu_ps(m, p);
}

INLINE __m512
load_f16(const void *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256(p));
}

INLINE __m512
load_f16_mask(__mmask16 m, const void *p)
{
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(m, p));
}

INLINE __m512
widen_bf16(__m256i v)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(v), 16));
}

INLINE __m512
load_bf16(const void *p)
{
    return widen_bf16(_mm256_loadu_si256(p));
}

INLINE __m512
load_bf16_mask(__mmask16 m, const void *p)
{
    return widen_bf16(_mm256_maskz_loadu_epi16(m, p));
}

#endif
