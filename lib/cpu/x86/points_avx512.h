/* points_avx512.h - blocks of the IQ types that refer to points of small grids,
 * with AVX-512: all points of a row's block are found at once
 *
 * In tables that are shuffled. A block is four vectors then, of which vector i
 * has the values i, i + 4, ..., so that a lane of sums is a group of 16.
 *
 * Included by vector_points_products.h. */
#ifndef CPU_X86_POINTS_AVX512_H
#define CPU_X86_POINTS_AVX512_H

#define PARTS_OF_FOUR 4

/* Of larger tables points are looked up one by one as fast, or faster. */
INLINE bool
at_once(struct points t)
{
    return t.n <= 512;
}

INLINE __m512i
join_rows(row_halves a, row_halves b)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512((__m256i)a), (__m256i)b,
                              1);
}

/* What stands at 32 indices. */
INLINE __m512i
find_words(const uint16_t *table, int n, __m512i at)
{
    __m512i v[8];

    UNROLL for (int j = 0; j < n / 64; j++) v[j] =
        _mm512_permutex2var_epi16(_mm512_loadu_si512(table + 64 * j), at,
                                  _mm512_loadu_si512(table + 64 * j + 32));
    UNROLL for (int m = n / 128; m; m /= 2)
    {
        __mmask32 k =
            _mm512_test_epi16_mask(at, _mm512_set1_epi16((short)(n / 2 / m)));

        UNROLL for (int j = 0; j < m; j++) v[j] =
            _mm512_mask_mov_epi16(v[2 * j], k, v[2 * j + 1]);
    }
    return v[0];
}

/* Levels by what is looked up: codes of two bits with a sign and a bit that
 * does not count, in any order; or of three bits, then a sign. */
#define SIGNED_LEVEL(level, code, minus)                                       \
    ((minus ? -1 : 1) * QUANT_LEVEL_##level(code))
#define SIXTEEN(L)                                                             \
    {                                                                          \
        L(0), L(1), L(2), L(3), L(4), L(5), L(6), L(7), L(8), L(9), L(10),     \
            L(11), L(12), L(13), L(14), L(15)                                  \
    }
#define SIGN_0(i)   SIGNED_LEVEL(IQ2, (i) >> 1 & 3, (i)&1)
#define SIGN_1(i)   SIGNED_LEVEL(IQ2, (i) >> 2, (i)&2)
#define SIGN_2(i)   SIGNED_LEVEL(IQ2, (i)&3, (i)&4)
#define SIGN_3(i)   SIGNED_LEVEL(IQ2, (i)&3, (i)&8)
#define LAST_XXS(i) SIGNED_LEVEL(IQ3_XXS, (i)&7, (i)&8)
#define LAST_S(i)   SIGNED_LEVEL(IQ3_S, (i)&7, (i)&8)
static const int8_t levels_of_eights[4][16] = {
    SIXTEEN(SIGN_0), SIXTEEN(SIGN_1), SIXTEEN(SIGN_2), SIXTEEN(SIGN_3)
};
static const int8_t levels_of_256[16] = SIXTEEN(LAST_XXS);
static const int8_t levels_of_512[16] = SIXTEEN(LAST_S);

/* Of each byte's four lowest bits those of `mask` are the code's. */
INLINE __m512i
look_up_signed(const int8_t *levels, int offset, __m512i code, __m512i sign,
               int mask)
{
    __m512i at = _mm512_ternarylogic_epi32(code, sign,
                                           _mm512_set1_epi8((char)mask), 0xe4);

    return (__m512i)look_up(levels, offset, (vec_bits)at);
}

/* The signs of four values in the low bits of each byte, the others 0. */
INLINE __m512i
spread_signs(row_words signs)
{
    __m512i s = _mm512_cvtepu8_epi16((__m256i)signs);

    return (s | _mm512_slli_epi16(s, 4)) & _mm512_set1_epi8(15);
}

/* Bytes twice as large: an addition, which has more pipes than a shift. */
INLINE __m512i
twice(__m512i v)
{
    return _mm512_add_epi8(v, v);
}

/* Codes are moved to where signs leave them room. */
INLINE void
parts_of_eights(struct points t, const struct found *f, int offset, __m512i *w)
{
    __m512i p = find_words(t.words, t.n, join_rows(f->at[0], f->at[1]));
    __m512i s = spread_signs(f->signs);

    w[0] = look_up_signed(levels_of_eights[0], offset, twice(p), s, 6);
    w[1] = look_up_signed(levels_of_eights[1], offset, p, s, 12);
    w[2] = look_up_signed(levels_of_eights[2], offset, _mm512_srli_epi16(p, 4),
                          s, 3);
    w[3] = look_up_signed(levels_of_eights[3], offset, _mm512_srli_epi16(p, 6),
                          s, 3);
}

/* Points in turn, as bytes of a vector are. */
INLINE void
parts_of_fours(struct points t, const struct found *f, int offset, __m512i *w)
{
    const int8_t *levels = t.n == 256 ? levels_of_256 : levels_of_512;
    const __m512i first = _mm512_set1_epi16(0xff);
    const vec_bits even = { 0x020000, 0x060004, 0x0a0008, 0x0e000c,
                            0x120010, 0x160014, 0x1a0018, 0x1e001c,
                            0x220020, 0x260024, 0x2a0028, 0x2e002c,
                            0x320030, 0x360034, 0x3a0038, 0x3e003c };
    __m512i a = join_rows(f->at[0], f->at[1]);
    __m512i b = join_rows(f->at[2], f->at[3]), low, high, s, s2, s4;

    low = _mm512_permutex2var_epi16(a, (__m512i)even, b);
    high = _mm512_permutex2var_epi16(a, (__m512i)(even + 0x10001), b);
    a = find_words(t.words, t.n, low);
    b = find_words(t.words, t.n, high);
    /* of each the first two codes, then the others */
    low = (a & first) | _mm512_slli_epi16(b, 8);
    high = (_mm512_srli_epi16(a, 6) & first) |
           _mm512_andnot_si512(first, _mm512_slli_epi16(b, 2));
    s = spread_signs(f->signs);
    s2 = twice(s);
    s4 = twice(s2);
    w[0] = look_up_signed(levels, offset, low, twice(s4), 7);
    w[1] = look_up_signed(levels, offset, _mm512_srli_epi16(low, 3), s4, 7);
    w[2] = look_up_signed(levels, offset, high, s2, 7);
    w[3] = look_up_signed(levels, offset, _mm512_srli_epi16(high, 3), s, 7);
}

/* A block's codes, in excess of `offset`. */
INLINE void
find_parts(struct points t, const char *block, int offset, __m512i *w)
{
    struct found f = { .signs = { 0 } };

    t.find(block, &f);
    if (t.eights)
        parts_of_eights(t, &f, offset, w);
    else
        parts_of_fours(t, &f, offset, w);
}

/* As open_points() does. */
INLINE void
open_at_once(struct points t, const struct rows *r, vec_bits *codes)
{
    __m512i rows[VEC][PARTS_OF_FOUR];
    const struct rows opened = rows_from(AS(char, rows), QUANT_SUPER);

    ROLLED for (int i = 0; i < VEC; i++)
    {
        __m512i w[PARTS_OF_FOUR], a, b, c, d;

        find_parts(t, row_at(r, i), t.offset, w);
        a = _mm512_unpacklo_epi8(w[0], w[1]);
        b = _mm512_unpacklo_epi8(w[2], w[3]);
        c = _mm512_unpackhi_epi8(w[0], w[1]);
        d = _mm512_unpackhi_epi8(w[2], w[3]);
        rows[i][0] = _mm512_unpacklo_epi16(a, b);
        rows[i][1] = _mm512_unpackhi_epi16(a, b);
        rows[i][2] = _mm512_unpacklo_epi16(c, d);
        rows[i][3] = _mm512_unpackhi_epi16(c, d);
    }
    /* quarter i of vector j has the 16 values of group 4 * i + j */
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < PARTS_OF_FOUR; j++)
            load_16(&opened, 64 * j + 16 * i, codes + 4 * (4 * i + j));
}

