/* fours_avx512.h - one column times Q4_0, IQ4_NL or Q8_0, four blocks of a row
 * at once, with AVX-512 VNNI
 *
 * Blocks of 32 that lie in a row are read as one, with two loads of nibbles or
 * three of bytes, where sixteen rows side by side take two loads a row and
 * block. Lanes then are sums of eight products, four of each block, and come
 * together at the end: of four rows those of a block, then of a block those of
 * all rows. So elements are computed as column.h says, in this order of blocks.
 *
 * Eight rows are read side by side: weights come from memory the faster, the
 * fewer streams they are read in.
 *
 * Included after vector_groups.h. */
#ifndef CPU_X86_FOURS_AVX512_H
#define CPU_X86_FOURS_AVX512_H

#include <stdalign.h>

#define FOUR  4 /* blocks of a row, or rows */
#define EIGHT 8 /* rows */

struct blocks {
    size_t size;          /* bytes of four */
    bool bytes;           /* codes are signed bytes, otherwise nibbles */
    int offset;           /* of codes */
    const int8_t *levels; /* that nibbles stand for; NULL: themselves */
};

/* Four blocks of nibbles are words 0 to 35 of 16 bits. The first load has those
 * below 32, the second, from byte 56 on, the last eight, which come after those
 * here. */
#define LAST_LOAD 56
#define WORDS_8(w)                                                             \
    (w), (w) + 1, (w) + 2, (w) + 3, (w) + 4, (w) + 5, (w) + 6, (w) + 7
static alignas(LINE) const uint16_t nibble_words[] = { WORDS_8(1), WORDS_8(10),
                                                       WORDS_8(19),
                                                       WORDS_8(32) };
/* Four of bytes are words 0 to 67: two loads have all but the last four, which
 * the last load has with those before them, the second half of the last block.
 */
#define LAST_HALF 120
static alignas(LINE) const uint16_t byte_words[2][32] = {
    { WORDS_8(1), WORDS_8(18), WORDS_8(35), WORDS_8(52) },
    { WORDS_8(9), WORDS_8(26), WORDS_8(43), WORDS_8(0) },
};
/* The words of a head that are scales, of two rows: twice, so that four are
 * chosen from two pairs. */
#define TWO(w) (w), (w) + 32, (w), (w) + 32
static alignas(LINE) const uint16_t nibble_scales[32] = { TWO(0), TWO(9),
                                                          TWO(18), TWO(27) };
static alignas(LINE) const uint16_t byte_scales[32] = { TWO(0), TWO(17), TWO(2),
                                                        TWO(19) };

/* Four blocks of the column; of lanes a quarter for each. */
struct four {
    __m512i low, high; /* the first sixteen values, the others */
    __m512i start;     /* what integer sums begin with */
    __m512 d;
};

/* One of d[0] to d[3] for each quarter: those that are named. */
INLINE __m512
four_of(const float *d, int a, int b, int c, int e)
{
    return _mm512_permutexvar_ps(
        _mm512_set_epi32(e, e, e, e, c, c, c, c, b, b, b, b, a, a, a, a),
        _mm512_castps128_ps512(_mm_loadu_ps(d)));
}

INLINE struct four
four_of_column(struct blocks f, const char *col, int64_t k, int64_t block)
{
    const __m512i each =
        _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    const char *q = col + block * COLUMN_BLOCK;
    __m512i a = _mm512_loadu_si512(q), b = _mm512_loadu_si512(q + 64);
    __m128i minus = _mm_loadu_si128(AS(__m128i, column_minus(col, k) + block));
    vec_bits start =
        (vec_bits)_mm512_permutexvar_epi32(each, _mm512_castsi128_si512(minus));

    return (struct four){
        .low = _mm512_shuffle_i32x4(a, b, 0x88),
        .high = _mm512_shuffle_i32x4(a, b, 0xdd),
        .start = (__m512i)(start * (uint32_t)f.offset),
        .d = four_of(column_scales(col, k) + block, 0, 1, 2, 3),
    };
}

INLINE __m512i
sum_codes(vec_bits low, vec_bits high, const struct four *x)
{
    return _mm512_dpbusd_epi32(
        _mm512_dpbusd_epi32(_mm512_setzero_si512(), (__m512i)low, x->low),
        (__m512i)high, x->high);
}

