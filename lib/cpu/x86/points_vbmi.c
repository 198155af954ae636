/* points_vbmi.c - products with weights of the IQ types that refer to points of
 * grids, with AVX-512 VBMI and GFNI
 *
 * Two rows' blocks at once: all of their 64 points, or 128, are found by
 * permuting bytes, see planes.h, and a vector has the same field of all of
 * them, so that lanes are units of 32 values, eight of one row and then of the
 * other. The only column is put in that order once. */
#include "cpu/x86/groups_avx512.h"

#include "cpu/vector_groups.h"
#include "cpu/vector_points.h"

#define PLANES_SMALL  SMALL_OFFSET
#define PLANES_MIDDLE MIDDLE_OFFSET
#include "cpu/x86/planes.h"

/* Of lanes. */
#define SECOND_ROW 0xff00

/* A block of two rows. Where points have eight coordinates a lane has four of
 * them, of four it has eight: two of each of the following. */
struct two {
    __m512i at[2];     /* the lowest bytes of their indices */
    __m512i high[2];   /* and what is above, from the lowest bit on */
    __m512i signs[2];  /* of each point; or in bit 3 whether it is moved down */
    __m512i down[2];   /* that of two points, 1 or 0 in 16 bits each */
    __m512i scales[2]; /* odd integers; of groups of 16 two */
};

/* A type: finds that; and what it refers to, see planes.h. */
struct grid {
    void (*find)(const char *a, const char *b, struct two *t);
    int n, size; /* points, coordinates of each */
    const uint8_t *planes;
    const uint8_t (*levels)[LEVELS];
    bool moved;
    int group;  /* values that share a scale */
    int offset; /* of codes */
    float by;   /* what d is multiplied by, where scales are not coded */
};

/* Whether halves of units have scales of their own, integers. */
INLINE bool
is_halved(struct grid g)
{
    return g.group != COLUMN_BLOCK;
}

INLINE __m512i
load_64(const void *p)
{
    return _mm512_loadu_si512(p);
}

/* Of each lane eight bits from bit a on, from b on, ... */
INLINE __m512i
bits_from(__m512i w, int a, int b, int c, int d)
{
    uint64_t at =
        (uint64_t)(uint32_t)((a & 63) | (b & 63) << 8 | c << 16 | d << 24);

    at |= (at ^ 0x20202020) << 32;
    return _mm512_multishift_epi64_epi8(_mm512_set1_epi64((long long)at), w);
}

/* 32 bytes of each row. */
INLINE __m512i
both_32(const char *a, const char *b)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_loadu_si256(AS(__m256i, a))),
        _mm256_loadu_si256(AS(__m256i, b)), 1);
}

/* Sixteen bytes of each, as words of 16 bits, a lane each. */
INLINE __m512i
both_16(const char *a, const char *b)
{
    return _mm512_cvtepu16_epi32(_mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128(AS(__m128i, a))),
        _mm_loadu_si128(AS(__m128i, b)), 1));
}

INLINE __m128i
join_8(const char *a, const char *b)
{
    return _mm_unpacklo_epi64(_mm_loadl_epi64(AS(__m128i, a)),
                              _mm_loadl_epi64(AS(__m128i, b)));
}

/* Eight bytes of each, a lane each. */
INLINE __m512i
both_8(const char *a, const char *b)
{
    return _mm512_cvtepu8_epi32(join_8(a, b));
}

/* 64 bytes of each: every other word. */
INLINE __m512i
every_other(__m512i a, __m512i b, int first)
{
    const vec_bits even = { 0,  2,  4,  6,  8,  10, 12, 14,
                            16, 18, 20, 22, 24, 26, 28, 30 };

    return _mm512_permutex2var_epi32(a, (__m512i)(even + (uint32_t)first), b);
}

