/* codebook_avx2.h - functions of unpack_codebook.h, with AVX2 */
#ifndef CPU_X86_CODEBOOK_AVX2_H
#define CPU_X86_CODEBOOK_AVX2_H

#define ROW_WORDS

INLINE row_halves
v_widen(row_bytes v, int half)
{
    return (row_halves)_mm256_cvtepu8_epi16(
        half ? _mm256_extracti128_si256((__m256i)v, 1)
             : _mm256_castsi256_si128((__m256i)v));
}

INLINE row_bytes
v_narrow_halves(const row_halves *v)
{
    return (row_bytes)_mm256_permute4x64_epi64(
        _mm256_packus_epi16((__m256i)v[0], (__m256i)v[1]),
        _MM_SHUFFLE(3, 1, 2, 0));
}

/* The parity of each byte's seven bits, from two sums of four. */
INLINE row_bytes
v_parity_bits(row_bytes v)
{
    const __m256i odd = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0,
                      -128, -128, 0));
    __m256i w = (__m256i)v;

    w = _mm256_and_si256(_mm256_xor_si256(w, _mm256_srli_epi16(w, 4)),
                         _mm256_set1_epi8(15));
    return (row_bytes)_mm256_shuffle_epi8(odd, w);
}

#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define MULTIPLY_FOURS(w, x)                                                   \
    _mm256_dpbusd_epi32(_mm256_setzero_si256(), (__m256i)(w), (__m256i)(x))
#elif defined(__AVXVNNI__)
#define MULTIPLY_FOURS(w, x)                                                   \
    _mm256_dpbusd_avx_epi32(_mm256_setzero_si256(), (__m256i)(w), (__m256i)(x))
#endif

INLINE row_words
v_sums_of_four(const row_bytes *w, const row_bytes *x)
{
    __m256i s[4];

/* of each 16 bytes, a's halves added and b's, whose order does not matter */
#define ADD_HALVES(add, a, b)                                                  \
    add(_mm256_alignr_epi8(b, a, 8), _mm256_blend_epi32(a, b, 0xcc))
/* one of two words of each half of a and b, in order */
#define ONE_OF_TWO(a, b, i)                                                    \
    ((row_words)_mm256_shuffle_ps((__m256)(a), (__m256)(b), 0x88 + 0x55 * (i)))
#ifdef MULTIPLY_FOURS
    UNROLL for (int i = 0; i < 4; i++) s[i] = MULTIPLY_FOURS(w[i], x[i]);
    UNROLL for (int i = 0; i < 4; i += 2) s[i] =
        ADD_HALVES(_mm256_add_epi32, s[i], s[i + 1]);
#else
    /* four products of at most 43 * 127 fit 16 bits */
    UNROLL for (int i = 0; i < 4; i++) s[i] =
        _mm256_maddubs_epi16((__m256i)w[i], (__m256i)x[i]);
    UNROLL for (int i = 0; i < 4; i += 2) s[i] = _mm256_madd_epi16(
        ADD_HALVES(_mm256_add_epi16, s[i], s[i + 1]), _mm256_set1_epi16(1));
#endif
    return ONE_OF_TWO(s[0], s[2], 0) + ONE_OF_TWO(s[0], s[2], 1);
#undef ONE_OF_TWO
#undef ADD_HALVES
}

#endif