/* Sums of eight products each, of four blocks at p; *head has their scales. */
INLINE __m512i
sum_nibbles(struct blocks f, const char *p, const struct four *x, __m512i *head)
{
    __m512i last =
        _mm512_castsi128_si512(_mm_loadu_si128(AS(__m128i, p + LAST_LOAD)));
    vec_bits codes, low, high;

    *head = _mm512_loadu_si512(p);
    codes = (vec_bits)_mm512_permutex2var_epi16(
        *head, _mm512_load_si512(nibble_words), last);
    low = codes & NIBBLES;
    high = codes >> 4 & NIBBLES;
    if (f.levels) {
        low = look_up(f.levels, f.offset, low);
        high = look_up(f.levels, f.offset, high);
    }
    return sum_codes(low, high, x);
}

INLINE __m512i
sum_bytes(const char *p, const struct four *x, __m512i *head)
{
    __m512i first = _mm512_loadu_si512(p), last = _mm512_loadu_si512(p + LINE);
    __m512i low = _mm512_permutex2var_epi16(
        first, _mm512_load_si512(byte_words[0]), last);
    __m512i high = _mm512_permutex2var_epi16(
        first, _mm512_load_si512(byte_words[1]), last);

    high = _mm512_inserti32x4(high, _mm_loadu_si128(AS(__m128i, p + LAST_HALF)),
                              3);
    *head = _mm512_mask_mov_epi16(first, 1u << 2 | 1u << 19, last);
    return sum_codes(from_signed((vec_bits)low), from_signed((vec_bits)high),
                     x);
}

/* Of two rows, first those of a, neighbours added: they fit 16 bits. */
INLINE __m512i
add_neighbours(__m512i a, __m512i b)
{
    return _mm512_madd_epi16(_mm512_packs_epi32(a, b), _mm512_set1_epi16(1));
}

/* Of four rows in 16 bits: two neighbours fit these as well. */
INLINE __m512i
add_neighbours_of_four(const __m512i *s)
{
    return _mm512_packs_epi32(add_neighbours(s[0], s[1]),
                              add_neighbours(s[2], s[3]));
}

/* The sums of four rows: of each quarter the four lanes of a row become one,
 * added to start. Those of nibbles fit 16 bits, two of them as well. */
INLINE __m512i
add_fours(struct blocks f, const __m512i *s, __m512i start)
{
    vec_bits w[4];

    if (f.bytes || f.levels) {
        transpose_quarters(s, w);
        return (__m512i)((vec_bits)start + w[0] + w[1] + w[2] + w[3]);
    }
    return _mm512_dpwssd_epi32(start, add_neighbours_of_four(s),
                               _mm512_set1_epi16(1));
}

/* The part of row `row` of the bytes from `next` on, as many as eight rows of
 * four blocks have. */
INLINE void
fetch_row_part(struct blocks f, const char *next, int row)
{
    const int lines = (int)((EIGHT * f.size + LINE - 1) / LINE);

    UNROLL for (int i = lines * row / EIGHT; i < lines * (row + 1) / EIGHT; i++)
        fetch_line(next + i * LINE);
}

/* What four blocks of four rows add to the elements: a quarter for each block,
 * a lane for each row. */
INLINE __m512
four_rows(struct blocks f, const struct rows *r, int row, const struct four *x,
          const char *next)
{
    const __m512i at = _mm512_load_si512(f.bytes ? byte_scales : nibble_scales);
    __m512i sums[FOUR], head[FOUR], scales[2];
    __m256i d;

    UNROLL for (int i = 0; i < FOUR; i++)
    {
        const char *p = row_at(r, row + i);

        sums[i] = f.bytes ? sum_bytes(p, x, &head[i])
                          : sum_nibbles(f, p, x, &head[i]);
        fetch_row_part(f, next, row + i);
        AFTER(next, sums[i]);
    }
    UNROLL for (int i = 0; i < 2; i++) scales[i] =
        _mm512_permutex2var_epi16(head[2 * i], at, head[2 * i + 1]);
    d = _mm256_blend_epi32(_mm512_castsi512_si256(scales[0]),
                           _mm512_castsi512_si256(scales[1]), 0xaa);
    return _mm512_cvtepi32_ps(add_fours(f, sums, x->start)) *
           (from_f16(d) * x->d);
}

#define ODD_QUARTERS 0xf0f0

/* Each two quarters the other way round. */
INLINE __m512i
swap_quarters(__m512i v)
{
    return _mm512_shuffle_i32x4(v, v, _MM_SHUFFLE(2, 3, 0, 1));
}

