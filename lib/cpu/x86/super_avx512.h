/* super_avx512.h - one column times Q4_K or Q5_K, eight rows side by side,
 * with AVX-512 VNNI
 *
 * Half of a block, four units of 32 values, is two vectors of codes of each
 * row, its nibbles as they lie: the low ones and the high ones. Lanes are sums
 * of four products, a quarter for sixteen values. They come together at the
 * end, those of eight rows in two halves of a vector. A unit adds two of these
 * to the elements: its products and its minimum.
 *
 * Included after fours_avx512.h. */
#ifndef CPU_X86_SUPER_AVX512_H
#define CPU_X86_SUPER_AVX512_H

#define HALVES 2 /* of a block */
#define PARTS  4 /* vectors that half a block adds, two halves each */

/* Of a type. */
struct super {
    size_t size;      /* bytes of a block */
    size_t low, high; /* where nibbles are, and the other bits of codes */
    int bits;         /* of a code */
};

static const struct super super_q4_k = { .size = sizeof(struct block_q4_k),
                                         .low = AT(q4_k, qs),
                                         .bits = 4 };
static const struct super super_q5_k = { .size = sizeof(struct block_q5_k),
                                         .low = AT(q5_k, qs),
                                         .high = AT(q5_k, qh),
                                         .bits = 5 };
/* Half a block of eight rows or of the column, whose units are a to d: of a and
 * c, their minima, of b and d, their minima. */
struct parts {
    __m512 v[PARTS];
};

/* Sixteen bytes at `at` of eight rows: w[i] = word i of each. */
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

/* Signed bytes a of eight words, then bytes b, times 2^24. */
INLINE __m512
bytes_of(__m256i words, int a, int b)
{
#define TOP(word, byte) ((4 * (word) + (byte)) << 24 | 0x808080)
#define TOPS(byte)      TOP(0, byte), TOP(1, byte), TOP(2, byte), TOP(3, byte)
    const vec_bits top = { TOPS(a), TOPS(a), TOPS(b), TOPS(b) };
#undef TOPS
#undef TOP

    return as_floats((vec_bits)_mm512_shuffle_epi8(
        _mm512_broadcast_i64x4(words), (__m512i)top));
}

#define OF_BYTES 0x1p-24f /* what scales of them are multiplied by: exactly */

/* See scales_k(). */
INLINE void
scales_of_q4_k(const struct rows *r, struct parts *s)
{
    const __m256i six = _mm256_set1_epi8(0x3f), four = _mm256_set1_epi8(0x0f);
    const __m256i two = _mm256_set1_epi8(0x30);
    /* d, then dmin */
    const __m256i heads = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
    __m256i w[4], scale[HALVES], min[HALVES];
    __m512 all, d, dmin;

    load_words_16(r, 0, w);
    all = OF_BYTES *
          _mm512_cvtph_ps(_mm256_permute4x64_epi64(
              _mm256_shuffle_epi8(w[0], heads), _MM_SHUFFLE(3, 1, 2, 0)));
    d = _mm512_shuffle_f32x4(all, all, 0x44);
    dmin = _mm512_shuffle_f32x4(all, all, 0xee);
    scale[0] = w[1] & six;
    min[0] = w[2] & six;
    scale[1] = (w[3] & four) | (_mm256_srli_epi16(w[1], 2) & two);
    min[1] = (_mm256_srli_epi16(w[3], 4) & four) |
             (_mm256_srli_epi16(w[2], 2) & two);
    UNROLL for (int n = 0; n < HALVES; n++) UNROLL for (int i = 0; i < 2; i++)
    {
        s[n].v[2 * i] = d * bytes_of(scale[n], i, i + 2);
        s[n].v[2 * i + 1] = dmin * bytes_of(min[n], i, i + 2);
    }
}

/* Half a block of the column: what low nibbles meet, and high ones. */
struct half {
    __m512i x[2];
    struct parts meets; /* what is multiplied with scales, and with minima */
};

/* d[a] and d[b], a half of the vector each. */
INLINE __m512
two_of(const float *d, int a, int b)
{
    return four_of(d, a, a, b, b);
}

INLINE struct half
half_of_column(const char *col, int64_t k, int64_t unit)
{
    const char *q = col + unit * COLUMN_BLOCK;
    const float *d = column_scales(col, k) + unit;
    const float *minus = column_minus_weighed(col, k) + unit;
    __m512i a = _mm512_loadu_si512(q), b = _mm512_loadu_si512(q + LINE);
    struct half h = { .x = { _mm512_shuffle_i32x4(a, b, 0x44),
                             _mm512_shuffle_i32x4(a, b, 0xee) } };

    UNROLL for (int i = 0; i < 2; i++)
    {
        h.meets.v[2 * i] = two_of(d, i, i + 2);
        h.meets.v[2 * i + 1] = two_of(minus, i, i + 2);
    }
    return h;
}