/* A block of the column, in such vectors. */
INLINE void
split_column(const char *x, __m512i *w)
{
    const __m512i fours = _mm512_broadcast_i32x4(
        _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const vec_bits every = { 0, 4, 8, 12, 16, 20, 24, 28 };
    __m512i v[4];

    UNROLL for (int i = 0; i < 4; i++) v[i] =
        _mm512_shuffle_epi8(_mm512_loadu_si512(x + 64 * i), fours);
    UNROLL for (int i = 0; i < PARTS_OF_FOUR; i++)
    {
        __m512i at = (__m512i)(every + (uint32_t)i);

        w[i] = _mm512_inserti64x4(
            _mm512_permutex2var_epi32(v[0], at, v[1]),
            _mm512_castsi512_si256(_mm512_permutex2var_epi32(v[2], at, v[3])),
            1);
    }
}

/* As lone_points() does. */
INLINE void
lone_at_once(struct points t, struct format f, const struct cpu_product *p,
             int64_t row, const char *next)
{
    struct rows r = rows_at(p, row);
    struct coded integers;
    vec scales[MOST_UNITS * MOST_SCALES], acc = { 0 };

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += IQ_UNITS) {
        __m512i sums[VEC], x[PARTS_OF_FOUR], start;
        const struct rows all = rows_from(AS(char, sums), sizeof(sums[0]));
        vec_bits s[QUANT_SUPER / 16];
        vec part = block_begin(f, acc);

        load_scales(f, false, &r, &integers, scales);
        start = _mm512_slli_epi32(
            _mm512_cvtepi16_epi32(LOAD_ROW(
                __m256i, column_minus_halves(p->cols, p->k) + 2 * unit)),
            7);
        split_column(p->cols + unit * COLUMN_BLOCK, x);
        ROLLED for (int i = 0; i < VEC; i++)
        {
            __m512i w[PARTS_OF_FOUR], sum = start;

            find_parts(t, row_at(&r, i), SIGNED_OFFSET, w);
            UNROLL for (int j = 0; j < PARTS_OF_FOUR; j++) sum =
                _mm512_dpbusd_epi32(sum, w[j], x[j]);
            sums[i] = sum;
            fetch_part(f, next, i, VEC, true);
        }
        next += VEC * f.size;
        rows_advance(&r, f.size);
        UNROLL for (size_t i = 0; i < 4; i++) load_16(&all, 16 * i, s + 4 * i);
        UNROLL for (int u = 0; u < IQ_UNITS; u++) part =
            add_unit(f, part, &s[2 * u], scales + u * scales_of(f),
                     splat(column_scales(p->cols, p->k)[unit + u]));
        acc = block_end(f, acc, part, scales);
    }
    store_f32(p->out + row, acc);
}

#endif
