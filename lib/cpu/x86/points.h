/* points.h - words of vector_points.h for one column, with AVX2 */
#ifndef CPU_X86_POINTS_H
#define CPU_X86_POINTS_H

typedef uint8_t row_bytes __attribute__((vector_size(32)));
typedef uint16_t row_halves __attribute__((vector_size(32)));
typedef uint32_t row_words __attribute__((vector_size(32)));

#define WIDENS

INLINE row_halves
widen(row_bytes v, int half)
{
    return (row_halves)_mm256_cvtepu8_epi16(
        half ? _mm256_extracti128_si256((__m256i)v, 1)
             : _mm256_castsi256_si128((__m256i)v));
}

INLINE row_bytes
narrow_halves(const row_halves *v)
{
    return (row_bytes)_mm256_permute4x64_epi64(
        _mm256_packus_epi16((__m256i)v[0], (__m256i)v[1]),
        _MM_SHUFFLE(3, 1, 2, 0));
}

/* Bytes of points are at most 62, so that two products fit 16 bits. */
INLINE row_words
multiply_fours(row_bytes w, row_bytes x)
{
#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
    return (row_words)_mm256_dpbusd_epi32(_mm256_setzero_si256(), (__m256i)w,
                                          (__m256i)x);
#elif defined(__AVXVNNI__)
    return (row_words)_mm256_dpbusd_avx_epi32(_mm256_setzero_si256(),
                                              (__m256i)w, (__m256i)x);
#else
    return (row_words)_mm256_madd_epi16(
        _mm256_maddubs_epi16((__m256i)w, (__m256i)x), _mm256_set1_epi16(1));
#endif
}

INLINE row_words
join_sums(const row_words *s)
{
    return (row_words)_mm256_hadd_epi32(
        _mm256_hadd_epi32((__m256i)s[0], (__m256i)s[1]),
        _mm256_hadd_epi32((__m256i)s[2], (__m256i)s[3]));
}

#endif
