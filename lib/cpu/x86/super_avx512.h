/* super_avx512.h - one column times Q4_K or Q6_K, eight rows side by side, with
 * AVX-512 VNNI
 *
 * Half of a block, four units of 32 values, is read at once, as in
 * fours_avx512.h: lanes are sums of four products or eight, a quarter for each
 * unit, and come together at the end. A unit adds two vectors to the elements:
 * its products and its minimum, or those of its two groups of 16.
 *
 * Included after fours_avx512.h. */
#ifndef CPU_X86_SUPER_AVX512_H
#define CPU_X86_SUPER_AVX512_H

#define HALVES 2 /* of a block */

/* Of four rows, a lane each in every quarter; of half a block, a quarter for
 * each unit: with what products are scaled, and the minima, or with what those
 * of second groups are. */
struct scales {
    __m512 first[HALVES], second[HALVES];
};

/* Sixteen bytes at `at` of eight rows, four in each half: w[i] = word i of
 * each. */
INLINE void
load_words_16(const struct rows *r, size_t at, __m256i *w)
{
    __m256i v[FOUR], a, b, c, d;

#define ROW(i) _mm_loadu_si128(AS(__m128i, row_at(r, i) + at))
    UNROLL for (int i = 0; i < FOUR; i++) v[i] = _mm256_inserti128_si256(
        _mm256_castsi128_si256(ROW(i)), ROW(i + FOUR), 1);
#undef ROW
    a = _mm256_unpacklo_epi32(v[0], v[1]);
    b = _mm256_unpackhi_epi32(v[0], v[1]);
    c = _mm256_unpacklo_epi32(v[2], v[3]);
    d = _mm256_unpackhi_epi32(v[2], v[3]);
    w[0] = _mm256_unpacklo_epi64(a, c);
    w[1] = _mm256_unpackhi_epi64(a, c);
    w[2] = _mm256_unpacklo_epi64(b, d);
    w[3] = _mm256_unpackhi_epi64(b, d);
}

/* Rows 0 to 3, or 4 to 7. */
INLINE __m128i
rows_of(__m256i v, int i)
{
    return i ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v);
}

INLINE __m512
times_bytes(__m512 d, __m128i bytes)
{
    return d * _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
}

INLINE __m512
times_signed(__m512 d, __m128i bytes)
{
    return d * _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes));
}

/* See scales_k(). */
INLINE void
scales_of_q4_k(const struct rows *r, struct scales *s)
{
    const __m256i six = _mm256_set1_epi8(0x3f), four = _mm256_set1_epi8(0x0f);
    const __m256i two = _mm256_set1_epi8(0x30);
    /* bytes 0 of four words, then bytes 1, and so on; d, then dmin */
    const __m256i bytes = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __m256i heads = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    __m256i w[4], scale[HALVES], min[HALVES];
    __m512 d[2], dmin[2], all;

    load_words_16(r, 0, w);
    all = _mm512_cvtph_ps(_mm256_shuffle_epi8(w[0], heads));
    d[0] = _mm512_shuffle_f32x4(all, all, 0x00);
    dmin[0] = _mm512_shuffle_f32x4(all, all, 0x55);
    d[1] = _mm512_shuffle_f32x4(all, all, 0xaa);
    dmin[1] = _mm512_shuffle_f32x4(all, all, 0xff);
    scale[0] = w[1] & six;
    min[0] = w[2] & six;
    scale[1] = (w[3] & four) | (_mm256_srli_epi16(w[1], 2) & two);
    min[1] = (_mm256_srli_epi16(w[3], 4) & four) |
             (_mm256_srli_epi16(w[2], 2) & two);
    UNROLL for (int n = 0; n < HALVES; n++)
    {
        scale[n] = _mm256_shuffle_epi8(scale[n], bytes);
        min[n] = _mm256_shuffle_epi8(min[n], bytes);
        UNROLL for (int i = 0; i < 2; i++)
        {
            s[i].first[n] = times_bytes(d[i], rows_of(scale[n], i));
            s[i].second[n] = times_bytes(dmin[i], rows_of(min[n], i));
        }
    }
}

INLINE __m128
d_of_q6_k(const struct rows *r, int row)
{
    uint16_t h[FOUR];

    UNROLL for (int i = 0; i < FOUR; i++)
        memcpy(&h[i], row_at(r, row + i) + AT(q6_k, d), sizeof(h[i]));
    return _mm_cvtph_ps(_mm_setr_epi16((short)h[0], (short)h[1], (short)h[2],
                                       (short)h[3], 0, 0, 0, 0));
}