/* ..., every other byte. */
INLINE __m512i
every_other_byte(__m512i a, __m512i b, int first)
{
    const vec_bits even = { 0x06040200, 0x0e0c0a08, 0x16141210, 0x1e1c1a18,
                            0x26242220, 0x2e2c2a28, 0x36343230, 0x3e3c3a38,
                            0x46444240, 0x4e4c4a48, 0x56545250, 0x5e5c5a58,
                            0x66646260, 0x6e6c6a68, 0x76747270, 0x7e7c7a78 };

    return _mm512_permutex2var_epi8(
        a, (__m512i)(even + (uint32_t)first * 0x01010101), b);
}

/* Bits as a matrix of GFNI has them: of each byte those from `first` on, seven,
 * and an eighth, so that the number of those set is even. */
INLINE __m512i
even_signs_of(__m512i w, int first)
{
    const uint64_t seven = 0x0102040810204000u << first, all = 0x7fu << first;

    return _mm512_gf2p8affine_epi64_epi8(
        w, _mm512_set1_epi64((long long)(seven | all)), 0);
}

/* Four times seven bits of each lane. */
INLINE __m512i
signs_of_words(__m512i w)
{
    return even_signs_of(bits_from(w, 0, 7, 14, 21), 0);
}

/* 2 * n + 1 of some bits from `bit` on. */
INLINE __m512i
odd_scale_at(__m512i w, int bit, int mask)
{
    w = bit ? _mm512_srli_epi32(w, (unsigned)bit - 1) : _mm512_add_epi32(w, w);
    return (w & _mm512_set1_epi32(2 * mask)) | _mm512_set1_epi32(1);
}

#define FIND_BOTH(name)                                                        \
    INLINE void both_##name(const char *a, const char *b, struct two *t)
/* What `load` finds of a field in both blocks. */
#define OF_BOTH(load, type, field)                                             \
    load(a + AT(type, field), b + AT(type, field))

FIND_BOTH(iq2_xxs)
{
    __m512i va = load_64(a + AT(iq2_xxs, qs));
    __m512i vb = load_64(b + AT(iq2_xxs, qs));
    __m512i w = every_other(va, vb, 1);

    t->at[0] = every_other(va, vb, 0);
    t->signs[0] = signs_of_words(w);
    t->scales[0] = odd_scale_at(w, 28, 15);
}

/* Two scales in each lane, of so many bits, the first from `bit` on. */
INLINE void
put_two_scales(__m512i w, int bits, struct two *t)
{
    UNROLL for (int i = 0; i < 2; i++) t->scales[i] =
        odd_scale_at(w, i * bits, (1 << bits) - 1);
}

FIND_BOTH(iq2_xs)
{
    __m512i va = load_64(a + AT(iq2_xs, qs)), vb = load_64(b + AT(iq2_xs, qs));

    t->at[0] = every_other_byte(va, vb, 0);
    t->high[0] = every_other_byte(va, vb, 1);
    t->signs[0] = even_signs_of(t->high[0], 1);
    put_two_scales(OF_BOTH(both_8, iq2_xs, scales), 4, t);
}

FIND_BOTH(iq2_s)
{
    t->at[0] = OF_BOTH(both_32, iq2_s, qs);
    t->high[0] = bits_from(OF_BOTH(both_8, iq2_s, qh), 0, 2, 4, 6);
    t->signs[0] = OF_BOTH(both_32, iq2_s, signs);
    put_two_scales(OF_BOTH(both_8, iq2_s, scales), 4, t);
}

/* Of points of four coordinates, in each lane those of half of a unit; signs
 * of the unit, which are moved so that a point's four begin at bit 2. */
INLINE void
find_fours(const char *a, const char *b, __m512i signs, struct two *t)
{
    __m512i va = load_64(a), vb = load_64(b);

    t->at[0] = every_other(va, vb, 0);
    t->at[1] = every_other(va, vb, 1);
    t->signs[0] = bits_from(signs, -2, 2, 6, 10);
    t->signs[1] = bits_from(signs, 14, 18, 22, 26);
}

