/* gemv_avx512.h - GEMV with types whose units of 32 lie as nibbles or
 * bytes of their own, four units of a row at once, with AVX-512 VNNI
 *
 * Units that lie in a row are read as one: four blocks of nibbles with two
 * loads, where sixteen rows at once take one or more a row and block.
 * Lanes then are sums of eight products, four of each unit, and come together
 * at the end: of four rows those of a unit, then of a unit those of all rows.
 * So elements are computed as column.h says, in this order of units.
 *
 * Eight rows are read at once: weights come from memory the faster, the
 * fewer streams they are read in.
 *
 * Included after quant_products.h. */
#ifndef CPU_X86_GEMV_AVX512_H
#define CPU_X86_GEMV_AVX512_H

#define FOUR  4 /* units of a row, or rows */
#define EIGHT 8 /* rows */

/* Four units of a row, a quarter for each: the first sixteen codes, and the
 * others; and bytes that have their scales. */
struct codes {
    vec_bits low, high;
    __m512i head;
};

/* A type. Blocks have one unit or eight; `run` is which four of these. */
struct fours {
    size_t size;  /* bytes of as many blocks as are read at once */
    int runs;     /* of four units in these */
    int offset;   /* of codes */
    int max_code; /* the largest code; 0: above 32 */
    bool min;
    struct codes (*unpack)(const char *p, int run);
    /* of four rows, which have the heads: a quarter for each unit, a lane for
     * each row; s[0], and s[1] with minima, as unpack_types.h has them */
    void (*scales)(const struct rows *r, int row, int run, const __m512i *head,
                   vec *s);
};

/* ---- blocks that are words of 16 bits ------------------------------------ */

/* Words of four blocks: those below 32 are in the first 64 bytes, some of
 * these and all others in the last 16 or 32, which begin with word
 * FIRST_OF_LAST. A block has n. */
typedef uint16_t words_of_16 __attribute__((vector_size(LINE)));
#define IN_LAST(n)       ((n) > 10 ? 16 : 8)
#define FIRST_OF_LAST(n) (4 * (n)-IN_LAST(n))
#define WORDS_OF(type)   ((int)sizeof(struct block_##type) / 2)
#define WORD_OF(type, f) ((int)AT(type, f) / 2)

