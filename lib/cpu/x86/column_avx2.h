/* column_avx2.h - a column for products with weights of block formats, with
 * AVX2
 *
 * Included after quant_products.h. */
#ifndef CPU_X86_COLUMN_AVX2_H
#define CPU_X86_COLUMN_AVX2_H

/* The largest magnitude of 32 floats; a NaN, if there is one: magnitudes are in
 * the order of their bits, NaN after infinity. */
INLINE float
largest_magnitude(const __m256 *v)
{
    const __m256i sign = _mm256_set1_epi32(INT32_MIN);
    __m256i a[4];
    __m128i q;

    UNROLL for (int j = 0; j < 4; j++) a[j] =
        _mm256_andnot_si256(sign, _mm256_castps_si256(v[j]));
    a[0] = _mm256_max_epi32(_mm256_max_epi32(a[0], a[1]),
                            _mm256_max_epi32(a[2], a[3]));
    q = _mm_max_epi32(_mm256_castsi256_si128(a[0]),
                      _mm256_extracti128_si256(a[0], 1));
    q = _mm_max_epi32(q, _mm_shuffle_epi32(q, 0x4e));
    q = _mm_max_epi32(q, _mm_shuffle_epi32(q, 0xb1));
    return _mm_cvtss_f32(_mm_castsi128_ps(q));
}

/* Four times eight integers as bytes, in order; what overflowed is none less
 * than the others. */
INLINE __m256i
to_bytes(const __m256i *q)
{
    __m256i v = _mm256_packs_epi16(_mm256_packs_epi32(q[0], q[1]),
                                   _mm256_packs_epi32(q[2], q[3]));

    v = _mm256_max_epi8(v, _mm256_set1_epi8(-127));
    return _mm256_permutevar8x32_epi32(
        v, _mm256_set_epi32(7, 3, 6, 2, 5, 1, 4, 0));
}

/* See cpu_column_block_sums(). */
INLINE void
sum_block(__m256i bytes, int16_t *sums)
{
    __m256i s = _mm256_maddubs_epi16(_mm256_set1_epi8(1), bytes);

    s = _mm256_add_epi16(s, _mm256_shuffle_epi32(s, 0x4e));
    s = _mm256_add_epi16(s, _mm256_shuffle_epi32(s, 0xb1));
    _mm_storel_epi64(AS_OUT(__m128i, sums),
                     _mm_unpacklo_epi32(_mm256_castsi256_si128(s),
                                        _mm256_extracti128_si256(s, 1)));
}

/* See cpu_prepare_column(): the same bytes. */
static void
v_quantize_column(const float *x, void *column, int64_t k)
{
    struct column_arrays runs = cpu_column_arrays(column, k);
    char *q = column;

    for (int64_t b = 0; b < k / COLUMN_BLOCK; b++, x += COLUMN_BLOCK) {
        __m256 v[4], inverse;
        __m256i i[4], bytes;
        float amax;
        int16_t sums[4];

        UNROLL for (int j = 0; j < 4; j++) v[j] = _mm256_loadu_ps(x + 8 * j);
        amax = largest_magnitude(v);
        inverse = _mm256_set1_ps(amax > 0 ? 127 / amax : 0);
        UNROLL for (int j = 0; j < 4; j++) i[j] =
            _mm256_cvtps_epi32(_mm256_mul_ps(v[j], inverse));
        bytes = to_bytes(i);
        _mm256_storeu_si256(AS_OUT(__m256i, q + b * COLUMN_BLOCK), bytes);
        sum_block(bytes, sums);
        cpu_column_set_block(&runs, b, amax, sums);
    }
}

#endif
