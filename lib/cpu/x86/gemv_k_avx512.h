/* gemv_k_avx512.h - GEMV with Q4_K, Q5_K and Q6_K, eight rows at once, with
 * AVX-512 VNNI
 *
 * Half of a block, four units of 32 values, is two vectors of codes of each
 * row, its nibbles as they lie: the low ones and the high ones. Lanes are sums
 * of four products, a quarter for sixteen values. They come together at the
 * end, those of eight rows in two halves of a vector. A unit adds its products
 * to the elements, and its minimum; or those of its two groups of 16, whose
 * scales are integers.
 *
 * Processors with a large L1 cache read these types from memory the faster
 * so, the fewer rows are read at once; others are as fast, or faster, with
 * sixteen (quant_products.h).
 *
 * Included after gemv_avx512.h. */
#ifndef CPU_X86_GEMV_K_AVX512_H
#define CPU_X86_GEMV_K_AVX512_H

#define HALVES 2 /* of a block */
#define PARTS  4 /* vectors that half a block adds, two halves each */

/* The layout of a type's blocks. */
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

/* Half a block of eight rows or of the column, by parts. With minima, where
 * units are a to d: of a and c, their minima, of b and d, their minima. With
 * groups of 16, a to h: of a and c, b and d, e and g, f and h. */
struct parts {
    __m512 v[PARTS];
};

/* Sixteen bytes at `at` of eight rows: w[i] = word i of each. */
INLINE void
load_words_16(const struct rows *r, size_t at, __m256i *w)
{
    __m256i v[FOUR], a, b, c, d;

#define ROW(i) _mm_loadu_si128(AS(__m128i, cpu_weight_row(r, i) + at))
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

    return v_as_floats((vec_bits)_mm512_shuffle_epi8(
        _mm512_broadcast_i64x4(words), (__m512i)top));
}

#define OF_BYTES 0x1p-24f /* what scales of them are multiplied by: exactly */

/* See cpu_scales_k(). */
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

INLINE __m256
d_of_q6_k(const struct rows *r)
{
    short h[EIGHT];

    UNROLL for (int i = 0; i < EIGHT; i++)
        memcpy(&h[i], cpu_weight_row(r, i) + AT(q6_k, d), sizeof(h[i]));
    return _mm256_cvtph_ps(
        _mm_setr_epi16(h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7]));
}

INLINE void
scales_of_q6_k(const struct rows *r, struct parts *s)
{
    __m256i w[2 * HALVES];

    load_words_16(r, AT(q6_k, scales), w);
    UNROLL for (int n = 0; n < HALVES; n++)
        UNROLL for (int i = 0; i < PARTS; i++) s[n]
            .v[i] = OF_BYTES * bytes_of(w[2 * n + i / 2], i % 2, i % 2 + 2);
}

/* Half a block of the column: for the low nibbles, and for the high ones. */
struct half {
    __m512i x[2];
    __m512i start[2];     /* what each lane begins with, to fit 16 bits */
    struct parts factors; /* what is multiplied with scales, and with minima */
};

/* d[a] and d[b], a half of the vector each. */
INLINE __m512
two_of(const float *d, int a, int b)
{
    return v_quarters(d, a, a, b, b);
}

INLINE struct half
half_of_column(const struct super *t, const char *col, int64_t k, int64_t unit)
{
    const __m512i zero = _mm512_setzero_si512(), all = _mm512_set1_epi8(32);
    const char *q = col + unit * COLUMN_BLOCK;
    const float *d = cpu_column_scales(col, k) + unit;
    const float *minus = cpu_column_scaled_neg_sums(col, k) + unit;
    __m512i a = _mm512_loadu_si512(q), b = _mm512_loadu_si512(q + LINE);
    struct half h = { .x = { a, b }, .start = { zero, zero } };

    if (t->min) {
        h.x[0] = _mm512_shuffle_i32x4(a, b, 0x44);
        h.x[1] = _mm512_shuffle_i32x4(a, b, 0xee);
        UNROLL for (int i = 0; i < 2; i++)
        {
            h.factors.v[2 * i] = two_of(d, i, i + 2);
            h.factors.v[2 * i + 1] = two_of(minus, i, i + 2);
        }
    } else {
        UNROLL for (int i = 0; i < 2; i++)
        {
            h.start[i] =
                _mm512_sub_epi32(zero, _mm512_dpbusd_epi32(zero, all, h.x[i]));
            h.factors.v[i] = two_of(d, 2 * i, 2 * i + 1);
        }
    }
    return h;
}

/* Shifts by a and b, a half of the vector each. */
INLINE __m512i
halves_of(int64_t a, int64_t b)
{
    return _mm512_set_epi64(b, b, b, b, a, a, a, a);
}

/* Bits of codes above the nibbles, with others around them: those that belong
 * to low v_nibbles (i = 0) or to high ones of half n, from h, which has them
 * twice. */
INLINE vec_bits
upper_bits(const struct super *t, __m512i h, int n, int i)
{
    /* where the first half of the vector has its bit, and the other: they are
     * to be bit 4 */
    int a = t->min ? 4 * n + i : 4 * i, b = a + 2;

    if (a < 4)
        return (vec_bits)_mm512_sllv_epi64(h, halves_of(4 - a, 4 - b));
    return (vec_bits)_mm512_srlv_epi64(h, halves_of(a - 4, b - 4));
}

