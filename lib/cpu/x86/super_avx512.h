/* super_avx512.h - one column times Q4_K, Q5_K or Q6_K, eight rows side by
 * side, with AVX-512 VNNI
 *
 * Half of a block, four units of 32 values, is two vectors of codes of each
 * row, its nibbles as they lie: the low ones and the high ones. Lanes are sums
 * of four products, a quarter for sixteen values, and come together at the
 * end, those of four rows in one vector. A unit adds two vectors to the
 * elements: its products and its minimum, or those of its two groups of 16.
 *
 * Included after fours_avx512.h. */
#ifndef CPU_X86_SUPER_AVX512_H
#define CPU_X86_SUPER_AVX512_H

#define HALVES 2 /* of a block */

/* Of a type. */
struct super {
    size_t size;      /* bytes of a block */
    size_t low, high; /* where nibbles are, and the other bits of codes */
    int bits;         /* of a code */
    bool min;         /* eight minima, otherwise groups of 16 */
};

static const struct super super_q4_k = { .size = sizeof(struct block_q4_k),
                                         .low = AT(q4_k, qs),
                                         .bits = 4,
                                         .min = true };
static const struct super super_q5_k = { .size = sizeof(struct block_q5_k),
                                         .low = AT(q5_k, qs),
                                         .high = AT(q5_k, qh),
                                         .bits = 5,
                                         .min = true };
static const struct super super_q6_k = { .size = sizeof(struct block_q6_k),
                                         .low = AT(q6_k, ql),
                                         .high = AT(q6_k, qh),
                                         .bits = 6 };

/* Of four rows, a lane each in every quarter; of half a block: with what
 * products are scaled, and the minima, a quarter for each unit, or with what
 * those of the first four groups are, and those of the others. */
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

/* In each half bytes 0 of its four words, then bytes 1, and so on. */
INLINE __m256i
by_bytes(__m256i words)
{
    return _mm256_shuffle_epi8(
        words, _mm256_broadcastsi128_si256(_mm_setr_epi8(
                   0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15)));
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
    /* d, then dmin */
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
        scale[n] = by_bytes(scale[n]);
        min[n] = by_bytes(min[n]);
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

INLINE void
scales_of_q6_k(const struct rows *r, struct scales *s)
{
    __m256i w[2 * HALVES];

    load_words_16(r, AT(q6_k, scales), w);
    UNROLL for (int i = 0; i < 2; i++)
    {
        __m512 d = _mm512_broadcast_f32x4(d_of_q6_k(r, FOUR * i));

        UNROLL for (int n = 0; n < HALVES; n++)
        {
            s[i].first[n] = times_signed(d, rows_of(by_bytes(w[2 * n]), i));
            s[i].second[n] =
                times_signed(d, rows_of(by_bytes(w[2 * n + 1]), i));
        }
    }
}

/* Half a block of the column: what low nibbles meet, and high ones. */
struct half {
    __m512i x[2];
    __m512i start[2];     /* what each lane begins with, to fit 16 bits */
    __m512 d[2];          /* a quarter for each unit; [1] of Q6_K */
    __m512 minus_weighed; /* of types with minima */
};

INLINE struct half
half_of_column(const struct super *t, const char *col, int64_t k, int64_t unit)
{
    const __m512i zero = _mm512_setzero_si512(), all = _mm512_set1_epi8(32);
    const char *q = col + unit * COLUMN_BLOCK;
    const float *d = column_scales(col, k) + unit;
    const float *minus = column_minus_weighed(col, k) + unit;
    __m512i a = _mm512_loadu_si512(q), b = _mm512_loadu_si512(q + LINE);
    struct half h = { .start = { zero, zero } };

    if (t->min) {
        h.x[0] = _mm512_shuffle_i32x4(a, b, 0x44);
        h.x[1] = _mm512_shuffle_i32x4(a, b, 0xee);
        h.d[0] = four_of(d, 0, 1, 2, 3);
        h.minus_weighed = four_of(minus, 0, 1, 2, 3);
    } else {
        h.x[0] = a;
        h.x[1] = b;
        h.d[0] = four_of(d, 0, 0, 1, 1);
        h.d[1] = four_of(d, 2, 2, 3, 3);
        UNROLL for (int i = 0; i < 2; i++) h.start[i] =
            _mm512_sub_epi32(zero, _mm512_dpbusd_epi32(zero, all, h.x[i]));
    }
    return h;
}

/* Bits of codes above the nibbles, with others around them: those that belong
 * to low nibbles (i = 0) or to high ones of half n, from h, which has them
 * twice. */
INLINE vec_bits
upper_bits(const struct super *t, __m512i h, int n, int i)
{
    /* the first bit of each half of the vector is to be bit 4 */
    int a = t->min ? 4 * n + i : 4 * i;
    int left = (68 - a) % 64, right = (66 - a) % 64;
    const __m512i turn =
        _mm512_set_epi64(right, right, right, right, left, left, left, left);

    return (vec_bits)_mm512_rolv_epi64(h, turn);
}

/* Of half n of the block at p: sums of four products, those with low nibbles
 * and those with high ones. */
INLINE void
sum_half(const struct super *t, const char *p, int n, const struct half *x,
         __m512i *first, __m512i *second)
{
    const uint32_t upper = t->bits == 5 ? 0x10101010u : 0x30303030u;
    vec_bits q = (vec_bits)_mm512_loadu_si512(p + t->low + LINE * n);
    vec_bits low = q & NIBBLES, high = q >> 4 & NIBBLES;

    if (t->bits > 4) {
        __m512i h = _mm512_broadcast_i64x4(_mm256_loadu_si256(
            AS(__m256i, p + t->high + (t->min ? 0 : LINE / 2 * n))));

        low |= upper_bits(t, h, n, 0) & upper;
        high |= upper_bits(t, h, n, 1) & upper;
    }
    *first = _mm512_dpbusd_epi32(x->start[0], (__m512i)low, x->x[0]);
    *second = _mm512_dpbusd_epi32(x->start[1], (__m512i)high, x->x[1]);
}

/* The sums of units, a quarter for each: of low nibbles units 0 and 2, of high
 * ones 1 and 3, both in two quarters. */
INLINE __m512i
sum_units(const __m512i *low, const __m512i *high)
{
    const __m512i even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
    const __m512i odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
    const __m512i ones = _mm512_set1_epi16(1);
    __m512i a = add_neighbours_of_four(low), b = add_neighbours_of_four(high);

    return _mm512_dpwssd_epi32(
        _mm512_dpwssd_epi32(_mm512_setzero_si512(),
                            _mm512_permutex2var_epi64(a, even, b), ones),
        _mm512_permutex2var_epi64(a, odd, b), ones);
}

/* The sums of groups of 16, a quarter for each. One fits 16 bits, but not two.
 */
INLINE __m512i
sum_groups(const __m512i *s)
{
    __m512 a = _mm512_castsi512_ps(add_neighbours(s[0], s[1]));
    __m512 b = _mm512_castsi512_ps(add_neighbours(s[2], s[3]));

    return _mm512_add_epi32(_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88)),
                            _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd)));
}