/* Shifts by a and b, a half of the vector each. */
INLINE __m512i
halves_of(int64_t a, int64_t b)
{
    return _mm512_set_epi64(b, b, b, b, a, a, a, a);
}

/* Fifth bits of codes, with others around them: those that belong to low
 * nibbles (i = 0) or to high ones of half n, from h, which has them twice. */
INLINE vec_bits
fifth_bits(__m512i h, int n, int i)
{
    /* where the first half of the vector has its bit, and the other: they are
     * to be bit 4 */
    int a = 4 * n + i, b = a + 2;

    if (a < 4)
        return (vec_bits)_mm512_sllv_epi64(h, halves_of(4 - a, 4 - b));
    return (vec_bits)_mm512_srlv_epi64(h, halves_of(a - 4, b - 4));
}

/* Of half n of the block at p: sums of four products, those with low nibbles
 * and those with high ones. */
INLINE void
sum_half(const struct super *t, const char *p, int n, const struct half *x,
         __m512i *low_sums, __m512i *high_sums)
{
    const __m512i zero = _mm512_setzero_si512();
    vec_bits q = (vec_bits)_mm512_loadu_si512(p + t->low + LINE * n);
    vec_bits low = q & NIBBLES, high = q >> 4 & NIBBLES;

    if (t->bits > 4) {
        __m512i h = _mm512_broadcast_i64x4(
            _mm256_loadu_si256(AS(__m256i, p + t->high)));

        low |= fifth_bits(h, n, 0) & BITS << 4;
        high |= fifth_bits(h, n, 1) & BITS << 4;
    }
    *low_sums = _mm512_dpbusd_epi32(zero, (__m512i)low, x->x[0]);
    *high_sums = _mm512_dpbusd_epi32(zero, (__m512i)high, x->x[1]);
}

/* The sums of two units, a half of the vector each; with one shuffle fewer than
 * pair_quarters(), as it does not matter which of a unit's sums comes first. */
INLINE __m512i
sum_units(const __m512i *s)
{
    const __m512i ones = _mm512_set1_epi16(1);
    __m512i a = add_neighbours_of_four(s), b = add_neighbours_of_four(s + FOUR);
    __m512i straight = _mm512_mask_mov_epi32(a, ODD_QUARTERS, b);
    __m512i crossed = _mm512_mask_mov_epi32(b, ODD_QUARTERS, a);

    return _mm512_dpwssd_epi32(_mm512_madd_epi16(straight, ones),
                               swap_quarters(crossed), ones);
}

/* What half n of a block adds to the elements of eight rows. All are multiplied
 * before any sums come together, which takes long. */
INLINE struct parts
eight_halves(const struct super *t, const struct rows *r, int n,
             const struct half *x, const struct parts *s, const char *next)
{
    const struct blocks part = { .size = t->size / HALVES };
    __m512i sums[2][EIGHT];
    struct parts p;

    UNROLL for (int i = 0; i < EIGHT; i++)
    {
        sum_half(t, row_at(r, i), n, x, &sums[0][i], &sums[1][i]);
        fetch_row_part(part, next, i);
        AFTER(next, sums[1][i]);
    }
    UNROLL for (int i = 0; i < 2; i++)
    {
        p.v[2 * i] = s->v[2 * i] * x->meets.v[2 * i] *
                     _mm512_cvtepi32_ps(sum_units(sums[i]));
        p.v[2 * i + 1] = s->v[2 * i + 1] * x->meets.v[2 * i + 1];
    }
    return p;
}

INLINE __m256
one_column_by_halves(const struct super *t, const struct cpu_product *p,
                     struct rows r, const char *next)
{
    __m256 acc = _mm256_setzero_ps();

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += MOST_UNITS) {
        struct parts s[HALVES];

        scales_of_q4_k(&r, s);
        UNROLL for (int n = 0; n < HALVES; n++)
        {
            struct half x = half_of_column(p->cols, p->k, unit + FOUR * n);
            struct parts sums = eight_halves(t, &r, n, &x, &s[n], next);

            acc = add_in_halves(acc, sums.v, PARTS);
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
fill_halves(struct cpu_kernels *k)
{
    put_fours(&k->mul_mat[GGML_TYPE_Q4_K], multiply_q4_k_by_halves);
    put_fours(&k->mul_mat[GGML_TYPE_Q5_K], multiply_q5_k_by_halves);
}

#endif