/* Sums of four products of half n of the block at p, those with low nibbles and
 * those with high ones. */
INLINE void
sum_half(const struct super *t, const char *p, int n, const struct half *x,
         __m512i *low_sums, __m512i *high_sums)
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
    *low_sums = _mm512_dpbusd_epi32(x->start[0], (__m512i)low, x->x[0]);
    *high_sums = _mm512_dpbusd_epi32(x->start[1], (__m512i)high, x->x[1]);
}

/* The sums of two units, a half of the vector each; with one shuffle fewer than
 * v_pair_quarters(), as it does not matter which of a unit's sums comes first.
 */
INLINE __m512i
sum_units(const __m512i *s)
{
    const __m512i ones = _mm512_set1_epi16(1);
    __m512i a = v_add_neighbours_of_four(s),
            b = v_add_neighbours_of_four(s + FOUR);
    __m512i straight = _mm512_mask_mov_epi32(a, ODD_QUARTERS, b);
    __m512i crossed = _mm512_mask_mov_epi32(b, ODD_QUARTERS, a);

    return _mm512_dpwssd_epi32(_mm512_madd_epi16(straight, ones),
                               v_swap_quarters(crossed), ones);
}

/* The parts that half n of a block adds to the elements of eight rows, in the
 * order of units; with groups of 16 the first two vectors, of the block. All
 * are multiplied before any sums come together, which takes long. */
INLINE struct parts
eight_halves(const struct super *t, const struct rows *r, int n,
             const struct half *x, const struct parts *s, const char *next)
{
    __m512i sums[2][EIGHT], whole[PARTS];
    struct parts p;

    UNROLL for (int i = 0; i < EIGHT; i++)
    {
        sum_half(t, cpu_weight_row(r, i), n, x, &sums[0][i], &sums[1][i]);
        cpu_prefetch_row_part(t->size / HALVES, next, i);
        AFTER(next, sums[1][i]);
    }
    UNROLL for (int i = 0; i < 2; i++)
    {
        if (t->min)
            whole[2 * i] = sum_units(sums[i]);
        else
            v_pair_quarters(v_sum_groups(sums[i]), v_sum_groups(sums[i] + FOUR),
                            &whole[2 * i]);
    }
    UNROLL for (int i = 0; i < 2; i++)
    {
        __m512 sum = _mm512_cvtepi32_ps(whole[2 * i]);

        if (t->min) {
            p.v[2 * i] = s->v[2 * i] * x->factors.v[2 * i] * sum;
            p.v[2 * i + 1] = s->v[2 * i + 1] * x->factors.v[2 * i + 1];
        } else {
            sum =
                v_fused(sum, s->v[2 * i],
                        _mm512_cvtepi32_ps(whole[2 * i + 1]) * s->v[2 * i + 1]);
            p.v[i] = sum * x->factors.v[i];
        }
    }
    return p;
}

INLINE __m256
add_parts(const struct super *t, __m256 acc, const struct parts *p)
{
    if (t->min)
        return v_add_in_halves(acc, p->v, PARTS);
    UNROLL for (int i = 0; i < 2; i++) acc = v_add_in_halves(acc, &p->v[i], 1);
    return acc;
}

INLINE __m256
gemv_k_quant(const struct super *t, const struct cpu_product *p, struct rows r,
             const char *next)
{
    __m256 acc = _mm256_setzero_ps();

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += MAX_UNITS) {
        __m256 part = t->min ? acc : _mm256_setzero_ps();
        struct parts s[HALVES];

        if (t->min)
            scales_of_q4_k(&r, s);
        else
            scales_of_q6_k(&r, s);
        UNROLL for (int n = 0; n < HALVES; n++)
        {
            struct half x = half_of_column(t, p->cols, p->k, unit + FOUR * n);
            struct parts sums = eight_halves(t, &r, n, &x, &s[n], next);

            part = add_parts(t, part, &sums);
            next += EIGHT * t->size / HALVES;
        }
        if (!t->min)
            part = acc + part * d_of_q6_k(&r);
        acc = part;
        cpu_rows_advance(&r, t->size);
    }
    return acc;
}

INLINE bool
multiply_by_halves(const struct super *t, const struct cpu_product *p)
{
    if (p->n_cols > 1 || p->n_rows < EIGHT || !cpu_large_l1)
        return false;
    for (int64_t r = 0; r < p->n_rows; r += EIGHT) {
        int64_t row = p->n_rows - r < EIGHT ? p->n_rows - EIGHT : r;

        _mm256_storeu_ps(p->out + row,
                         gemv_k_quant(t, p, cpu_weight_rows(p, row),
                                      cpu_prefetch_source(p, r)));
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
cpu_fill_k_gemv(struct cpu_kernels *k)
{
    const int64_t at_once = cpu_large_l1 ? EIGHT : 0;

    cpu_set_rows_at_once(&k->mul_mat[GGML_TYPE_Q4_K], at_once,
                         multiply_q4_k_by_halves);
    cpu_set_rows_at_once(&k->mul_mat[GGML_TYPE_Q5_K], at_once,
                         multiply_q5_k_by_halves);
    cpu_set_rows_at_once(&k->mul_mat[GGML_TYPE_Q6_K], at_once,
                         multiply_q6_k_by_halves);
}

#endif
