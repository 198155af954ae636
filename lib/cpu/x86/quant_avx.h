/* quant_avx.h - products with weights of block formats, with AVX2: the
 * functions of quant_products.h, but for a tile and the sums of products
 *
 * A file that includes it has those functions first, and may have them from
 * later instructions. */
#ifndef CPU_X86_QUANT_AVX_H
#define CPU_X86_QUANT_AVX_H

INLINE vec_bits
v_load_words(const struct rows *r, size_t at)
{
    vec_bits w = { 0 };

    UNROLL for (int i = 0; i < VEC; i++) w[i] =
        (uint32_t)cpu_load_int32(cpu_weight_row(r, i) + at);
    return w;
}

/* Transposes 4 x 4 words in each half: w[i] = word i of four rows. */
INLINE void
transpose_halves(const __m256i *r, vec_bits *w)
{
    __m256i a = _mm256_unpacklo_epi32(r[0], r[1]);
    __m256i b = _mm256_unpackhi_epi32(r[0], r[1]);
    __m256i c = _mm256_unpacklo_epi32(r[2], r[3]);
    __m256i d = _mm256_unpackhi_epi32(r[2], r[3]);

    w[0] = (vec_bits)_mm256_unpacklo_epi64(a, c);
    w[1] = (vec_bits)_mm256_unpackhi_epi64(a, c);
    w[2] = (vec_bits)_mm256_unpacklo_epi64(b, d);
    w[3] = (vec_bits)_mm256_unpackhi_epi64(b, d);
}

INLINE void
v_load_16(const struct rows *r, size_t at, vec_bits *w)
{
    __m256i v[4];

#define ROW(i) _mm_loadu_si128(AS(__m128i, cpu_weight_row(r, i) + at))
    UNROLL for (int i = 0; i < 4; i++) v[i] =
        _mm256_inserti128_si256(_mm256_castsi128_si256(ROW(i)), ROW(i + 4), 1);
#undef ROW
    transpose_halves(v, w);
}

INLINE vec
v_load_f16(const struct rows *r, size_t at)
{
    __m128i v[4];

#define ROW(i) _mm_loadu_si128(AS(__m128i, cpu_weight_row(r, i) + at))
    UNROLL for (int i = 0; i < 4; i++) v[i] =
        _mm_unpacklo_epi16(ROW(2 * i), ROW(2 * i + 1));
#undef ROW
    return v_from_f16(_mm_unpacklo_epi64(_mm_unpacklo_epi32(v[0], v[1]),
                                         _mm_unpacklo_epi32(v[2], v[3])));
}

INLINE vec_bits
v_look_up(const int8_t *table, int offset, vec_bits w)
{
    __m256i t =
        _mm256_broadcastsi128_si256(_mm_loadu_si128(AS(__m128i, table)));

    t = _mm256_add_epi8(t, _mm256_set1_epi8((char)offset));
    return (vec_bits)_mm256_shuffle_epi8(t, (__m256i)w);
}

INLINE vec_bits
v_spread_bits(vec_bits w, int i, int to)
{
    /* byte i / 2 of each word for its four bytes, each of which wants a bit */
    const vec_bits byte = (v_lane_starts() + (uint32_t)i / 2) * 0x01010101;
    const __m256i bit = _mm256_set1_epi32(i % 2 ? (int)0x80402010 : 0x08040201);
    __m256i b = _mm256_shuffle_epi8((__m256i)w, (__m256i)byte);

    return (vec_bits)_mm256_cmpeq_epi8(_mm256_and_si256(b, bit), bit) &
           0x01010101u << to;
}

INLINE vec_bits
v_bytes_as_int16_pairs(vec_bits w, int i, int j)
{
    return (vec_bits)_mm256_shuffle_epi8((__m256i)w,
                                         (__m256i)v_two_bytes(i, j));
}

INLINE vec_bits
v_dot2_int16(vec_bits a, vec_bits b)
{
    return (vec_bits)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

INLINE vec
v_as_floats(vec_bits w)
{
    return _mm256_cvtepi32_ps((__m256i)w);
}

#define HAS_CODEBOOK_GEMV
#include "cpu/x86/codebook_avx2.h"

/* Rows 0 to 3, then 4 to 7. */
INLINE vec_bits
v_group_sums(const row_words *s, int g)
{
    __m256i a = (__m256i)s[0], b = (__m256i)s[1];

    return (vec_bits)(g ? _mm256_permute2x128_si256(a, b, 0x31)
                        : _mm256_permute2x128_si256(a, b, 0x20));
}

#endif
