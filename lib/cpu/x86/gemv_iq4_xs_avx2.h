/* gemv_iq4_xs_avx2.h - GEMV with IQ4_XS, two units of a row at once,
 * with AVX2
 *
 * Sixteen bytes of nibbles are a unit of 32 values: low ones, then high ones.
 * Two of these lie side by side; lanes are sums of products, four of each unit,
 * which come together at the end: of four rows those of a unit, side by side.
 * So elements are computed as column.h says.
 *
 * vpmaddubsw wants one side unsigned: magnitudes of the column, and levels that
 * have its signs. Where x is negative a level's complement, -w - 1, stands for
 * -w, so that sums lack these magnitudes, which are the same for all rows.
 *
 * Included after quant_types.h. */
#ifndef CPU_X86_GEMV_IQ4_XS_AVX2_H
#define CPU_X86_GEMV_IQ4_XS_AVX2_H

#include <stdalign.h>

/* Two units of the column, in the scratch: low nibbles' values, then high
 * ones'; and of each unit the sum of the magnitudes of negative values. */
struct column_by_two {
    __m256i magnitudes[2], minus[2];
    alignas(sizeof(__m256i)) int32_t negatives[2];
};

INLINE int32_t
sum_negatives(__m256i x)
{
    __m256i less = _mm256_min_epi8(x, _mm256_setzero_si256());
    __m256i s = (__m256i)v_sum_int16_pairs(
        (vec_bits)_mm256_maddubs_epi16(_mm256_set1_epi8(1), less));
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(s),
                                 _mm256_extracti128_si256(s, 1));

    four = _mm_hadd_epi32(four, four);
    return -_mm_cvtsi128_si32(_mm_hadd_epi32(four, four));
}

static void
order_by_two(const struct cpu_product *p)
{
    struct column_by_two *to = p->scratch;

    for (int64_t k = 0; k < p->k; k += 2 * COLUMN_BLOCK, to++) {
        const __m256i *x = AS(__m256i, p->cols + k);
        __m256i a = _mm256_loadu_si256(x), b = _mm256_loadu_si256(x + 1);
        __m256i parts[2] = { _mm256_permute2x128_si256(a, b, 0x20),
                             _mm256_permute2x128_si256(a, b, 0x31) };

        for (int i = 0; i < 2; i++) {
            to->magnitudes[i] = _mm256_abs_epi8(parts[i]);
            to->minus[i] = _mm256_cmpgt_epi8(_mm256_setzero_si256(), parts[i]);
        }
        to->negatives[0] = sum_negatives(a);
        to->negatives[1] = sum_negatives(b);
    }
}

/* Sums of eight products each, of two units at p. */
INLINE vec_bits
sum_two_units(const struct column_by_two *x, __m256i levels, const char *p)
{
    __m256i codes = _mm256_loadu_si256(AS(__m256i, p));
    vec_bits s[2];

    IN_REGISTER(codes);
    UNROLL for (int i = 0; i < 2; i++)
    {
        __m256i w =
            _mm256_shuffle_epi8(levels, (__m256i)v_nibbles((vec_bits)codes, i));

        w = _mm256_xor_si256(w, x->minus[i]);
        s[i] = v_sum_int16_pairs(
            (vec_bits)_mm256_maddubs_epi16(x->magnitudes[i], w));
    }
    return s[0] + s[1];
}

INLINE __m256i
add_neighbours(__m256i a, __m256i b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b),
                            _mm256_unpackhi_epi32(a, b));
}

INLINE __m256i
add_twos(__m256i a, __m256i b)
{
    return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b),
                            _mm256_unpackhi_epi64(a, b));
}

/* Sums of four rows from 4 * four on: those of a unit, then of the next. */
INLINE __m256i
sum_four_rows(struct rows *r, int four, int unit, const struct column_by_two *x,
              __m256i levels)
{
    const size_t at = AT(iq4_xs, qs) + (size_t)unit * COLUMN_BLOCK / 2;
    __m256i s[4];

    UNROLL for (int i = 0; i < 4; i++)
    {
        s[i] = (__m256i)sum_two_units(x, levels,
                                      cpu_weight_row(r, 4 * four + i) + at);
        if (i % 2)
            s[i - 1] = add_neighbours(s[i - 1], s[i]);
        AFTER(r->fourth[four], s[i / 2 * 2]);
    }
    return add_twos(s[0], s[2]);
}

/* GEMV of VEC rows. */
INLINE void
gemv_by_two(const struct cpu_product *p, int64_t row, const char *next)
{
    const struct format f = { .size = sizeof(struct block_iq4_xs) };
    struct rows r = cpu_weight_rows(p, row);
    const __m256i levels = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(AS(__m128i, quant_iq4_levels)));
    vec acc = { 0 };

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += MAX_UNITS) {
        vec scales[MAX_UNITS];

        cpu_scales_iq4_xs(&r, scales);
        UNROLL for (int u = 0; u < MAX_UNITS; u += 2)
        {
            const struct column_by_two x =
                AS(struct column_by_two, p->scratch)[(unit + u) / 2];
            const float *d = cpu_column_scales(p->cols, p->k) + unit + u;
            __m256i a = sum_four_rows(&r, 0, u, &x, levels);
            __m256i b = sum_four_rows(&r, 1, u, &x, levels);
            vec_bits s[2] = { (vec_bits)_mm256_permute2x128_si256(a, b, 0x20),
                              (vec_bits)_mm256_permute2x128_si256(a, b, 0x31) };

            UNROLL for (int i = 0; i < 2; i++) acc +=
                v_as_floats(s[i] + v_splat_bits(x.negatives[i])) *
                (scales[u + i] * v_splat(d[i]));
            cpu_prefetch_part(f, next, u / 2, MAX_UNITS / 2, true);
        }
        next += VEC * f.size;
        cpu_rows_advance(&r, f.size);
    }
    v_store_f32(p->out + row, acc);
}

static void
multiply_iq4_xs_by_two(const struct cpu_product *p)
{
    const struct format f = { .order = order_by_two, .gemv = gemv_by_two };

    if (!cpu_multiply_gemv(p, f))
        multiply_iq4_xs(p);
}

static size_t
ordered_size(int64_t k, int64_t n_rows, int64_t n_cols)
{
    (void)n_rows, (void)n_cols;
    return (size_t)(k / (2 * COLUMN_BLOCK)) * sizeof(struct column_by_two);
}

static void
cpu_fill_iq4_xs_gemv(struct cpu_kernels *k)
{
    k->mul_mat[GGML_TYPE_IQ4_XS].multiply = multiply_iq4_xs_by_two;
    k->mul_mat[GGML_TYPE_IQ4_XS].scratch_size = ordered_size;
}

#endif
