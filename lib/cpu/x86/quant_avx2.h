/* quant_avx2.h - the functions of quant_products.h with AVX2 */
#ifndef CPU_X86_QUANT_AVX2_H
#define CPU_X86_QUANT_AVX2_H

#include "cpu/x86/vector_avx2.h"
#include "cpu/gemm/lane_rows.h"

/* A tile: 9 integer sums in registers, or 8 where products of signed bytes take
 * more; the float sums, needed once in 8 words, are left to the cache. */
#define VECS(most)    ((most) ? 3 : 2)
#define COLS(most)    ((most) ? 3 : 4)
#define MAX_VECS      3
#define TILE          9
#define UNITS         16
#define CHAINS        1
#define SMALL_BATCH   4
#define SIGNED_OFFSET 0

/* Products of pairs, of at most 2 * most * 127, are added in 16 bits as long
 * as they fit; those of signed bytes, of two times 127 * 127, at once in 32. */
#define DOT_CHAIN_WORDS(most)                                                  \
    ((most) <= 15 ? 8 : (most) <= 31 ? 4 : (most) <= 63 ? 2 : 1)

/* So does a whole group's, if codes less the offset are small enough. */
#define LARGEST(f)                                                             \
    ((f).max_code - (f).offset > (f).offset ? (f).max_code - (f).offset        \
                                            : (f).offset)
#define SUMS_IN_INT16(f)                                                       \
    ((f).offset && LARGEST(f) * 127 * (f).group / 2 < 1 << 15)

/* Or that of two words, which are not added otherwise. */
#define SUMS_OF_TWO_WORDS(f)                                                   \
    ((f).offset && !SUMS_IN_INT16(f) && DOT_CHAIN_WORDS((f).max_code) == 1 &&  \
     LARGEST(f) * 127 * 4 < 1 << 15)

#define SCALES_IN_INT16(f)                                                     \
    (SUMS_IN_INT16(f) || SUMS_OF_TWO_WORDS(f) ||                               \
     DOT_CHAIN_WORDS((f).max_code) * 4 >= (f).group)

INLINE vec_bits
v_subtract_int16_pairs(vec_bits w, int n)
{
    return (vec_bits)_mm256_sub_epi16((__m256i)w, _mm256_set1_epi16((short)n));
}

INLINE vec_bits
v_sum_int16_pairs(vec_bits w)
{
    return (vec_bits)_mm256_madd_epi16((__m256i)w, _mm256_set1_epi16(1));
}

INLINE vec_bits
v_add_int16_pairs(vec_bits a, vec_bits b)
{
    return (vec_bits)_mm256_add_epi16((__m256i)a, (__m256i)b);
}

INLINE vec_bits
v_scale_int16_pairs(vec_bits w, int n)
{
    return (vec_bits)_mm256_mullo_epi16((__m256i)w,
                                        _mm256_set1_epi16((short)n));
}

INLINE vec_bits
v_two_word_offsets(int offset, int n, const char *q)
{
    __m256i v =
        n == 32 ? _mm256_loadu_si256(AS(__m256i, q))
                : _mm256_broadcastsi128_si256(_mm_loadu_si128(AS(__m128i, q)));

    v = _mm256_maddubs_epi16(_mm256_set1_epi8((char)offset), v);
    v = _mm256_add_epi16(v, _mm256_shuffle_epi32(v, 0xb1));
    return (vec_bits)_mm256_sub_epi16(_mm256_setzero_si256(), v);
}

INLINE vec_bits
v_dot_begin(vec_bits total)
{
    (void)total;
    return (vec_bits){ 0 };
}

/* vpmaddubsw wants one side unsigned: |w|, and x with the sign of w. A compiler
 * that put off additions ran out of registers. */
INLINE vec_bits
v_dot_step(vec_bits s, vec_bits w, int32_t x, int most)
{
    __m256i c = (__m256i)w, v = _mm256_set1_epi32(x);

    if (most)
        s = v_add_int16_pairs(s, (vec_bits)_mm256_maddubs_epi16(c, v));
    else
        s += v_sum_int16_pairs((vec_bits)_mm256_maddubs_epi16(
            _mm256_abs_epi8(c), _mm256_sign_epi8(v, c)));
    IN_REGISTER(s);
    return s;
}

/* Unlike vpsignb, the complement of x, -x - 1, takes no multiplier's time. */
#define HAS_SIGNED_MAGNITUDES

INLINE vec_bits
v_add_signed(vec_bits s, vec_bits w, vec_bits sign, int32_t x)
{
    vec_bits v = v_splat_bits(x) ^ sign;

    s += v_sum_int16_pairs(
        (vec_bits)_mm256_maddubs_epi16((__m256i)w, (__m256i)v));
    IN_REGISTER(s);
    return s;
}

/* The magnitudes of what is negative; those of a group fit in 16 bits. */
INLINE vec_bits
v_split_signs(vec_bits *w, int n, vec_bits *signs)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i s = zero;

    UNROLL for (int i = 0; i < n; i++)
    {
        __m256i c = (__m256i)w[i], size = _mm256_abs_epi8(c);
        __m256i minus = _mm256_cmpgt_epi8(zero, c);

        s = _mm256_add_epi16(s, _mm256_maddubs_epi16(size, minus));
        signs[i] = (vec_bits)minus;
        w[i] = (vec_bits)size;
    }
    return (vec_bits)_mm256_madd_epi16(s, _mm256_set1_epi16(-1));
}

INLINE vec_bits
v_dot_end(vec_bits total, vec_bits s, int most)
{
    return total + (most ? v_sum_int16_pairs(s) : s);
}

#include "cpu/x86/quant_avx.h"

/* Products that other files of this set have. */
void
cpu_avx2_minima_products(struct cpu_kernels *k);
void
cpu_avx2_codebook_products(struct cpu_kernels *k);

#endif
