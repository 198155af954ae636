/* nibbles_avx512.h - one column times Q4_0 or IQ4_NL, four blocks of a row at
 * once, with AVX-512 VNNI
 *
 * Blocks of 18 bytes that lie in a row are read as one: a load of 64 bytes and
 * one of 16, where sixteen rows side by side take two loads a row and block.
 * Lanes then are sums of eight products, four of each block, and come together
 * at the end: of four rows those of a block, then of a block those of all rows.
 * So elements are computed as column.h says, in this order of blocks.
 *
 * Included after vector_groups.h. */
#ifndef CPU_X86_NIBBLES_AVX512_H
#define CPU_X86_NIBBLES_AVX512_H

#include <stdalign.h>

#define FOUR 4 /* blocks of a row, or rows */

struct nibbles {
    int offset;           /* of codes */
    const int8_t *levels; /* that nibbles stand for; NULL: themselves */
};

/* Four blocks are words 0 to 35 of 16 bits. The first load has those below 32,
 * the second, from byte 56 on, the last eight, which come after those here. */
#define LAST_LOAD 56
#define EIGHT(w)                                                               \
    (w), (w) + 1, (w) + 2, (w) + 3, (w) + 4, (w) + 5, (w) + 6, (w) + 7
static alignas(LINE) const uint16_t code_words[] = { EIGHT(1), EIGHT(10),
                                                     EIGHT(19), EIGHT(32) };
/* The words that blocks begin with, their scales, of two rows: twice, so that
 * four are chosen from two pairs. */
#define TWO(w) (w), (w) + 32, (w), (w) + 32
static alignas(LINE) const uint16_t scale_words[32] = { TWO(0), TWO(9), TWO(18),
                                                        TWO(27) };

/* Four blocks of the column; of lanes a quarter for each. */
struct four {
    __m512i low, high; /* the first sixteen values, the others */
    __m512i start;     /* what integer sums begin with */
    __m512 d;
};

INLINE struct four
four_of_column(struct nibbles f, const char *col, int64_t k, int64_t block)
{
    const __m512i each =
        _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    const char *q = col + block * COLUMN_BLOCK;
    __m512i a = _mm512_loadu_si512(q), b = _mm512_loadu_si512(q + 64);
    __m128i minus = _mm_loadu_si128(AS(__m128i, column_minus(col, k) + block));
    __m128 d = _mm_loadu_ps(column_scales(col, k) + block);
    vec_bits start =
        (vec_bits)_mm512_permutexvar_epi32(each, _mm512_castsi128_si512(minus));

    return (struct four){
        .low = _mm512_shuffle_i32x4(a, b, 0x88),
        .high = _mm512_shuffle_i32x4(a, b, 0xdd),
        .start = (__m512i)(start * (uint32_t)f.offset),
        .d = _mm512_permutexvar_ps(each, _mm512_castps128_ps512(d)),
    };
}

/* Sums of eight products each, of four blocks at p; *head is their beginning.
 */
INLINE __m512i
sum_blocks(struct nibbles f, const char *p, const struct four *x, __m512i *head)
{
    __m512i last =
        _mm512_castsi128_si512(_mm_loadu_si128(AS(__m128i, p + LAST_LOAD)));
    vec_bits codes, low, high;

    *head = _mm512_loadu_si512(p);
    codes = (vec_bits)_mm512_permutex2var_epi16(
        *head, _mm512_load_si512(code_words), last);
    low = codes & NIBBLES;
    high = codes >> 4 & NIBBLES;
    if (f.levels) {
        low = look_up(f.levels, f.offset, low);
        high = look_up(f.levels, f.offset, high);
    }
    return _mm512_dpbusd_epi32(
        _mm512_dpbusd_epi32(_mm512_setzero_si512(), (__m512i)low, x->low),
        (__m512i)high, x->high);
}

/* The sums of four rows: of each quarter the four lanes of a row become one,
 * added to start. Those of nibbles fit 16 bits, two of them as well. */
INLINE __m512i
add_fours(struct nibbles f, const __m512i *s, __m512i start)
{
    const __m512i ones = _mm512_set1_epi16(1);
    __m512i a, b;
    vec_bits w[4];

    if (f.levels) {
        transpose_quarters(s, w);
        return (__m512i)((vec_bits)start + w[0] + w[1] + w[2] + w[3]);
    }
    a = _mm512_madd_epi16(_mm512_packs_epi32(s[0], s[1]), ones);
    b = _mm512_madd_epi16(_mm512_packs_epi32(s[2], s[3]), ones);
    return _mm512_dpwssd_epi32(start, _mm512_packs_epi32(a, b), ones);
}