INLINE vec_bits
each_32(void)
{
    return (vec_bits){ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
}

INLINE words_of_16
each_16(void)
{
    return (words_of_16){ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                          11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                          22, 23, 24, 25, 26, 27, 28, 29, 30, 31 };
}

/* The words from `first` on of each block: a quarter, `count` again and again.
 */
INLINE __m512i
words_of_blocks(int n, int first, int count, __m512i a, __m512i last)
{
    words_of_16 i = each_16();
    words_of_16 w = i / 8 * (uint16_t)n + (uint16_t)first + i % (uint16_t)count;

    w += (words_of_16)(w > 31) & (uint16_t)(32 - FIRST_OF_LAST(n));
    return _mm512_permutex2var_epi16(a, (__m512i)w, last);
}

/* Words w of four heads, each named four times. Two heads give each word twice,
 * so that four are chosen from two pairs. */
INLINE __m512i
choose_of_heads(const __m512i *head, words_of_16 w)
{
    w += each_16() % 2 * 32;
    return _mm512_mask_mov_epi32(
        _mm512_permutex2var_epi16(head[0], (__m512i)w, head[1]), 0xaaaa,
        _mm512_permutex2var_epi16(head[2], (__m512i)w, head[3]));
}

/* The words from 0 on of the blocks that heads have, of four rows: d, a half of
 * the vector, then what may come after it. */
INLINE __m512i
words_of_heads(int n, const __m512i *head)
{
    words_of_16 i = each_16(), w = i / 4 % 4 * (uint16_t)n + i / 16;

    w -= (words_of_16)(w > 31) & (uint16_t)FIRST_OF_LAST(n);
    return choose_of_heads(head, w);
}

/* Each 32 bits are the fifth bits of a block. */
INLINE vec_bits
fifth_bits(__m512i bits, uint32_t half)
{
    vec_bits by = each_32() % 4 * 4;

    return v_spread_bits((vec_bits)bits >> (by + 16 * half), 0, 4);
}

/* Blocks of n words, of which the first `scales` are such; codes begin at word
 * `codes`, fifth bits, if any, at word `bits`. */
INLINE struct codes
unpack_words(int n, int scales, int bits, int codes, const char *p)
{
    __m512i first = _mm512_loadu_si512(p);
    const char *end = p + 2 * FIRST_OF_LAST(n);
    __m512i last =
        IN_LAST(n) > 8
            ? _mm512_castsi256_si512(_mm256_loadu_si256(AS(__m256i, end)))
            : _mm512_castsi128_si512(_mm_loadu_si128(AS(__m128i, end)));
    vec_bits q = (vec_bits)words_of_blocks(n, codes, 8, first, last);
    struct codes o = { .low = q & NIBBLES,
                       .high = q >> 4 & NIBBLES,
                       .head = first };

    if (bits) {
        __m512i b = words_of_blocks(n, bits, 2, first, last);

        o.low |= fifth_bits(b, 0);
        o.high |= fifth_bits(b, 1);
    }
    /* the last block's come to where codes were */
    if (3 * n > 31)
        o.head = _mm512_mask_mov_epi16(
            first, ((1u << scales) - 1) << (3 * n - FIRST_OF_LAST(n)), last);
    return o;
}

INLINE struct codes
unpack_four_q4_0(const char *p, int run)
{
    (void)run;
    return unpack_words(WORDS_OF(q4_0), 1, 0, WORD_OF(q4_0, qs), p);
}

INLINE struct codes
unpack_four_q4_1(const char *p, int run)
{
    (void)run;
    return unpack_words(WORDS_OF(q4_1), 2, 0, WORD_OF(q4_1, qs), p);
}

INLINE struct codes
unpack_four_q5_0(const char *p, int run)
{
    (void)run;
    return unpack_words(WORDS_OF(q5_0), 1, WORD_OF(q5_0, qh), WORD_OF(q5_0, qs),
                        p);
}

INLINE struct codes
unpack_four_q5_1(const char *p, int run)
{
    (void)run;
    return unpack_words(WORDS_OF(q5_1), 2, WORD_OF(q5_1, qh), WORD_OF(q5_1, qs),
                        p);
}

INLINE struct codes
look_up_both(struct codes o, const int8_t *levels, int offset)
{
    o.low = v_look_up(levels, offset, o.low);
    o.high = v_look_up(levels, offset, o.high);
    return o;
}

INLINE struct codes
unpack_four_iq4_nl(const char *p, int run)
{
    return look_up_both(unpack_four_q4_0(p, run), quant_iq4_levels,
                        SIGNED_OFFSET);
}

INLINE vec
d_of_heads(int n, const __m512i *head)
{
    return v_from_f16(_mm512_castsi512_si256(words_of_heads(n, head)));
}

#define SCALES_OF(name)                                                        \
    INLINE void scales_of_##name(const struct rows *r, int row, int run,       \
                                 const __m512i *head, vec *s)
SCALES_OF(q4_0)
{
    (void)r, (void)row, (void)run;
    s[0] = d_of_heads(WORDS_OF(q4_0), head);
}

SCALES_OF(q5_0)
{
    (void)r, (void)row, (void)run;
    s[0] = d_of_heads(WORDS_OF(q5_0), head);
}

INLINE void
d_and_min_of_heads(int n, const __m512i *head, vec *s)
{
    __m512i w = words_of_heads(n, head);

    s[0] = v_from_f16(_mm512_castsi512_si256(w));
    s[1] = -v_from_f16(_mm512_extracti64x4_epi64(w, 1));
}

SCALES_OF(q4_1)
{
    (void)r, (void)row, (void)run;
    d_and_min_of_heads(WORDS_OF(q4_1), head, s);
}

SCALES_OF(q5_1)
{
    (void)r, (void)row, (void)run;
    d_and_min_of_heads(WORDS_OF(q5_1), head, s);
}

/* ---- others -------------------------------------------------------------- */

/* Four blocks of bytes are words 0 to 67: two loads have all but the last four,
 * which the last load has with those before them, the second half of the last
 * block. */
#define LAST_HALF 120
INLINE struct codes
unpack_four_q8_0(const char *p, int run)
{
    words_of_16 i = each_16(), w = i / 8 * 17 + 1 + i % 8;
    __m512i first = _mm512_loadu_si512(p), last = _mm512_loadu_si512(p + LINE);
    __m512i low = _mm512_permutex2var_epi16(first, (__m512i)w, last);
    __m512i high = _mm512_permutex2var_epi16(first, (__m512i)(w + 8), last);

    (void)run;
    high = _mm512_inserti32x4(high, _mm_loadu_si128(AS(__m128i, p + LAST_HALF)),
                              3);
    return (struct codes){ .low = v_from_signed((vec_bits)low),
                           .high = v_from_signed((vec_bits)high),
                           .head = _mm512_mask_mov_epi16(
                               first, 1u << 2 | 1u << 19, last) };
}