FIND_BOTH(iq3_xxs)
{
    __m512i w = OF_BOTH(both_32, iq3_xxs, words);

    find_fours(a + AT(iq3_xxs, qs), b + AT(iq3_xxs, qs), signs_of_words(w), t);
    t->scales[0] = odd_scale_at(w, 28, 15);
}

FIND_BOTH(iq3_s)
{
    const vec_bits nibble = { 0, 4, 8, 12, 16, 20, 24, 28,
                              0, 4, 8, 12, 16, 20, 24, 28 };
    __m512i high = OF_BOTH(both_8, iq3_s, qh);
    __m512i scales = _mm512_mask_set1_epi32(
        _mm512_set1_epi32(four_bytes(a + AT(iq3_s, scales))), SECOND_ROW,
        four_bytes(b + AT(iq3_s, scales)));

    find_fours(a + AT(iq3_s, qs), b + AT(iq3_s, qs),
               OF_BOTH(both_32, iq3_s, signs), t);
    t->high[0] = bits_from(high, 0, 1, 2, 3);
    t->high[1] = bits_from(high, 4, 5, 6, 7);
    t->scales[0] =
        odd_scale_at(_mm512_srlv_epi32(scales, (__m512i)nibble), 0, 15);
}

/* Bits a and b of each lane: whether two points are moved down. */
INLINE __m512i
down_from(__m512i w, int a, int b)
{
    return bits_from(w, a, a, b, b) & _mm512_set1_epi32(0x10001);
}

FIND_BOTH(iq1_s)
{
    __m512i w = OF_BOTH(both_16, iq1_s, qh);

    t->at[0] = OF_BOTH(both_32, iq1_s, qs);
    t->high[0] = bits_from(w, 0, 3, 6, 9);
    t->signs[0] = _mm512_srai_epi32(_mm512_slli_epi32(w, 16), 31);
    t->down[0] = t->down[1] = down_from(w, 15, 15);
    t->scales[0] = odd_scale_at(w, 12, 7);
}

/* A word of scales is for two units, six bits each. */
FIND_BOTH(iq1_m)
{
    __m512i w = _mm512_cvtepu16_epi64(OF_BOTH(join_8, iq1_m, scales));
    __m512i high = OF_BOTH(both_16, iq1_m, qh);

    w = _mm512_srlv_epi32(_mm512_shuffle_epi32(w, 0xa0),
                          _mm512_set1_epi64(6ll << 32));
    t->at[0] = OF_BOTH(both_32, iq1_m, qs);
    t->high[0] = bits_from(high, 0, 4, 8, 12);
    t->signs[0] = t->high[0];
    t->down[0] = down_from(high, 3, 7);
    t->down[1] = down_from(high, 11, 15);
    put_two_scales(w, 3, t);
}

#define GRID(name, count, coordinates, table, level, in_group, less, times)    \
    static const struct grid grid_##name = {                                   \
        .find = both_##name,                                                   \
        .n = count,                                                            \
        .size = coordinates,                                                   \
        .planes = planes_##table,                                              \
        .levels = levels_##level,                                              \
        .moved = count == 2048,                                                \
        .group = in_group,                                                     \
        .offset = less,                                                        \
        .by = times,                                                           \
    };
GRID(iq2_xxs, 256, 8, iq2_xxs, iq2, 32, MIDDLE_OFFSET, 0.125f)
GRID(iq2_xs, 512, 8, iq2_xs, iq2, 16, MIDDLE_OFFSET, 0)
GRID(iq2_s, 1024, 8, iq2_s, iq2, 16, MIDDLE_OFFSET, 0)
GRID(iq3_xxs, 256, 4, iq3_xxs, iq3_xxs, 32, MIDDLE_OFFSET, 0.25f)
GRID(iq3_s, 512, 4, iq3_s, iq3_s, 32, SMALL_OFFSET, 1)
GRID(iq1_s, 2048, 8, iq1, iq1, 32, SMALL_OFFSET, 0.125f)
GRID(iq1_m, 2048, 8, iq1, iq1, 16, SMALL_OFFSET, 0)
#undef GRID