/* Of the groups of a half, those with even numbers are first ones of units. */
INLINE void
scales_of_q6_k(const struct rows *r, struct scales *s)
{
    const __m256i even_odd = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
    __m256i w[4], first, second;
    __m512 d[2];

    UNROLL for (int i = 0; i < 2; i++) d[i] =
        _mm512_broadcast_f32x4(d_of_q6_k(r, FOUR * i));
    load_words_16(r, AT(q6_k, scales), w);
    UNROLL for (int i = 0; i < 4; i++) w[i] =
        _mm256_shuffle_epi8(w[i], even_odd);
    UNROLL for (int n = 0; n < HALVES; n++)
    {
        first = _mm256_unpacklo_epi64(w[2 * n], w[2 * n + 1]);
        second = _mm256_unpackhi_epi64(w[2 * n], w[2 * n + 1]);
        UNROLL for (int i = 0; i < 2; i++)
        {
            s[i].first[n] = times_signed(d[i], rows_of(first, i));
            s[i].second[n] = times_signed(d[i], rows_of(second, i));
        }
    }
}

/* The sums of a half's units, of one row. */
INLINE __m512i
sum_q4_k(const char *p, const struct four *x)
{
    const __m512i shift = _mm512_set_epi64(4, 4, 0, 0, 4, 4, 0, 0);
    __m512i q = _mm512_loadu_si512(p);
    __m512i a = _mm512_srlv_epi64(_mm512_shuffle_i32x4(q, q, 0xa0), shift);
    __m512i b = _mm512_srlv_epi64(_mm512_shuffle_i32x4(q, q, 0xf5), shift);

    return sum_codes((vec_bits)a & NIBBLES, (vec_bits)b & NIBBLES, x);
}

/* Sixteen values of each of a half's units: nibbles of quarters of q, and two
 * bits of h. */
INLINE __m512i
codes_of_q6_k(__m512i nibbles, const char *h)
{
    const __m512i shift = _mm512_set_epi64(4, 4, 4, 4, 0, 0, 0, 0);
    const __m512i turn = _mm512_set_epi64(62, 62, 0, 0, 2, 2, 4, 4);
    __m512i bits = _mm512_broadcast_i32x4(_mm_loadu_si128(AS(__m128i, h)));

    bits = _mm512_rolv_epi64(bits, turn);
    nibbles = _mm512_srlv_epi64(nibbles, shift);
    return (__m512i)(((vec_bits)nibbles & NIBBLES) |
                     ((vec_bits)bits & 0x30303030u));
}

INLINE void
sum_q6_k(const char *ql, const char *qh, const struct four *x, __m512i *first,
         __m512i *second)
{
    __m512i q = _mm512_loadu_si512(ql);

    *first = _mm512_dpbusd_epi32(
        _mm512_setzero_si512(),
        codes_of_q6_k(_mm512_shuffle_i32x4(q, q, 0x88), qh), x->low);
    *second = _mm512_dpbusd_epi32(
        _mm512_setzero_si512(),
        codes_of_q6_k(_mm512_shuffle_i32x4(q, q, 0xdd), qh + 16), x->high);
}

/* As add_fours(), where one sum fits 16 bits, but not two. */
INLINE __m512i
add_sixteens(const __m512i *s, __m512i start)
{
    const __m512i ones = _mm512_set1_epi16(1);
    __m512 a = _mm512_castsi512_ps(
        _mm512_madd_epi16(_mm512_packs_epi32(s[0], s[1]), ones));
    __m512 b = _mm512_castsi512_ps(
        _mm512_madd_epi16(_mm512_packs_epi32(s[2], s[3]), ones));
    vec_bits even =
        (vec_bits)_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88));
    vec_bits odd = (vec_bits)_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd));

    return (__m512i)(even + odd + (vec_bits)start);
}

/* Half a block of the column. */
struct half {
    struct four four;
    __m512 minus_weighed; /* Q4_K */
    __m512i start[2];     /* Q6_K: of first and second groups */
};

INLINE struct half
half_of_column(bool min, const char *col, int64_t k, int64_t unit)
{
    const __m512i each =
        _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    const struct blocks f = { .offset = 0 };
    struct half h = { .four = four_of_column(f, col, k, unit) };

    if (min) {
        h.minus_weighed = _mm512_permutexvar_ps(
            each, _mm512_castps128_ps512(
                      _mm_loadu_ps(column_minus_weighed(col, k) + unit)));
    } else {
        __m512i minus = _mm512_slli_epi32(
            _mm512_castsi256_si512(_mm256_loadu_si256(
                AS(__m256i, column_minus_halves(col, k) + 2 * unit))),
            5);
        __m512i even = _mm512_slli_epi32(each, 1);

        h.start[0] = _mm512_permutexvar_epi32(even, minus);
        h.start[1] = _mm512_permutexvar_epi32(
            _mm512_or_si512(even, _mm512_set1_epi32(1)), minus);
    }
    return h;
}