SCALES_OF(q8_0)
{
    const words_of_16 w = { 0, 0, 0, 0, 17, 17, 17, 17,
                            2, 2, 2, 2, 19, 19, 19, 19 };

    (void)r, (void)row, (void)run;
    s[0] = v_from_f16(_mm512_castsi512_si256(choose_of_heads(head, w)));
}

/* Blocks of 17 bytes: of a quarter's codes those that are not in the same
 * quarter of the first load are in that of what begins four bytes later. */
#define IN_FIRST 0x0fff1fff3fff7fff
INLINE struct codes
unpack_four_mxfp4(const char *p, int run)
{
    vec_bits i = each_32();
    vec_bits from = (i % 4 * 4 + i / 4 + 1) * 0x01010101 + 0x03020100;
    __m512i first = _mm512_loadu_si512(p);
    __m512i last =
        _mm512_castsi128_si512(_mm_cvtsi32_si128(cpu_load_int32(p + 64)));
    __m512i later = _mm512_alignr_epi32(last, first, 1);
    vec_bits q;
    struct codes o;

    (void)run;
    q = (vec_bits)_mm512_mask_shuffle_epi8(
        _mm512_shuffle_epi8(later, (__m512i)(from + 0x0c0c0c0c)), IN_FIRST,
        first, (__m512i)from);
    o = (struct codes){ .low = q & NIBBLES,
                        .high = q >> 4 & NIBBLES,
                        .head = first };
    return look_up_both(o, quant_fp4_doubled, FP4_OFFSET);
}

/* Each block's first byte lies in the first word of its quarter. */
SCALES_OF(mxfp4)
{
    vec_bits i = each_32(), at = 0x80808000 + i % 4 * 4 + i / 4;
    __m512i a = _mm512_unpacklo_epi32(head[0], head[1]);
    __m512i b = _mm512_unpacklo_epi32(head[2], head[3]);

    (void)r, (void)row, (void)run;
    s[0] = v_power_of_mxfp4((vec_bits)_mm512_shuffle_epi8(
        _mm512_unpacklo_epi64(a, b), (__m512i)at));
}

/* Nibbles of eight units follow what begins a block: d, two bits of each
 * scale, four bits of each. */
INLINE struct codes
unpack_four_iq4_xs(const char *p, int run)
{
    vec_bits q = (vec_bits)_mm512_loadu_si512(p + AT(iq4_xs, qs) + LINE * run);
    struct codes o = { .low = q & NIBBLES, .high = q >> 4 & NIBBLES };

    return look_up_both(o, quant_iq4_levels, SIGNED_OFFSET);
}

SCALES_OF(iq4_xs)
{
    vec_bits unit = each_32() / 4 + FOUR * (uint32_t)run, first, low;
    __m128i v[FOUR], a, b;

    (void)head;
    UNROLL for (int i = 0; i < FOUR; i++) v[i] =
        _mm_loadl_epi64(AS(__m128i, cpu_weight_row(r, row + i)));
    a = _mm_unpacklo_epi32(v[0], v[1]);
    b = _mm_unpacklo_epi32(v[2], v[3]);
    first = (vec_bits)_mm512_broadcast_i32x4(_mm_unpacklo_epi64(a, b));
    low = (vec_bits)_mm512_broadcast_i32x4(_mm_unpackhi_epi64(a, b));
    low = low >> 4 * unit & 15;
    s[0] = v_low_f16(first) *
           v_as_floats((low | (first >> (16 + 2 * unit) & 3) << 4) - 32);
}

/* ---- eight rows times one column ----------------------------------------- */

/* Four units of the column; of lanes a quarter for each. */
struct four {
    __m512i low, high; /* the first sixteen values, the others */
    __m512i start;     /* what integer sums begin with */
    __m512 d, minus;   /* what is multiplied with scales, and with minima */
};

/* One of d[0] to d[3] for each quarter: those that are named. */
INLINE __m512
v_quarters(const float *d, int a, int b, int c, int e)
{
    return _mm512_permutexvar_ps(
        _mm512_set_epi32(e, e, e, e, c, c, c, c, b, b, b, b, a, a, a, a),
        _mm512_castps128_ps512(_mm_loadu_ps(d)));
}