/* Pairs of rows that are looked up together: large tables take as long to load
 * as what is done with them. */
#define TOGETHER 2

/* A plane of the points at t->at[i] of these pairs: of 128 points each those
 * that are there, and by bit after bit of the indices those of the right part.
 */
INLINE void
look_up_plane(struct grid g, const uint8_t *plane, const struct two *t, int i,
              __m512i *found)
{
    __mmask64 upper[TOGETHER][4];
    __m512i part[4][TOGETHER];

    UNROLL for (int j = 0; j < TOGETHER; j++)
    {
        upper[j][0] = _mm512_movepi8_mask(t[j].at[i]);
        UNROLL for (int bit = 1; bit < 4; bit++) upper[j][bit] =
            _mm512_test_epi8_mask(t[j].high[i],
                                  _mm512_set1_epi8((char)(1 << bit >> 1)));
    }
    UNROLL for (int k = 0; k < g.n / 128; k++)
    {
        __m512i low = load_64(plane + 128 * k);
        __m512i high = load_64(plane + 128 * k + 64);

        if (g.n > 512) { /* read once, not for each pair */
            IN_REGISTER(low);
            IN_REGISTER(high);
        }
        UNROLL for (int j = 0; j < TOGETHER; j++)
        {
            found[j] = _mm512_permutex2var_epi8(low, t[j].at[i], high);
            UNROLL for (int bit = 0; bit < 4;
                        bit++) if ((k + 1) % (2 << bit) == 0) found[j] =
                _mm512_mask_mov_epi8(part[bit][j], upper[j][bit], found[j]);
            if (k + 1 < g.n / 128)
                part[__builtin_ctz((unsigned)k + 1)][j] = found[j];
        }
    }
}

/* What codes are looked up by: of each half of the units two vectors, and the
 * signs. */
struct cut {
    __m512i planes[2][2], signs[2];
};

/* Of halved units the first plane's two points and the second's, then those of
 * the other half. */
INLINE void
cut_eights(struct grid g, bool halved, const struct two *t, __m512i low,
           __m512i high, struct cut *c)
{
    const __mmask32 upper = 0xaaaaaaaa;
    const int up = g.moved ? 0 : 4; /* signs of the second plane */
    __m512i signs = t->signs[0];

    if (halved) {
        c->planes[0][0] =
            _mm512_mask_mov_epi16(low, upper, _mm512_slli_epi32(high, 16));
        c->planes[1][0] =
            _mm512_mask_mov_epi16(_mm512_srli_epi32(low, 16), upper, high);
        c->signs[0] = bits_from(signs, 0, 8, up, 8 + up);
        c->signs[1] = bits_from(signs, 16, 24, 16 + up, 24 + up);
    } else {
        c->planes[0][0] = low;
        c->planes[1][0] = high;
        c->signs[0] = signs;
        c->signs[1] = up ? _mm512_srli_epi32(signs, 4) : signs;
    }
    UNROLL for (int i = 0; i < 2; i++) c->planes[i][1] =
        _mm512_srli_epi32(c->planes[i][0], 2);
}

INLINE void
look_up_planes(struct grid g, const struct two *t, int i,
               __m512i (*found)[TOGETHER])
{
    look_up_plane(g, g.planes, t, i, found[0]);
    look_up_plane(g, g.planes + g.n, t, i, found[1]);
}

INLINE void
cut_pairs(struct grid g, bool halved, const struct two *t, struct cut *c)
{
    __m512i first[2][TOGETHER], others[2][TOGETHER];

    look_up_planes(g, t, 0, first);
    if (g.size == 4)
        look_up_planes(g, t, 1, others);
    UNROLL for (int j = 0; j < TOGETHER; j++)
    {
        if (g.size == 8)
            cut_eights(g, halved, &t[j], first[0][j], first[1][j], &c[j]);
        else
            c[j] = (struct cut){ { { first[0][j], first[1][j] },
                                   { others[0][j], others[1][j] } },
                                 { t[j].signs[0], t[j].signs[1] } };
    }
}

