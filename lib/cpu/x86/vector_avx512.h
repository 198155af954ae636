/* vector_avx512.h - sixteen floats at a time: the functions of vector.h */
#ifndef CPU_X86_VECTOR_AVX512_H
#define CPU_X86_VECTOR_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#include "cpu/prefetch.h"

#define VEC       16
#define REGISTERS 32
typedef __m512 vec;
typedef uint32_t vec_bits __attribute__((vector_size(64)));
typedef __m256i vec_half;

/* The parts of cpu_fill_avx512() that are in float_gemm_avx512.c and
 * quant_avx512.c. */
void
cpu_avx512_float_products(struct cpu_kernels *k);
void
cpu_avx512_group_products(struct cpu_kernels *k);

INLINE __mmask16
first_lanes(int64_t n)
{
    return n >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << n) - 1);
}

INLINE vec
v_load_f32(const void *p)
{
    return _mm512_loadu_ps(p);
}

INLINE vec
v_load_f32_first(int64_t n, const void *p)
{
    return _mm512_maskz_loadu_ps(first_lanes(n), p);
}

INLINE vec_half
v_load_half(const void *p)
{
    return _mm256_loadu_si256(p);
}

INLINE vec_half
v_load_half_first(int64_t n, const void *p)
{
    return _mm256_maskz_loadu_epi16(first_lanes(n), p);
}

INLINE void
v_store_f32(float *p, vec v)
{
    _mm512_storeu_ps(p, v);
}

INLINE void
v_store_f32_first(int64_t n, float *p, vec v)
{
    _mm512_mask_storeu_ps(p, first_lanes(n), v);
}

INLINE void
v_store_half_first(int64_t n, void *p, vec_half h)
{
    _mm256_mask_storeu_epi16(p, first_lanes(n), h);
}

INLINE vec
v_choose_first(int64_t n, vec a, vec b)
{
    return _mm512_mask_mov_ps(b, first_lanes(n), a);
}

INLINE vec
v_choose_where(vec_bits bits, vec a, vec b)
{
    return _mm512_mask_mov_ps(b, _mm512_movepi32_mask((__m512i)bits), a);
}

INLINE vec
v_load_rows_of_4(const float *p, size_t stride)
{
    vec v = _mm512_castps128_ps512(_mm_loadu_ps(p));

    v = _mm512_insertf32x4(v, _mm_loadu_ps(p + stride), 1);
    v = _mm512_insertf32x4(v, _mm_loadu_ps(p + 2 * stride), 2);
    return _mm512_insertf32x4(v, _mm_loadu_ps(p + 3 * stride), 3);
}

INLINE vec
v_interleave_low(vec a, vec b)
{
    return _mm512_unpacklo_ps(a, b);
}

INLINE vec
v_interleave_high(vec a, vec b)
{
    return _mm512_unpackhi_ps(a, b);
}

INLINE vec
v_swap_neighbours(vec v)
{
    return _mm512_permute_ps(v, 0xb1);
}

INLINE vec
v_concat_low(vec a, vec b)
{
    return _mm512_shuffle_ps(a, b, 0x44);
}

INLINE vec
v_concat_high(vec a, vec b)
{
    return _mm512_shuffle_ps(a, b, 0xee);
}

INLINE vec_bits
v_load_int8(const int8_t *p)
{
    return (vec_bits)_mm512_cvtepi8_epi32(_mm_loadu_si128(AS(__m128i, p)));
}

INLINE vec
v_from_int32(vec_bits bits)
{
    return _mm512_cvtepi32_ps((__m512i)bits);
}

INLINE vec
v_splat(float s)
{
    return _mm512_set1_ps(s);
}

INLINE vec
v_fused(vec a, vec b, vec c)
{
    return _mm512_fmadd_ps(a, b, c);
}

INLINE vec
v_larger(vec a, vec b)
{
    return _mm512_max_ps(a, b);
}

INLINE vec
v_smaller(vec a, vec b)
{
    return _mm512_min_ps(a, b);
}

INLINE vec
v_nearest(vec v)
{
    return _mm512_roundscale_ps(v, 0);
}

INLINE vec
v_times_power(vec v, vec n)
{
    return _mm512_scalef_ps(v, n);
}

INLINE vec
v_from_f16(vec_half h)
{
    return _mm512_cvtph_ps(h);
}

INLINE vec_half
v_to_f16(vec v)
{
    return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE float
v_f16_to_float(uint16_t bits)
{
    return _cvtsh_ss(bits);
}

INLINE vec
v_from_bf16(vec_half h)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

INLINE vec_half
v_narrow(vec_bits bits)
{
    return _mm512_cvtepi32_epi16((__m512i)bits);
}

/* Halves are added, then quarters, and so on. */
INLINE float
v_add_lanes(vec v)
{
    __m256 h = _mm512_castps512_ps256(v) + _mm512_extractf32x8_ps(v, 1);
    __m128 q = _mm256_castps256_ps128(h) + _mm256_extractf128_ps(h, 1);

    q += _mm_movehl_ps(q, q);
    return q[0] + q[1];
}

/* Sums of a's two halves, then of b's. */
INLINE vec
add_halves(vec a, vec b)
{
    return _mm512_mask_mov_ps(a, 0xff00, b) + _mm512_shuffle_f32x4(a, b, 0x4e);
}

/* Sums of the four quarters of each of four vectors. */
INLINE vec
add_four_quarters(const vec *v)
{
    vec ab = add_halves(v[0], v[1]), cd = add_halves(v[2], v[3]);

    return _mm512_shuffle_f32x4(ab, cd, 0x88) +
           _mm512_shuffle_f32x4(ab, cd, 0xdd);
}

INLINE void
v_store_sums(float *p, const vec *v)
{
    vec s = add_four_quarters(v);

    s += _mm512_permute_ps(s, 0x4e);
    s += _mm512_permute_ps(s, 0xb1);
    s = _mm512_maskz_compress_ps(0x1111, s);
    _mm_storeu_ps(p, _mm512_castps512_ps128(s));
}

#define HAS_STORE_SUMS_4X4
INLINE void
v_store_sums_4x4(float *p, size_t stride, const vec v[4][4])
{
    vec q[4], low, high, s;

    UNROLL for (int i = 0; i < 4; i++) q[i] = add_four_quarters(v[i]);
    low = v_concat_low(q[0], q[1]) + v_concat_high(q[0], q[1]);
    high = v_concat_low(q[2], q[3]) + v_concat_high(q[2], q[3]);
    s = _mm512_shuffle_ps(low, high, 0x88) + _mm512_shuffle_ps(low, high, 0xdd);
    _mm_storeu_ps(p, _mm512_castps512_ps128(s));
    _mm_storeu_ps(p + stride, _mm512_extractf32x4_ps(s, 1));
    _mm_storeu_ps(p + 2 * stride, _mm512_extractf32x4_ps(s, 2));
    _mm_storeu_ps(p + 3 * stride, _mm512_extractf32x4_ps(s, 3));
}

INLINE float
v_largest_lane(vec v)
{
    return _mm512_reduce_max_ps(v);
}

#endif