INLINE struct four
four_of_column(const struct fours *f, const char *col, int64_t k, int64_t unit)
{
    const __m512i each = (__m512i)(each_32() / 4);
    const char *q = col + unit * COLUMN_BLOCK;
    __m512i a = _mm512_loadu_si512(q), b = _mm512_loadu_si512(q + 64);
    __m128i minus =
        _mm_loadu_si128(AS(__m128i, cpu_column_neg_sums(col, k) + unit));
    vec_bits start =
        (vec_bits)_mm512_permutexvar_epi32(each, _mm512_castsi128_si512(minus));

    return (struct four){
        .low = _mm512_shuffle_i32x4(a, b, 0x88),
        .high = _mm512_shuffle_i32x4(a, b, 0xdd),
        .start = (__m512i)(start * (uint32_t)f->offset),
        .d = v_quarters(cpu_column_scales(col, k) + unit, 0, 1, 2, 3),
        .minus =
            v_quarters(cpu_column_scaled_neg_sums(col, k) + unit, 0, 1, 2, 3),
    };
}

/* Sums of neighbours of two rows, first those of a: they fit 16 bits. */
INLINE __m512i
add_neighbours(__m512i a, __m512i b)
{
    return _mm512_madd_epi16(_mm512_packs_epi32(a, b), _mm512_set1_epi16(1));
}

/* Sums of neighbours of four rows in 16 bits: two of them fit these as well. */
INLINE __m512i
v_add_neighbours_of_four(const __m512i *s)
{
    return _mm512_packs_epi32(add_neighbours(s[0], s[1]),
                              add_neighbours(s[2], s[3]));
}

/* Four rows' sums of the four lanes of each quarter: one fits 16 bits, but not
 * two.
 */
INLINE __m512i
v_sum_groups(const __m512i *s)
{
    __m512 a = _mm512_castsi512_ps(add_neighbours(s[0], s[1]));
    __m512 b = _mm512_castsi512_ps(add_neighbours(s[2], s[3]));

    return _mm512_add_epi32(_mm512_castps_si512(_mm512_shuffle_ps(a, b, 0x88)),
                            _mm512_castps_si512(_mm512_shuffle_ps(a, b, 0xdd)));
}

/* The sums of four rows: of each quarter the four lanes of a row become one,
 * added to start. Those of nibbles fit 16 bits, two of them as well. */
INLINE __m512i
add_fours(const struct fours *f, const __m512i *s, __m512i start)
{
    vec_bits w[4];

    if (f->max_code == 0) {
        v_transpose_quarters(s, w);
        return (__m512i)((vec_bits)start + w[0] + w[1] + w[2] + w[3]);
    }
    if (f->max_code > 15)
        return _mm512_add_epi32(start, v_sum_groups(s));
    return _mm512_dpwssd_epi32(start, v_add_neighbours_of_four(s),
                               _mm512_set1_epi16(1));
}

/* The part of row `row` of the bytes from `next` on, as many as eight rows have
 * of `size` each. */
INLINE void
cpu_prefetch_row_part(size_t size, const char *next, int row)
{
    const int lines = (int)((EIGHT * size + LINE - 1) / LINE);

    UNROLL for (int i = lines * row / EIGHT; i < lines * (row + 1) / EIGHT; i++)
        cpu_prefetch_for_gemv(next + i * LINE);
}

/* The parts that four units of four rows add to the elements: a quarter for
 * each unit, a lane for each row; and their minima. */
INLINE void
four_rows(const struct fours *f, const struct rows *r, int row, int run,
          const struct four *x, const char *next, vec *add)
{
    __m512i sums[FOUR], head[FOUR];
    vec scales[2];

    UNROLL for (int i = 0; i < FOUR; i++)
    {
        struct codes o = f->unpack(cpu_weight_row(r, row + i), run);

        head[i] = o.head;
        sums[i] = _mm512_dpbusd_epi32(
            _mm512_dpbusd_epi32(_mm512_setzero_si512(), (__m512i)o.low, x->low),
            (__m512i)o.high, x->high);
        cpu_prefetch_row_part(f->size / (size_t)f->runs, next, row + i);
        AFTER(next, sums[i]);
    }
    f->scales(r, row, run, head, scales);
    add[0] =
        _mm512_cvtepi32_ps(add_fours(f, sums, x->start)) * (scales[0] * x->d);
    if (f->min)
        add[1] = scales[1] * x->minus;
}

#define ODD_QUARTERS 0xf0f0