/* The codes of two rows' block: of points of eight coordinates vectors have the
 * same coordinate of four points, 0 to 7; but where units are halved two
 * coordinates of two points: 0 and 4, 1 and 5, ... of the first two, then of
 * the others. Of points of four coordinates they have those of the first four,
 * then of the others. */
INLINE void
open_cut(struct grid g, const struct cut *c, __m512i *codes)
{
    static const char code_bits[2][4] = { { 0x30, 0x30, 0x03, 0x03 },
                                          { 0x38, 0x07, 0x23, 0x1c } };
    const bool eight = g.size == 8;

    UNROLL for (int i = 0; i < 8; i++)
    {
        const int half = i / 4, field = i % 4;
        __m512i at = _mm512_ternarylogic_epi32(
            c->planes[half][eight ? field % 2 : field / 2], c->signs[half],
            _mm512_set1_epi8(code_bits[!eight][field]), 0xe4);

        codes[i] = _mm512_permutexvar_epi8(at, load_64(g.levels[field]));
    }
}

#define PAIRS_OF_ROWS (VEC / 2)

/* The first row of pair i; the other is four rows below, so that lanes are rows
 * when quarters come together. */
INLINE int
pair_row(int i)
{
    return i + i / 4 * 4;
}

/* Pairs i and on, as many as are looked up together. */
INLINE void
find_pairs(struct grid g, bool halved, const struct rows *r, int i,
           struct two *t, struct cut *c)
{
    UNROLL for (int j = 0; j < TOGETHER; j++)
    {
        int row = pair_row(i + j);

        g.find(row_at(r, row), row_at(r, row + 4), &t[j]);
    }
    cut_pairs(g, halved, t, c);
}

/* Codes in the order of values: of each unit, 0 and 4, 1 and 5, ..., four
 * coordinates of four points, and likewise the others. */
INLINE void
put_codes(struct grid g, const struct cut *c, __m512i *to)
{
    __m512i codes[8];

    open_cut(g, c, codes);
    UNROLL for (int i = 0; i < 2; i++, to += 4)
    {
        const __m512i *v = codes + 4 * i;
        __m512i low[2] = { _mm512_unpacklo_epi8(v[0], v[1]),
                           _mm512_unpacklo_epi8(v[2], v[3]) };
        __m512i high[2] = { _mm512_unpackhi_epi8(v[0], v[1]),
                            _mm512_unpackhi_epi8(v[2], v[3]) };

        to[0] = _mm512_unpacklo_epi16(low[0], low[1]);
        to[1] = _mm512_unpackhi_epi16(low[0], low[1]);
        to[2] = _mm512_unpacklo_epi16(high[0], high[1]);
        to[3] = _mm512_unpackhi_epi16(high[0], high[1]);
    }
}

/* As open_points() does. */
INLINE void
open_pairs(struct grid g, const struct rows *r, vec_bits *codes)
{
    __m512i opened[PAIRS_OF_ROWS][8];
    const size_t stride = sizeof(opened[0]), half = 32;
    const char *first = AS(char, opened);
    struct rows rows = { .fourth = { first, first + half, first + 4 * stride,
                                     first + 4 * stride + half },
                         .stride = stride };

    ROLLED for (int i = 0; i < PAIRS_OF_ROWS; i += TOGETHER)
    {
        struct two two[TOGETHER];
        struct cut cut[TOGETHER];

        find_pairs(g, false, r, i, two, cut);
        UNROLL for (int j = 0; j < TOGETHER; j++)
            put_codes(g, &cut[j], opened[i + j]);
    }
    for (size_t i = 0; i < 16; i++) {
        size_t unit = i / 2, j = i % 2;
        vec_bits *to = codes + unit * WORDS, w[4];

        load_16(&rows, 64 * (4 * j + unit % 4) + 16 * (unit / 4), w);
        UNROLL for (size_t n = 0; n < 4; n++)
            to[g.size == 8 ? 2 * n + j : 4 * j + n] = w[n];
    }
}

