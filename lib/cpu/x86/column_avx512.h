/* column_avx512.h - columns in eight bits (column.h), with AVX-512 VNNI
 *
 * Sixteen blocks side by side: what is one number of a block, as its greatest
 * value, its scale and its sum, is a lane of one vector for all of them. */
#ifndef CPU_X86_COLUMN_AVX512_H
#define CPU_X86_COLUMN_AVX512_H

#include "core/half.h"

#define SIDE_BLOCKS 16

/* The greater of the halves, quarters ... of vectors: those of a before those
 * of b, which a shuffle chooses by `low` and `high`. */
#define GREATER(shuffle, a, b, low, high)                                      \
    greater(shuffle(a, b, low), shuffle(a, b, high))

/* The greater of magnitudes, which are in the order of their bits, NaN after
 * infinity. */
INLINE __m512
greater(__m512 a, __m512 b)
{
    return _mm512_castsi512_ps(
        _mm512_max_epi32(_mm512_castps_si512(a), _mm512_castps_si512(b)));
}

/* Lane i of each quarter in turn: from quarters of four, four of quarters. */
INLINE __m512i
by_lanes(void)
{
    return _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11,
                             15);
}

/* The greatest magnitude of each block. */
INLINE __m512
greatest(const float *x)
{
    __m512 m[SIDE_BLOCKS];

    UNROLL for (int b = 0; b < SIDE_BLOCKS; b++, x += COLUMN_BLOCK) m[b] =
        greater(_mm512_abs_ps(_mm512_loadu_ps(x)),
                _mm512_abs_ps(_mm512_loadu_ps(x + 16)));
    UNROLL for (int b = 0; b < 8; b++) m[b] =
        GREATER(_mm512_shuffle_f32x4, m[2 * b], m[2 * b + 1], 0x44, 0xee);
    UNROLL for (int b = 0; b < 4; b++) m[b] =
        GREATER(_mm512_shuffle_f32x4, m[2 * b], m[2 * b + 1], 0x88, 0xdd);
    /* a quarter of m[b] is of block 4 b and those after it */
    m[0] = GREATER(_mm512_shuffle_ps, m[0], m[1], 0x44, 0xee);
    m[1] = GREATER(_mm512_shuffle_ps, m[2], m[3], 0x44, 0xee);
    return _mm512_permutexvar_ps(
        by_lanes(), GREATER(_mm512_shuffle_ps, m[0], m[1], 0x88, 0xdd));
}

/* Sums of halves of the blocks, in pairs of 16 bits, from w[i], where each of
 * four lanes is a quarter of one: of eight blocks. */
INLINE __m512i
sum_quarters(const __m512i *w)
{
    __m512i a = _mm512_add_epi16(_mm512_unpacklo_epi32(w[0], w[1]),
                                 _mm512_unpackhi_epi32(w[0], w[1]));
    __m512i b = _mm512_add_epi16(_mm512_unpacklo_epi32(w[2], w[3]),
                                 _mm512_unpackhi_epi32(w[2], w[3]));

    return _mm512_permutexvar_epi32(
        by_lanes(), _mm512_add_epi16(_mm512_unpacklo_epi64(a, b),
                                     _mm512_unpackhi_epi64(a, b)));
}

