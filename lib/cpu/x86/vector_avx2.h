/* vector_avx2.h - eight floats at a time: the functions of vector.h */
#ifndef CPU_X86_VECTOR_AVX2_H
#define CPU_X86_VECTOR_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

/* Processors that have no more than this compute about as fast as weights come:
 * unless only their L2 cache is large, what is prefetched had better be in L1,
 * and rows be read in the order of the hardware prefetcher. */
#define PREFETCH_TIMES    2
#define PREFETCH_TO_L1    (!cpu_only_l2_large)
#define PREFETCH_DISTANCE ((cpu_only_l2_large ? 24 : 4) * 1024)
#define HARDWARE_PREFETCHED                                                    \
    (cpu_only_l2_large ? GGML_TYPE_COUNT : GGML_TYPE_F32)
#define GEMV_ROW_BY_ROW (!cpu_only_l2_large)

#include "cpu/prefetch.h"

#define VEC       8
#define REGISTERS 16
typedef __m256 vec;
typedef uint32_t vec_bits __attribute__((vector_size(32)));
typedef __m128i vec_half;

/* The parts of cpu_fill_avx2() that are in float_gemm_avx2.c and quant_avx2.c.
 */
void
cpu_avx2_float_products(struct cpu_kernels *k);
void
cpu_avx2_group_products(struct cpu_kernels *k);

/* All ones in the first n of eight lanes. */
INLINE __m256i
first_lanes(int64_t n)
{
    int lanes = n >= 8 ? 8 : (int)n;

    return _mm256_cmpgt_epi32(_mm256_set1_epi32(lanes),
                              _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}

INLINE vec
v_load_f32(const void *p)
{
    return _mm256_loadu_ps(p);
}

INLINE vec
v_load_f32_first(int64_t n, const void *p)
{
    return _mm256_maskload_ps(p, first_lanes(n));
}

INLINE vec_half
v_load_half(const void *p)
{
    return _mm_loadu_si128(p);
}

INLINE vec_half
v_load_half_first(int64_t n, const void *p)
{
    uint16_t part[8] = { 0 };

    memcpy(part, p, n >= 8 ? 16 : (size_t)n * 2);
    return _mm_loadu_si128(AS(__m128i, part));
}

INLINE void
v_store_f32(float *p, vec v)
{
    _mm256_storeu_ps(p, v);
}

INLINE void
v_store_f32_first(int64_t n, float *p, vec v)
{
    _mm256_maskstore_ps(p, first_lanes(n), v);
}

INLINE void
v_store_half_first(int64_t n, void *p, vec_half h)
{
    uint16_t part[8];

    if (n >= 8) {
        _mm_storeu_si128(p, h);
        return;
    }
    _mm_storeu_si128(AS_OUT(__m128i, part), h);
    memcpy(p, part, (size_t)n * 2);
}

INLINE vec
v_choose_first(int64_t n, vec a, vec b)
{
    return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(first_lanes(n)));
}

INLINE vec
v_choose_where(vec_bits bits, vec a, vec b)
{
    return _mm256_blendv_ps(b, a, (vec)bits);
}

INLINE vec
v_load_rows_of_4(const float *p, size_t stride)
{
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)),
                                _mm_loadu_ps(p + stride), 1);
}

INLINE vec
v_interleave_low(vec a, vec b)
{
    return _mm256_unpacklo_ps(a, b);
}

INLINE vec
v_interleave_high(vec a, vec b)
{
    return _mm256_unpackhi_ps(a, b);
}

INLINE vec
v_swap_neighbours(vec v)
{
    return _mm256_permute_ps(v, 0xb1);
}

INLINE vec
v_concat_low(vec a, vec b)
{
    return _mm256_shuffle_ps(a, b, 0x44);
}

INLINE vec
v_concat_high(vec a, vec b)
{
    return _mm256_shuffle_ps(a, b, 0xee);
}

INLINE vec_bits
v_load_int8(const int8_t *p)
{
    return (vec_bits)_mm256_cvtepi8_epi32(_mm_loadl_epi64(AS(__m128i, p)));
}

INLINE vec
v_from_int32(vec_bits bits)
{
    return _mm256_cvtepi32_ps((__m256i)bits);
}

INLINE vec
v_splat(float s)
{
    return _mm256_set1_ps(s);
}

INLINE vec
v_fused(vec a, vec b, vec c)
{
    return _mm256_fmadd_ps(a, b, c);
}

INLINE vec
v_larger(vec a, vec b)
{
    return _mm256_max_ps(a, b);
}

INLINE vec
v_smaller(vec a, vec b)
{
    return _mm256_min_ps(a, b);
}

INLINE vec
v_nearest(vec v)
{
    return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 2^n, n from -126 to 127. */
INLINE vec
power_of_two(__m256i n)
{
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

/* In two factors, so that 2^n need not be a float. */
INLINE vec
v_times_power(vec v, vec n)
{
    __m256i whole = _mm256_cvtps_epi32(n), half = _mm256_srai_epi32(whole, 1);

    return v * power_of_two(half) * power_of_two(_mm256_sub_epi32(whole, half));
}

INLINE vec
v_from_f16(vec_half h)
{
    return _mm256_cvtph_ps(h);
}

INLINE vec_half
v_to_f16(vec v)
{
    return _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

INLINE float
v_f16_to_float(uint16_t bits)
{
    return _cvtsh_ss(bits);
}

/* One shuffle: a widening load and a shift would be two. */
INLINE vec
v_from_bf16(vec_half h)
{
    const __m256i bytes = _mm256_setr_epi8(
        -1, -1, 0, 1, -1, -1, 2, 3, -1, -1, 4, 5, -1, -1, 6, 7, -1, -1, 8, 9,
        -1, -1, 10, 11, -1, -1, 12, 13, -1, -1, 14, 15);

    return _mm256_castsi256_ps(
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(h), bytes));
}

INLINE vec_half
v_narrow(vec_bits bits)
{
    return _mm_packus_epi32(_mm256_castsi256_si128((__m256i)bits),
                            _mm256_extracti128_si256((__m256i)bits, 1));
}

/* Halves are added, then quarters. */
INLINE float
v_add_lanes(vec v)
{
    __m128 q = _mm256_castps256_ps128(v) + _mm256_extractf128_ps(v, 1);

    q += _mm_movehl_ps(q, q);
    return q[0] + q[1];
}

/* Sums of a's two halves, then of b's. */
INLINE vec
add_halves(vec a, vec b)
{
    return _mm256_permute2f128_ps(a, b, 0x20) +
           _mm256_permute2f128_ps(a, b, 0x31);
}

INLINE void
v_store_sums(float *p, const vec *v)
{
    vec ac = add_halves(v[0], v[2]), bd = add_halves(v[1], v[3]);
    vec s = v_concat_low(ac, bd) + v_concat_high(ac, bd);
    __m128 ab = _mm256_castps256_ps128(s), cd = _mm256_extractf128_ps(s, 1);

    _mm_storeu_ps(p,
                  _mm_shuffle_ps(ab, cd, 0x88) + _mm_shuffle_ps(ab, cd, 0xdd));
}

INLINE float
v_largest_lane(vec v)
{
    __m128 q =
        _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    q = _mm_max_ss(q, _mm_movehdup_ps(q));
    return _mm_cvtss_f32(q);
}

#endif