/* What bytes of two units, of 64, eight lanes meet: eight fields of both. */
#define MET_BY_LANE(a, b, c, d) a, b, c, d, a + 32, b + 32, c + 32, d + 32
#define MET_BY_FIELDS(a, b, c, d)                                              \
    MET_BY_LANE(a, b, c, d), MET_BY_LANE(a + 1, b + 1, c + 1, d + 1),          \
        MET_BY_LANE(a + 2, b + 2, c + 2, d + 2),                               \
        MET_BY_LANE(a + 3, b + 3, c + 3, d + 3)
static alignas(LINE) const uint8_t met_by_fours[] = {
    MET_BY_FIELDS(0, 4, 8, 12), MET_BY_FIELDS(16, 20, 24, 28)
};
static alignas(LINE) const uint8_t met_by_eights[] = {
    MET_BY_FIELDS(0, 8, 16, 24), MET_BY_FIELDS(4, 12, 20, 28)
};
static alignas(LINE) const uint8_t met_by_halves[] = {
    MET_BY_FIELDS(0, 8, 4, 12), MET_BY_FIELDS(16, 24, 20, 28)
};

/* Four sums of 16 bits. */
#define POINT_SUMS 8

/* Of a block of the column, of each eight values twice their sum, negative. */
INLINE __m512i
twice_sums(const char *x)
{
    __m512i v[4];

    UNROLL for (int i = 0; i < 4; i++) v[i] = _mm512_sad_epu8(
        load_64(x + 64 * i) ^ _mm512_set1_epi8(-128), _mm512_setzero_si512());
    v[0] = _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm512_cvtepi64_epi16(v[0])),
            _mm512_cvtepi64_epi16(v[1]), 1)),
        _mm256_inserti128_si256(
            _mm256_castsi128_si256(_mm512_cvtepi64_epi16(v[2])),
            _mm512_cvtepi64_epi16(v[3]), 1),
        1);
    return _mm512_slli_epi16(_mm512_sub_epi16(_mm512_set1_epi16(8 * 128), v[0]),
                             1);
}

/* The column in the scratch, as planes meet it: of each block eight times 32
 * bytes, for a row's lanes, the same coordinates as open_cut() has. Behind that
 * what points that are moved add. */
INLINE void
order_column(struct grid g, const struct cpu_product *p)
{
    const __m512i met = load_64(g.size == 4    ? met_by_fours
                                : is_halved(g) ? met_by_halves
                                               : met_by_eights);
    char *to = p->scratch, *sums = to + p->k;

    for (int64_t k = 0; k < p->k; k += QUANT_SUPER, to += QUANT_SUPER) {
        __m512i v[4], w[4];

        UNROLL for (int i = 0; i < 4; i++) v[i] =
            _mm512_permutexvar_epi8(met, load_64(p->cols + k + 64 * i));
        w[0] = _mm512_unpacklo_epi64(v[0], v[1]);
        w[1] = _mm512_unpacklo_epi64(v[2], v[3]);
        w[2] = _mm512_unpackhi_epi64(v[0], v[1]);
        w[3] = _mm512_unpackhi_epi64(v[2], v[3]);
        v[0] = _mm512_shuffle_i64x2(w[0], w[1], 0x44);
        v[1] = _mm512_shuffle_i64x2(w[2], w[3], 0x44);
        v[2] = _mm512_shuffle_i64x2(w[0], w[1], 0xee);
        v[3] = _mm512_shuffle_i64x2(w[2], w[3], 0xee);
        UNROLL for (int i = 0; i < 2; i++)
        {
            char *half = to + 128 * i;
            __m512i a = v[2 * i], b = v[2 * i + 1];

            _mm512_storeu_si512(half, _mm512_shuffle_i64x2(a, b, 0x88));
            _mm512_storeu_si512(half + 64, _mm512_shuffle_i64x2(a, b, 0xdd));
        }
        if (g.moved)
            _mm512_storeu_si512(sums + k / COLUMN_BLOCK * POINT_SUMS,
                                twice_sums(p->cols + k));
    }
}