/* What half n of a block adds to the elements of four rows: two vectors, a
 * quarter for each unit and a lane for each row. */
INLINE void
four_halves(bool min, const struct rows *r, int row, int n,
            const struct half *x, const struct scales *s, const char *next,
            __m512 *out)
{
    const struct blocks f = { .size = min ? sizeof(struct block_q4_k) / 2
                                          : sizeof(struct block_q6_k) / 2 };
    __m512i first[FOUR], second[FOUR];

    UNROLL for (int i = 0; i < FOUR; i++)
    {
        const char *p = row_at(r, row + i);

        if (min)
            first[i] = sum_q4_k(p + AT(q4_k, qs) + LINE * n, &x->four);
        else
            sum_q6_k(p + AT(q6_k, ql) + LINE * n, p + AT(q6_k, qh) + 32 * n,
                     &x->four, &first[i], &second[i]);
        fetch_row_part(f, next, row + i);
        AFTER(next, first[i]);
    }
    if (min) {
        out[0] =
            _mm512_cvtepi32_ps(add_fours(f, first, _mm512_setzero_si512())) *
            (s->first[n] * x->four.d);
        out[1] = s->second[n] * x->minus_weighed;
    } else {
        out[0] = _mm512_cvtepi32_ps(add_sixteens(first, x->start[0])) *
                 (s->first[n] * x->four.d);
        out[1] = _mm512_cvtepi32_ps(add_sixteens(second, x->start[1])) *
                 (s->second[n] * x->four.d);
    }
}

/* Quarters i of four rows and four more, first those of v[0], then of v[1]. */
INLINE __m256
add_pairs_of_quarters(__m256 acc, const __m512 *a, const __m512 *b)
{
    const __m512i low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);

    UNROLL for (int i = 0; i < 2; i++)
    {
        const __m512i at = i ? high : low;
        __m512 v[2];

        UNROLL for (int j = 0; j < 2; j++) v[j] =
            _mm512_castpd_ps(_mm512_permutex2var_pd(_mm512_castps_pd(a[j]), at,
                                                    _mm512_castps_pd(b[j])));
        acc += _mm512_castps512_ps256(v[0]);
        acc += _mm512_castps512_ps256(v[1]);
        acc += _mm512_extractf32x8_ps(v[0], 1);
        acc += _mm512_extractf32x8_ps(v[1], 1);
    }
    return acc;
}

INLINE __m256
one_column_by_halves(bool min, const struct cpu_product *p, struct rows r,
                     const char *next)
{
    const size_t size =
        min ? sizeof(struct block_q4_k) : sizeof(struct block_q6_k);
    __m256 acc = _mm256_setzero_ps();

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += MOST_UNITS) {
        struct scales s[2];

        if (min)
            scales_of_q4_k(&r, s);
        else
            scales_of_q6_k(&r, s);
        UNROLL for (int n = 0; n < HALVES; n++)
        {
            struct half x = half_of_column(min, p->cols, p->k, unit + FOUR * n);
            __m512 v[2][2];

            UNROLL for (int i = 0; i < 2; i++)
                four_halves(min, &r, FOUR * i, n, &x, &s[i], next, v[i]);
            acc = add_pairs_of_quarters(acc, v[0], v[1]);
            next += EIGHT * size / HALVES;
        }
        rows_advance(&r, size);
    }
    return acc;
}

INLINE bool
multiply_by_halves(bool min, const struct cpu_product *p)
{
    if (p->n_cols > 1 || p->n_rows < EIGHT)
        return false;
    for (int64_t r = 0; r < p->n_rows; r += EIGHT) {
        int64_t row = p->n_rows - r < EIGHT ? p->n_rows - EIGHT : r;

        _mm256_storeu_ps(
            p->out + row,
            one_column_by_halves(min, p, rows_at(p, row), ahead_of(p, r)));
    }
    return true;
}

static void
multiply_q4_k_by_halves(const struct cpu_product *p)
{
    if (!multiply_by_halves(true, p))
        multiply_q4_k(p);
}

static void
multiply_q6_k_by_halves(const struct cpu_product *p)
{
    if (!multiply_by_halves(false, p))
        multiply_q6_k(p);
}

static void
fill_halves(struct cpu_kernels *k)
{
    put_fours(&k->mul_mat[GGML_TYPE_Q4_K], multiply_q4_k_by_halves);
    put_fours(&k->mul_mat[GGML_TYPE_Q6_K], multiply_q6_k_by_halves);
}

#endif
