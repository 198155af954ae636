/* codebook_unpack_vbmi.h - blocks of two rows of the IQ types that refer to
 * entries of codebooks, with AVX-512 VBMI and GFNI: what they refer to, and
 * their codes
 *
 * Lanes are units of 32 values, eight of one row and then of the other. */
#ifndef CPU_X86_CODEBOOK_UNPACK_VBMI_H
#define CPU_X86_CODEBOOK_UNPACK_VBMI_H

#include "cpu/x86/codebook_planes.h"

/* Lanes of it. */
#define SECOND_ROW 0xff00

/* A block of two rows. Where entries have eight coordinates a lane has four of
 * them, of four it has eight: two of each of the following. */
struct row_pair {
    __m512i at[2];     /* the lowest bytes of their indices */
    __m512i high[2];   /* and what is above, from the lowest bit on */
    __m512i signs[2];  /* of each entry; or in bit 3 whether it is moved down */
    __m512i down[2];   /* that of two entries, 1 or 0 in 16 bits each */
    __m512i scales[2]; /* odd integers; of groups of 16 two */
};

/* A type: finds that; and what it refers to, see codebook_planes.h. */
struct plane_codebook {
    void (*find)(const char *a, const char *b, struct row_pair *t);
    int n, size; /* entries, coordinates of each */
    const uint8_t *planes;
    const uint8_t (*levels)[LEVELS];
    bool moved;
    int group;  /* values that share a scale */
    int offset; /* of codes */
    float by;   /* what d is multiplied by, where scales are not coded */
};

/* Whether halves of units have scales of their own, integers. */
INLINE bool
cpu_has_half_scales(struct plane_codebook g)
{
    return g.group != COLUMN_BLOCK;
}

INLINE __m512i
v_load_64(const void *p)
{
    return _mm512_loadu_si512(p);
}

/* Eight bits of each lane from bit a on, from b on, ... */
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
    vec_bits v = (vec_bits)w;

    v = bit ? v >> (bit - 1) : v + v;
    return (__m512i)((v & (uint32_t)(2 * mask)) | 1);
}

#define FIND_BOTH(name)                                                        \
    INLINE void both_##name(const char *a, const char *b, struct row_pair *t)
/* Loads a field of both blocks by `load`. */
#define OF_BOTH(load, type, field)                                             \
    load(a + AT(type, field), b + AT(type, field))

FIND_BOTH(iq2_xxs)
{
    __m512i va = v_load_64(a + AT(iq2_xxs, qs));
    __m512i vb = v_load_64(b + AT(iq2_xxs, qs));
    __m512i w = every_other(va, vb, 1);

    t->at[0] = every_other(va, vb, 0);
    t->signs[0] = signs_of_words(w);
    t->scales[0] = odd_scale_at(w, 28, 15);
}

/* Two scales in each lane, of `bits` bits, one after the other. */
INLINE void
put_two_scales(__m512i w, int bits, struct row_pair *t)
{
    UNROLL for (int i = 0; i < 2; i++) t->scales[i] =
        odd_scale_at(w, i * bits, (1 << bits) - 1);
}