/* 32 bytes, for both rows. */
INLINE __m512i
for_both(const void *p)
{
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(p));
}

/* A block of the column. */
struct met {
    const char *codes; /* as order_column() left them */
    __m512i start[2];  /* of two sums */
    __m512i twice[2];  /* two points' sums, twice negative, 16 bits each */
    vec d;
};

INLINE struct met
met_at(struct grid g, const struct cpu_product *p, int64_t unit)
{
    /* codes that are moved up are eight times what they stand for, and one */
    const __m512i by = _mm512_set1_epi32(g.moved ? 8 - 1 : g.offset);
    const vec_bits even = {
        0, 2, 4, 6, 8, 10, 12, 14, 0, 2, 4, 6, 8, 10, 12, 14
    };
    const char *ordered = p->scratch;
    struct met x = { .codes = ordered + unit * COLUMN_BLOCK };
    __m512i w;

    x.d = (vec)for_both(column_scales(p->cols, p->k) + unit);
    if (is_halved(g)) {
        w = for_both(column_minus_halves(p->cols, p->k) + 2 * unit);
        x.start[0] = _mm512_srai_epi32(_mm512_slli_epi32(w, 16), 16);
        x.start[1] = _mm512_srai_epi32(w, 16);
    } else {
        x.start[0] = for_both(column_minus(p->cols, p->k) + unit);
        x.start[1] = _mm512_setzero_si512();
    }
    UNROLL for (int i = 0; i < 2; i++)
    {
        x.start[i] = _mm512_mullo_epi32(x.start[i], by);
        if (g.moved)
            x.twice[i] = _mm512_permutexvar_epi32(
                (__m512i)(even + (uint32_t)i),
                load_64(ordered + p->k + unit * POINT_SUMS));
    }
    return x;
}

/* The sums of both halves, of points that may be moved: codes meet the column
 * as they are, or sixteen times as large, and stand for -8, 0 and 8, all of
 * them moved up, or down. */
INLINE void
sum_moved(const struct two *t, const struct cut *c, const struct met *x,
          __m512i *sum)
{
    UNROLL for (int half = 0; half < 2; half++)
    {
        __m512i s[2] = { _mm512_setzero_si512(), _mm512_setzero_si512() };

        UNROLL for (int i = 0; i < 4; i++)
        {
            const __m512i bits = _mm512_set1_epi8(i < 2 ? 0x30 : 3);

            s[i / 2] =
                _mm512_dpbusd_epi32(s[i / 2], c->planes[half][i % 2] & bits,
                                    for_both(x->codes + 32 * (4 * half + i)));
        }
        sum[half] =
            _mm512_dpwssd_epi32(x->start[half], t->down[half], x->twice[half]);
        sum[half] = _mm512_add_epi32(sum[half], _mm512_slli_epi32(s[1], 3));
        sum[half] = _mm512_add_epi32(sum[half], _mm512_srai_epi32(s[0], 1));
    }
}

/* Of others. */
INLINE void
sum_levels(struct grid g, const struct cut *c, const struct met *x,
           __m512i *sum)
{
    __m512i codes[8];

    open_cut(g, c, codes);
    UNROLL for (int i = 0; i < 2; i++) sum[i] = x->start[i];
    UNROLL for (int i = 0; i < 8; i++) sum[i / 4] =
        _mm512_dpbusd_epi32(sum[i / 4], codes[i], for_both(x->codes + 32 * i));
}

/* Sums of products of units, times their scales and those of the column; d are
 * those of the rows, where scales are not coded. */