/* What four blocks of four rows add to the elements: a quarter for each block,
 * a lane for each row. */
INLINE __m512
four_rows(struct nibbles f, const struct rows *r, int row, const struct four *x,
          const char *next)
{
    /* as if four blocks were one */
    const struct format one = { .block = FOUR * COLUMN_BLOCK,
                                .size = FOUR * sizeof(struct block_q4_0) };
    __m512i sums[FOUR], head[FOUR], scales[2];
    __m256i d;

    UNROLL for (int i = 0; i < FOUR; i++)
    {
        sums[i] = sum_blocks(f, row_at(r, row + i), x, &head[i]);
        UNROLL for (int j = 0; j < 2; j++)
            fetch_part(one, next, 2 * (row + i) + j);
        AFTER(next, sums[i]);
    }
    UNROLL for (int i = 0; i < 2; i++) scales[i] = _mm512_permutex2var_epi16(
        head[2 * i], _mm512_load_si512(scale_words), head[2 * i + 1]);
    d = _mm256_blend_epi32(_mm512_castsi512_si256(scales[0]),
                           _mm512_castsi512_si256(scales[1]), 0xaa);
    return _mm512_cvtepi32_ps(add_fours(f, sums, x->start)) *
           (from_f16(d) * x->d);
}

/* Four vectors of four quarters: quarter i of each, to acc in the order of i.
 */
INLINE vec
add_quarters(vec acc, const __m512 *v)
{
    __m512 low[2], high[2];

    UNROLL for (int i = 0; i < 2; i++)
    {
        low[i] = _mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0x44);
        high[i] = _mm512_shuffle_f32x4(v[2 * i], v[2 * i + 1], 0xee);
    }
    acc += _mm512_shuffle_f32x4(low[0], low[1], 0x88);
    acc += _mm512_shuffle_f32x4(low[0], low[1], 0xdd);
    acc += _mm512_shuffle_f32x4(high[0], high[1], 0x88);
    return acc + _mm512_shuffle_f32x4(high[0], high[1], 0xdd);
}

INLINE vec
one_column_by_four(struct nibbles f, const struct cpu_product *p, struct rows r,
                   const char *next)
{
    const size_t size = FOUR * sizeof(struct block_q4_0);
    vec acc = { 0 };

    for (int64_t block = 0; block < p->k / COLUMN_BLOCK; block += FOUR) {
        struct four x = four_of_column(f, p->cols, p->k, block);
        __m512 v[FOUR];

        UNROLL for (int i = 0; i < FOUR; i++) v[i] =
            four_rows(f, &r, FOUR * i, &x, next);
        acc = add_quarters(acc, v);
        next += VEC * size;
        rows_advance(&r, size);
    }
    return acc;
}

/* False: not one column, or none of whole fours. */
INLINE bool
multiply_by_four(struct nibbles f, const struct cpu_product *p)
{
    if (p->n_cols > 1 || p->n_rows < VEC || p->k % (FOUR * COLUMN_BLOCK))
        return false;
    for (int64_t r = 0; r < p->n_rows; r += VEC) {
        int64_t row = last_rows(p, r);

        store_f32(p->out + row,
                  one_column_by_four(f, p, rows_at(p, row), ahead_of(p, r)));
    }
    return true;
}

static void
multiply_q4_0_by_four(const struct cpu_product *p)
{
    if (!multiply_by_four((struct nibbles){ .offset = 8 }, p))
        multiply_q4_0(p);
}

static void
multiply_iq4_nl_by_four(const struct cpu_product *p)
{
    if (!multiply_by_four((struct nibbles){ .offset = SIGNED_OFFSET,
                                            .levels = quant_iq4_levels },
                          p))
        multiply_iq4_nl(p);
}

static void
fill_nibbles(struct cpu_kernels *k)
{
    k->mul_mat[GGML_TYPE_Q4_0].multiply = multiply_q4_0_by_four;
    k->mul_mat[GGML_TYPE_IQ4_NL].multiply = multiply_iq4_nl_by_four;
}

#endif