FIND_BOTH(iq2_xs)
{
    __m512i va = v_load_64(a + AT(iq2_xs, qs)),
            vb = v_load_64(b + AT(iq2_xs, qs));

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

/* Entries of four coordinates, in each lane those of half of a unit; signs of
 * the unit, which are moved so that an entry's four begin at bit 2. */
INLINE void
find_entries_of_four(const char *a, const char *b, __m512i signs,
                     struct row_pair *t)
{
    __m512i va = v_load_64(a), vb = v_load_64(b);

    t->at[0] = every_other(va, vb, 0);
    t->at[1] = every_other(va, vb, 1);
    t->signs[0] = bits_from(signs, -2, 2, 6, 10);
    t->signs[1] = bits_from(signs, 14, 18, 22, 26);
}

FIND_BOTH(iq3_xxs)
{
    __m512i w = OF_BOTH(both_32, iq3_xxs, words);

    find_entries_of_four(a + AT(iq3_xxs, qs), b + AT(iq3_xxs, qs),
                         signs_of_words(w), t);
    t->scales[0] = odd_scale_at(w, 28, 15);
}

FIND_BOTH(iq3_s)
{
    const vec_bits nibble = { 0, 4, 8, 12, 16, 20, 24, 28,
                              0, 4, 8, 12, 16, 20, 24, 28 };
    __m512i high = OF_BOTH(both_8, iq3_s, qh);
    __m512i scales = _mm512_mask_set1_epi32(
        _mm512_set1_epi32(cpu_load_int32(a + AT(iq3_s, scales))), SECOND_ROW,
        cpu_load_int32(b + AT(iq3_s, scales)));

    find_entries_of_four(a + AT(iq3_s, qs), b + AT(iq3_s, qs),
                         OF_BOTH(both_32, iq3_s, signs), t);
    t->high[0] = bits_from(high, 0, 1, 2, 3);
    t->high[1] = bits_from(high, 4, 5, 6, 7);
    t->scales[0] =
        odd_scale_at(_mm512_srlv_epi32(scales, (__m512i)nibble), 0, 15);
}

/* Bits a and b of each lane: whether two entries are moved down. */
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

#define PLANE_CODEBOOK(name, count, coordinates, table, level, in_group, less, \
                       times)                                                  \
    static const struct plane_codebook plane_codebook_##name = {               \
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
PLANE_CODEBOOK(iq2_xxs, 256, 8, iq2_xxs, iq2, 32, LARGE_OFFSET, 0.125f)
PLANE_CODEBOOK(iq2_xs, 512, 8, iq2_xs, iq2, 16, LARGE_OFFSET, 0)
PLANE_CODEBOOK(iq2_s, 1024, 8, iq2_s, iq2, 16, LARGE_OFFSET, 0)
PLANE_CODEBOOK(iq3_xxs, 256, 4, iq3_xxs, iq3_xxs, 32, MIDDLE_OFFSET, 0.5f)
PLANE_CODEBOOK(iq3_s, 512, 4, iq3_s, iq3_s, 32, SMALL_OFFSET, 1)
PLANE_CODEBOOK(iq1_s, 2048, 8, iq1, iq1, 32, SMALL_OFFSET, 0.125f)
PLANE_CODEBOOK(iq1_m, 2048, 8, iq1, iq1, 16, SMALL_OFFSET, 0)
#undef PLANE_CODEBOOK

/* Pairs of rows that are looked up together: large tables take as long to load
 * as what is done with them. */
#define TOGETHER 2

/* A plane of the entries at t->at[i] of these pairs: of 128 entries each those
 * that are there, and by bit after bit of the indices those of the right part.
 */
INLINE void
look_up_plane(struct plane_codebook g, const uint8_t *plane,
              const struct row_pair *t, int i, __m512i *found)
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
        __m512i low = v_load_64(plane + 128 * k);
        __m512i high = v_load_64(plane + 128 * k + 64);

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

/* Fields by which codes are looked up: two vectors of each half of the units,
 * and the signs. */
struct code_fields {
    __m512i planes[2][2], signs[2];
};

/* Fields of entries of eight: of halved units the first plane's two entries and
 * the second's, then those of the other half. */
INLINE void
fields_of_eight(struct plane_codebook g, bool halved, const struct row_pair *t,
                __m512i low, __m512i high, struct code_fields *c)
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
look_up_planes(struct plane_codebook g, const struct row_pair *t, int i,
               __m512i (*found)[TOGETHER])
{
    look_up_plane(g, g.planes, t, i, found[0]);
    look_up_plane(g, g.planes + g.n, t, i, found[1]);
}

INLINE void
cpu_find_code_fields(struct plane_codebook g, bool halved,
                     const struct row_pair *t, struct code_fields *c)
{
    __m512i first[2][TOGETHER], others[2][TOGETHER];

    look_up_planes(g, t, 0, first);
    if (g.size == 4)
        look_up_planes(g, t, 1, others);
    UNROLL for (int j = 0; j < TOGETHER; j++)
    {
        if (g.size == 8)
            fields_of_eight(g, halved, &t[j], first[0][j], first[1][j], &c[j]);
        else
            c[j] = (struct code_fields){ { { first[0][j], first[1][j] },
                                           { others[0][j], others[1][j] } },
                                         { t[j].signs[0], t[j].signs[1] } };
    }
}

/* The codes of two rows' block: of entries of eight coordinates vectors have
 * the same coordinate of four entries, 0 to 7; but where units are halved two
 * coordinates of two entries: 0 and 4, 1 and 5, ... of the first two, then of
 * the others. Of entries of four coordinates they have those of the first four,
 * then of the others. */
INLINE void
cpu_unpack_fields(struct plane_codebook g, const struct code_fields *c,
                  __m512i *codes)
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

        codes[i] = _mm512_permutexvar_epi8(at, v_load_64(g.levels[field]));
    }
}

#endif