INLINE vec
multiply_cut(struct grid g, const struct two *t, const struct cut *c,
             const struct met *x, vec d)
{
    __m512i sum[2];

    if (g.moved)
        sum_moved(t, c, x, sum);
    else
        sum_levels(g, c, x, sum);
    if (!is_halved(g))
        return as_floats((vec_bits)sum[0] + (vec_bits)sum[1]) *
               (d * as_floats((vec_bits)t->scales[0]) * x->d);
    UNROLL for (int i = 0; i < 2; i++) sum[i] =
        _mm512_mullo_epi32(sum[i], t->scales[i]);
    return as_floats((vec_bits)sum[0] + (vec_bits)sum[1]) * x->d;
}

/* Of pairs of rows what their units add: unit by unit, a lane a row. */
INLINE void
transpose_pairs(const vec *pairs, vec *units)
{
    vec_bits a[4], b[4];

    transpose_quarters(AS(__m512i, pairs), a);
    transpose_quarters(AS(__m512i, pairs + 4), b);
    UNROLL for (int i = 0; i < 4; i++)
    {
        units[i] = _mm512_shuffle_f32x4((vec)a[i], (vec)b[i], 0x88);
        units[4 + i] = _mm512_shuffle_f32x4((vec)a[i], (vec)b[i], 0xdd);
    }
}

/* VEC rows times the only column: see column.h. */
INLINE void
lone_pairs(struct grid g, struct format f, const struct cpu_product *p,
           int64_t row, const char *next)
{
    struct rows r = rows_at(p, row);
    const char *fetched = next;
    vec acc = { 0 };

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += MOST_UNITS) {
        const struct met x = met_at(g, p, unit);
        vec pairs[PAIRS_OF_ROWS], units[MOST_UNITS], part = acc, d;

        if (f.coded) {
            struct coded c;

            f.integers(&r, &c);
            d = c.d;
            part = splat(0);
        } else {
            d = load_f16(&r, 0) * splat(g.by);
        }
        ROLLED for (int i = 0; i < PAIRS_OF_ROWS; i += TOGETHER)
        {
            struct two two[TOGETHER];
            struct cut cut[TOGETHER];

            find_pairs(g, is_halved(g), &r, i, two, cut);
            UNROLL for (int j = 0; j < TOGETHER; j++)
            {
                const float *first = &AS(float, &d)[pair_row(i + j)];

                pairs[i + j] =
                    multiply_cut(g, &two[j], &cut[j], &x,
                                 _mm512_mask_mov_ps(splat(first[0]), SECOND_ROW,
                                                    splat(first[4])));
                next += 2 * f.size;
            }
            for (; fetched < next; fetched += LINE)
                fetch_line(fetched);
        }
        rows_advance(&r, f.size);
        transpose_pairs(pairs, units);
        UNROLL for (int u = 0; u < MOST_UNITS; u++) part = part + units[u];
        if (f.coded)
            part = acc + part * d;
        acc = part;
    }
    store_f32(p->out + row, acc);
}

#define OPEN_POINTS(name, r, codes) open_pairs(grid_##name, r, codes)
#define ORDER(name)                 order_##name
#define LONE(name)                  lone_##name
#define MULTIPLY_LONE(name, in_group, ...)                                     \
    static void order_##name(const struct cpu_product *p)                      \
    {                                                                          \
        order_column(grid_##name, p);                                          \
    }                                                                          \
    static void lone_##name(const struct cpu_product *p, int64_t row,          \
                            const char *next)                                  \
    {                                                                          \
        const struct format f = { .size = sizeof(struct block_##name),         \
                                  __VA_ARGS__ };                               \
                                                                               \
        lone_pairs(grid_##name, f, p, row, next);                              \
    }
#include "cpu/vector_points_types.h"

static size_t
ordered_size(int64_t k)
{
    return (size_t)(k + k / COLUMN_BLOCK * POINT_SUMS);
}

/* Columns are those of AVX-512. */
void
cpu_fill_avx512vbmi(struct cpu_kernels *k)
{
#define FILL(name, type, kind)                                                 \
    k->mul_mat[type].multiply = multiply_##name;                               \
    k->mul_mat[type].scratch_size = ordered_size;
    CPU_POINT_TYPES(FILL)
#undef FILL
}