/* Each two quarters the other way round. */
INLINE __m512i
v_swap_quarters(__m512i v)
{
    return _mm512_shuffle_i32x4(v, v, _MM_SHUFFLE(2, 3, 0, 1));
}

/* Quarters 0 of a and of b, then their quarters 2; in v[1] 1 and 3. A shuffle
 * of three operands would do it, were it not to wait for one of them while a
 * Zen 4 multiplies; it blends meanwhile. */
INLINE void
v_pair_quarters(__m512i a, __m512i b, __m512i *v)
{
    v[0] = _mm512_mask_mov_epi32(a, ODD_QUARTERS, v_swap_quarters(b));
    v[1] = _mm512_mask_mov_epi32(v_swap_quarters(a), ODD_QUARTERS, b);
}

/* The first halves of n vectors to acc, in order, then the others. */
INLINE __m256
v_add_in_halves(__m256 acc, const __m512 *v, int n)
{
    UNROLL for (int i = 0; i < n; i++) acc += _mm512_castps512_ps256(v[i]);
    UNROLL for (int i = 0; i < n; i++) acc += _mm512_extractf32x8_ps(v[i], 1);
    return acc;
}

/* Quarter i of a and of b, a half of a vector: to acc in the order of i, of
 * a[0] and b[0] before a[1] and b[1], if there are n. */
INLINE __m256
add_quarters(__m256 acc, const vec *a, const vec *b, int n)
{
    vec v[2 * 2];

    UNROLL for (int i = 0; i < n; i++)
    {
        __m512i w[2];

        v_pair_quarters(_mm512_castps_si512(a[i]), _mm512_castps_si512(b[i]),
                        w);
        v[i] = _mm512_castsi512_ps(w[0]);
        v[n + i] = _mm512_castsi512_ps(w[1]);
    }
    return v_add_in_halves(acc, v, 2 * n);
}

/* Eight rows. */
INLINE __m256
gemv_by_four(const struct fours *f, const struct cpu_product *p, struct rows r,
             const char *next)
{
    __m256 acc = _mm256_setzero_ps();
    int64_t unit = 0;

    while (unit < p->k / COLUMN_BLOCK) {
        UNROLL for (int run = 0; run < f->runs; run++, unit += FOUR)
        {
            struct four x = four_of_column(f, p->cols, p->k, unit);
            vec a[2], b[2];

            four_rows(f, &r, 0, run, &x, next, a);
            four_rows(f, &r, FOUR, run, &x, next, b);
            acc = add_quarters(acc, a, b, f->min ? 2 : 1);
            next += EIGHT * f->size / (size_t)f->runs;
        }
        cpu_rows_advance(&r, f->size);
    }
    return acc;
}

/* False: not one column, or none of whole fours. */
INLINE bool
multiply_by_four(const struct fours *f, const struct cpu_product *p)
{
    if (p->n_cols > 1 || p->n_rows < EIGHT || p->k % (FOUR * COLUMN_BLOCK))
        return false;
    for (int64_t r = 0; r < p->n_rows; r += EIGHT) {
        int64_t row = p->n_rows - r < EIGHT ? p->n_rows - EIGHT : r;

        _mm256_storeu_ps(p->out + row,
                         gemv_by_four(f, p, cpu_weight_rows(p, row),
                                      cpu_prefetch_source(p, r)));
    }
    return true;
}

static void
cpu_set_rows_at_once(struct cpu_mul_mat *m, int64_t gemv_rows_at_once,
                     void (*multiply_one)(const struct cpu_product *p))
{
    m->multiply = multiply_one;
    m->gemv_rows_at_once = gemv_rows_at_once;
}

#define GEMV_BY_FOUR(name, blocks, offset_of, most_of, minima, how)            \
    static void multiply_##name##_by_four(const struct cpu_product *p)         \
    {                                                                          \
        const struct fours f = { .size =                                       \
                                     (blocks) * sizeof(struct block_##name),   \
                                 .runs = (blocks) == 1 ? 2 : 1,                \
                                 .offset = offset_of,                          \
                                 .max_code = most_of,                          \
                                 .min = minima,                                \
                                 .unpack = unpack_four_##name,                 \
                                 .scales = scales_of_##how };                  \
                                                                               \
        if (!multiply_by_four(&f, p))                                          \
            multiply_##name(p);                                                \
    }

#define FILL_GEMV_BY_FOUR(k, name, type)                                       \
    cpu_set_rows_at_once(&(k)->mul_mat[type], EIGHT, multiply_##name##_by_four)

#endif