/* The figures of the blocks from block b on, whose integers are at q. */
INLINE void
put_figures(const struct column_arrays *runs, int64_t b, const char *q,
            __m512 d)
{
    const __m512i zero = _mm512_setzero_si512(), one = _mm512_set1_epi8(1);
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18,
                                           20, 22, 24, 26, 28, 30);
    __m512i w[8], pairs[2], half[2], minus;

    /* of what is stored: NaN and infinity make integers that overflow */
    UNROLL for (int i = 0; i < 8; i++) w[i] =
        _mm512_maddubs_epi16(one, _mm512_loadu_si512(q + 64 * i));
    UNROLL for (int i = 0; i < 2; i++)
    {
        pairs[i] = _mm512_sub_epi16(zero, sum_quarters(w + 4 * i));
        half[i] = _mm512_madd_epi16(pairs[i], _mm512_set1_epi16(1));
    }
    UNROLL for (int i = 0; i < 2; i++)
        _mm256_storeu_si256(AS_OUT(__m256i, runs->neg_sums_16 + 2 * b + 16 * i),
                            _mm512_cvtepi32_epi16(half[i]));
    minus = _mm512_add_epi32(
        _mm512_permutex2var_epi32(half[0], even, half[1]),
        _mm512_permutex2var_epi32(
            half[0], _mm512_add_epi32(even, _mm512_set1_epi32(1)), half[1]));
    _mm512_storeu_ps(runs->d + b, d);
    _mm512_storeu_si512(runs->neg_sums + b, minus);
    _mm512_storeu_ps(runs->scaled_neg_sums + b,
                     _mm512_mul_ps(d, _mm512_cvtepi32_ps(minus)));
    UNROLL for (int i = 0; i < 2; i++)
        _mm512_storeu_si512(runs->neg_int16_pairs + 4 * b + 32 * i, pairs[i]);
}

INLINE void
put_integers(char *q, const float *x, __m512 inverse)
{
    _mm_storeu_si128(AS_OUT(__m128i, q),
                     _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(
                         _mm512_mul_ps(_mm512_loadu_ps(x), inverse))));
}

/* Blocks from block b on, whose values begin at x: sixteen. */
INLINE void
prepare_side(const struct column_arrays *runs, char *column, int64_t b,
             const float *x)
{
    const __m512 most = _mm512_set1_ps(127);
    __m512 amax = greatest(x);
    __m512 inverse = _mm512_maskz_div_ps(
        _mm512_cmp_ps_mask(amax, _mm512_setzero_ps(), _CMP_GT_OQ), most, amax);
    char *q = column + b * COLUMN_BLOCK;

    UNROLL for (int i = 0; i < SIDE_BLOCKS; i++)
    {
        __m512 each = _mm512_permutexvar_ps(_mm512_set1_epi32(i), inverse);

        put_integers(q + i * COLUMN_BLOCK, x + i * COLUMN_BLOCK, each);
        put_integers(q + i * COLUMN_BLOCK + 16, x + i * COLUMN_BLOCK + 16,
                     each);
    }
    put_figures(
        runs, b, q,
        _mm512_add_ps(_mm512_div_ps(amax, most), _mm512_sub_ps(amax, amax)));
}

INLINE void
prepare_block(const struct column_arrays *runs, char *column, int64_t b,
              const float *x)
{
    __m512 v0 = _mm512_loadu_ps(x), v1 = _mm512_loadu_ps(x + 16);
    float amax = core_bits_float((uint32_t)_mm512_reduce_max_epi32(
        _mm512_castps_si512(greater(_mm512_abs_ps(v0), _mm512_abs_ps(v1)))));
    __m512 inverse = _mm512_set1_ps(amax > 0 ? 127 / amax : 0);
    char *q = column + b * COLUMN_BLOCK;
    int16_t sums[4];

    put_integers(q, x, inverse);
    put_integers(q + 16, x + 16, inverse);
    cpu_column_block_sums(AS(int8_t, q), sums);
    cpu_column_set_block(runs, b, amax, sums);
}

/* See cpu_prepare_column(): the same bytes. Blocks left over go with those
 * before them, which come out as they did. */
static void
v_quantize_column(const float *x, void *column, int64_t k)
{
    struct column_arrays runs = cpu_column_arrays(column, k);
    int64_t n = k / COLUMN_BLOCK, b = 0;

    for (; b + SIDE_BLOCKS <= n; b += SIDE_BLOCKS)
        prepare_side(&runs, column, b, x + b * COLUMN_BLOCK);
    if (b > 0 && b < n) {
        b = n - SIDE_BLOCKS;
        prepare_side(&runs, column, b, x + b * COLUMN_BLOCK);
        return;
    }
    for (; b < n; b++)
        prepare_block(&runs, column, b, x + b * COLUMN_BLOCK);
}

#endif