/* What half n of a block adds to the elements of four rows: two vectors, as
 * those of scales. */
INLINE void
scale_sums(const struct super *t, const __m512i *low, const __m512i *high,
           int n, const struct half *x, const struct scales *s, __m512 *out)
{
    if (t->min) {
        out[0] =
            _mm512_cvtepi32_ps(sum_units(low, high)) * (s->first[n] * x->d[0]);
        out[1] = s->second[n] * x->minus_weighed;
    } else {
        out[0] = _mm512_cvtepi32_ps(sum_groups(low)) * (s->first[n] * x->d[0]);
        out[1] =
            _mm512_cvtepi32_ps(sum_groups(high)) * (s->second[n] * x->d[1]);
    }
}

/* Of eight rows, those of the first four in a. All are multiplied before any
 * sums come together, which takes long. */
INLINE void
eight_halves(const struct super *t, const struct rows *r, int n,
             const struct half *x, const struct scales *s, const char *next,
             __m512 *a, __m512 *b)
{
    const struct blocks part = { .size = t->size / HALVES };
    __m512i low[EIGHT], high[EIGHT];

    UNROLL for (int i = 0; i < EIGHT; i++)
    {
        sum_half(t, row_at(r, i), n, x, &low[i], &high[i]);
        fetch_row_part(part, next, i);
        AFTER(next, high[i]);
    }
    scale_sums(t, low, high, n, x, &s[0], a);
    scale_sums(t, low + FOUR, high + FOUR, n, x, &s[1], b);
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
one_column_by_halves(const struct super *t, const struct cpu_product *p,
                     struct rows r, const char *next)
{
    __m256 acc = _mm256_setzero_ps();

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += MOST_UNITS) {
        struct scales s[2];

        if (t->min)
            scales_of_q4_k(&r, s);
        else
            scales_of_q6_k(&r, s);
        UNROLL for (int n = 0; n < HALVES; n++)
        {
            struct half x = half_of_column(t, p->cols, p->k, unit + FOUR * n);
            __m512 a[2], b[2];

            eight_halves(t, &r, n, &x, s, next, a, b);
            if (t->min) {
                acc = add_pairs_of_quarters(acc, a, b);
            } else {
                acc = add_quarters(acc, a[0], b[0]);
                acc = add_quarters(acc, a[1], b[1]);
            }
            next += EIGHT * t->size / HALVES;
        }
        rows_advance(&r, t->size);
    }
    return acc;
}

INLINE bool
multiply_by_halves(const struct super *t, const struct cpu_product *p)
{
    if (p->n_cols > 1 || p->n_rows < EIGHT)
        return false;
    for (int64_t r = 0; r < p->n_rows; r += EIGHT) {
        int64_t row = p->n_rows - r < EIGHT ? p->n_rows - EIGHT : r;

        _mm256_storeu_ps(
            p->out + row,
            one_column_by_halves(t, p, rows_at(p, row), ahead_of(p, r)));
    }
    return true;
}

static void
multiply_q4_k_by_halves(const struct cpu_product *p)
{
    if (!multiply_by_halves(&super_q4_k, p))
        multiply_q4_k(p);
}

static void
multiply_q5_k_by_halves(const struct cpu_product *p)
{
    if (!multiply_by_halves(&super_q5_k, p))
        multiply_q5_k(p);
}

static void
multiply_q6_k_by_halves(const struct cpu_product *p)
{
    if (!multiply_by_halves(&super_q6_k, p))
        multiply_q6_k(p);
}

static void
fill_halves(struct cpu_kernels *k)
{
    put_fours(&k->mul_mat[GGML_TYPE_Q4_K], multiply_q4_k_by_halves);
    put_fours(&k->mul_mat[GGML_TYPE_Q5_K], multiply_q5_k_by_halves);
    put_fours(&k->mul_mat[GGML_TYPE_Q6_K], multiply_q6_k_by_halves);
}

#endif
