/* quant_avx512.h - the functions of quant_products.h with AVX-512 VNNI */
#ifndef CPU_X86_QUANT_AVX512_H
#define CPU_X86_QUANT_AVX512_H

#include "cpu/x86/vector_avx512.h"
#include "cpu/gemm/lane_rows.h"

/* A tile: 12 integer and 12 float sums, 4 for products. */
#define VECS(most)    3
#define COLS(most)    4
#define MAX_VECS      3
#define UNITS         8
#define TILE          12
#define CHAINS        2
#define SMALL_BATCH   8
#define SIGNED_OFFSET 128

/* By twos: Zen does four bytes, or sixteen, with a mask at half the speed. */
INLINE __m512i
v_join_quarters(__m128i a, __m128i b, __m128i c, __m128i d)
{
    __m256i low = _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
    __m256i high = _mm256_inserti128_si256(_mm256_castsi128_si256(c), d, 1);

    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

INLINE vec_bits
v_load_words(const struct rows *r, size_t at)
{
    __m128i v[4];

#define WORD(i) cpu_load_int32(cpu_weight_row(r, i) + at)
    UNROLL for (int i = 0; i < 4; i++) v[i] = _mm_set_epi32(
        WORD(4 * i + 3), WORD(4 * i + 2), WORD(4 * i + 1), WORD(4 * i));
#undef WORD
    return (vec_bits)v_join_quarters(v[0], v[1], v[2], v[3]);
}

/* Transposes 4 x 4 words in each quarter: w[i] = word i of four rows. */
INLINE void
v_transpose_quarters(const __m512i *r, vec_bits *w)
{
    __m512i a = _mm512_unpacklo_epi32(r[0], r[1]);
    __m512i b = _mm512_unpackhi_epi32(r[0], r[1]);
    __m512i c = _mm512_unpacklo_epi32(r[2], r[3]);
    __m512i d = _mm512_unpackhi_epi32(r[2], r[3]);

    w[0] = (vec_bits)_mm512_unpacklo_epi64(a, c);
    w[1] = (vec_bits)_mm512_unpackhi_epi64(a, c);
    w[2] = (vec_bits)_mm512_unpacklo_epi64(b, d);
    w[3] = (vec_bits)_mm512_unpackhi_epi64(b, d);
}

INLINE void
v_load_16(const struct rows *r, size_t at, vec_bits *w)
{
    __m512i v[4];

#define ROW(i) _mm_loadu_si128(AS(__m128i, cpu_weight_row(r, i) + at))
    UNROLL for (int i = 0; i < 4; i++) v[i] =
        v_join_quarters(ROW(i), ROW(i + 4), ROW(i + 8), ROW(i + 12));
#undef ROW
    v_transpose_quarters(v, w);
}

INLINE __m128i
join_halves(const struct rows *r, size_t at, int row)
{
    __m128i v[4];

#define ROW(i) _mm_loadu_si128(AS(__m128i, cpu_weight_row(r, row + (i)) + at))
    UNROLL for (int i = 0; i < 4; i++) v[i] =
        _mm_unpacklo_epi16(ROW(2 * i), ROW(2 * i + 1));
#undef ROW
    return _mm_unpacklo_epi64(_mm_unpacklo_epi32(v[0], v[1]),
                              _mm_unpacklo_epi32(v[2], v[3]));
}

INLINE vec
v_load_f16(const struct rows *r, size_t at)
{
    return v_from_f16(
        _mm256_inserti128_si256(_mm256_castsi128_si256(join_halves(r, at, 0)),
                                join_halves(r, at, 8), 1));
}

INLINE vec_bits
v_look_up(const int8_t *table, int offset, vec_bits w)
{
    __m512i t = _mm512_broadcast_i32x4(_mm_loadu_si128(AS(__m128i, table)));

    t = _mm512_add_epi8(t, _mm512_set1_epi8((char)offset));
    return (vec_bits)_mm512_shuffle_epi8(t, (__m512i)w);
}

/* Four bits n become bytes by a table: bit j of n is bit j * 8 of n << j * 7.
 */
INLINE vec_bits
v_spread_bits(vec_bits w, int i, int to)
{
#define SPREAD(n)  (0x00204081u * (n)&0x01010101)
#define FOUR_OF(n) SPREAD(n), SPREAD((n) + 1), SPREAD((n) + 2), SPREAD((n) + 3)
    const vec_bits spread = { FOUR_OF(0), FOUR_OF(4), FOUR_OF(8), FOUR_OF(12) };
#undef FOUR_OF
#undef SPREAD

    return (vec_bits)_mm512_permutexvar_epi32((__m512i)(w >> 4 * i),
                                              (__m512i)(spread << to));
}

INLINE vec_bits
v_bytes_as_int16_pairs(vec_bits w, int i, int j)
{
    return (vec_bits)_mm512_shuffle_epi8((__m512i)w,
                                         (__m512i)v_two_bytes(i, j));
}

INLINE vec_bits
v_dot2_int16(vec_bits a, vec_bits b)
{
    return (vec_bits)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

INLINE vec
v_as_floats(vec_bits w)
{
    return _mm512_cvtepi32_ps((__m512i)w);
}

INLINE vec_bits
v_dot4(vec_bits s, vec_bits w, int32_t x)
{
    return (vec_bits)_mm512_dpbusd_epi32((__m512i)s, (__m512i)w,
                                         _mm512_set1_epi32(x));
}

#define UNSIGNED_DOTS
#define HAS_CODEBOOK_GEMV
#define MASKED_BYTES
#define LOOKS_UP_TWO_WORDS
#include "cpu/x86/codebook_avx2.h"

INLINE row_bytes
v_negate_where(row_bytes v, uint32_t bits)
{
    return (row_bytes)_mm256_mask_sub_epi8((__m256i)v, bits,
                                           _mm256_setzero_si256(), (__m256i)v);
}

INLINE row_bytes
v_lower_where(row_bytes v, uint32_t bits)
{
    return (row_bytes)_mm256_mask_sub_epi8((__m256i)v, bits, (__m256i)v,
                                           _mm256_set1_epi8(2));
}

INLINE half_words
v_two_words(uint32_t a, uint32_t b)
{
    half_words two =
        (half_words)_mm_insert_epi32(_mm_cvtsi32_si128((int)a), (int)b, 1);

    IN_REGISTER(two);
    return two;
}

INLINE row_bytes
v_join_two_words(const half_words *two)
{
#define JOIN(a, b) _mm_unpacklo_epi64((__m128i)(a), (__m128i)(b))
    return (row_bytes)_mm256_inserti128_si256(
        _mm256_castsi128_si256(JOIN(two[0], two[1])), JOIN(two[2], two[3]), 1);
#undef JOIN
}

INLINE vec_bits
v_group_sums(const row_words *s, int g)
{
    __m128i v[4];

    UNROLL for (int i = 0; i < 4; i++) v[i] =
        g ? _mm256_extracti128_si256((__m256i)s[i], 1)
          : _mm256_castsi256_si128((__m256i)s[i]);
    return (vec_bits)v_join_quarters(v[0], v[1], v[2], v[3]);
}

#include "cpu/gemm/quant_dot4.h"

/* Products that other files of this set have. */
void
cpu_avx512_minima_products(struct cpu_kernels *k);
void
cpu_avx512_codebook_products(struct cpu_kernels *k);

#endif