/* Quarters 0 of a and of b, then their quarters 2; in v[1] 1 and 3. A shuffle
 * of three operands would do it, were it not to wait for one of them while a
 * Zen 4 multiplies; it blends meanwhile. */
INLINE void
pair_quarters(__m512i a, __m512i b, __m512i *v)
{
    v[0] = _mm512_mask_mov_epi32(a, ODD_QUARTERS, swap_quarters(b));
    v[1] = _mm512_mask_mov_epi32(swap_quarters(a), ODD_QUARTERS, b);
}

/* The first halves of n vectors to acc, in order, then the others. */
INLINE __m256
add_in_halves(__m256 acc, const __m512 *v, int n)
{
    UNROLL for (int i = 0; i < n; i++) acc += _mm512_castps512_ps256(v[i]);
    UNROLL for (int i = 0; i < n; i++) acc += _mm512_extractf32x8_ps(v[i], 1);
    return acc;
}

/* Quarter i of a and of b, a half of a vector: to acc in the order of i. */
INLINE __m256
add_quarters(__m256 acc, __m512 a, __m512 b)
{
    __m512i v[2];

    pair_quarters(_mm512_castps_si512(a), _mm512_castps_si512(b), v);
    return add_in_halves(
        acc, (__m512[]){ _mm512_castsi512_ps(v[0]), _mm512_castsi512_ps(v[1]) },
        2);
}

/* Eight rows. */
INLINE __m256
one_column_by_four(struct blocks f, const struct cpu_product *p, struct rows r,
                   const char *next)
{
    __m256 acc = _mm256_setzero_ps();

    for (int64_t block = 0; block < p->k / COLUMN_BLOCK; block += FOUR) {
        struct four x = four_of_column(f, p->cols, p->k, block);
        __m512 a = four_rows(f, &r, 0, &x, next);
        __m512 b = four_rows(f, &r, FOUR, &x, next);

        acc = add_quarters(acc, a, b);
        next += EIGHT * f.size;
        rows_advance(&r, f.size);
    }
    return acc;
}

/* False: not one column, or none of whole fours. */
INLINE bool
multiply_by_four(struct blocks f, const struct cpu_product *p)
{
    if (p->n_cols > 1 || p->n_rows < EIGHT || p->k % (FOUR * COLUMN_BLOCK))
        return false;
    for (int64_t r = 0; r < p->n_rows; r += EIGHT) {
        int64_t row = p->n_rows - r < EIGHT ? p->n_rows - EIGHT : r;

        _mm256_storeu_ps(p->out + row, one_column_by_four(f, p, rows_at(p, row),
                                                          ahead_of(p, r)));
    }
    return true;
}

static void
multiply_q4_0_by_four(const struct cpu_product *p)
{
    const struct blocks f = { .size = FOUR * sizeof(struct block_q4_0),
                              .offset = 8 };

    if (!multiply_by_four(f, p))
        multiply_q4_0(p);
}

static void
multiply_iq4_nl_by_four(const struct cpu_product *p)
{
    const struct blocks f = { .size = FOUR * sizeof(struct block_iq4_nl),
                              .offset = SIGNED_OFFSET,
                              .levels = quant_iq4_levels };

    if (!multiply_by_four(f, p))
        multiply_iq4_nl(p);
}

static void
multiply_q8_0_by_four(const struct cpu_product *p)
{
    const struct blocks f = { .size = FOUR * sizeof(struct block_q8_0),
                              .bytes = true,
                              .offset = SIGNED_OFFSET };

    if (!multiply_by_four(f, p))
        multiply_q8_0(p);
}

static void
put_abreast(struct cpu_mul_mat *m, int64_t abreast_of_one,
            void (*multiply_one)(const struct cpu_product *p))
{
    m->multiply = multiply_one;
    m->abreast_of_one = abreast_of_one;
}

static void
fill_fours(struct cpu_kernels *k)
{
    put_abreast(&k->mul_mat[GGML_TYPE_Q4_0], EIGHT, multiply_q4_0_by_four);
    put_abreast(&k->mul_mat[GGML_TYPE_IQ4_NL], EIGHT, multiply_iq4_nl_by_four);
    put_abreast(&k->mul_mat[GGML_TYPE_Q8_0], EIGHT, multiply_q8_0_by_four);
}

#endif
