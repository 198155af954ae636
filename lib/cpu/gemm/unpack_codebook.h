/* unpack_codebook.h - blocks of the IQ types, whose values are entries of a
 * codebook, for any vectors; see unpack_types.h
 *
 * These are unpacked row by row, 32 values at a time: entries are looked up one
 * by one, as bytes.
 *
 * An instruction set may give, of 32 bytes and as many bits, where MASKED_BYTES
 * is defined,
 *
 *     v_negate_where(v, bits)   v, or -v where a bit is set
 *     v_lower_where(v, bits)    v, or v - 2
 *
 * where ROW_WORDS is,
 *
 *     v_parity_bits(v)          128 in each byte of which an odd number of
 *                               seven bits is set
 *     v_widen(v, half)          half of 32 bytes as 16 bits each
 *     v_narrow_halves(v)        v[0] and v[1], whose values are bytes, as these
 *
 * and where LOOKS_UP_TWO_WORDS is, as entries of four bytes are looked up two
 * at a time,
 *
 *     v_two_words(a, b)         a and b, before the compiler reads where others
 *                               are, in vectors if registers do not suffice
 *     v_join_two_words(v)       four of these */
#ifndef CPU_GEMM_UNPACK_CODEBOOK_H
#define CPU_GEMM_UNPACK_CODEBOOK_H

#include "cpu/gemm/codebooks.h"
#include "cpu/gemm/unpack_types.h"

#define IQ_UNITS   (QUANT_SUPER / COLUMN_BLOCK)
#define IQ_ENTRIES (QUANT_SUPER / 4) /* at most */

/* Where a block's entries are in their table, or the eight bytes of each unit
 * that begin with that; and the signs of 32 values each, or whether these are
 * moved down. */
struct entry_indices {
    row_halves at[IQ_ENTRIES / 16];
    row_words signs;
};

INLINE uint32_t
cpu_signs_at(const struct entry_indices *f, int u)
{
    return AS(uint32_t, &f->signs)[u];
}

/* A type: finds that; and its table, entries of eight or of four bytes. */
struct codebook {
    void (*find)(const char *block, struct entry_indices *f);
    const uint64_t *eights;
    const uint32_t *fours;
    bool bytes; /* say where entries are */
    bool moved; /* up or down, see codebooks.h; otherwise they have signs */
};

#define MOVED_OFFSET 9

/* Each byte of a word eight times, from the half where it is wanted. */
INLINE row_bytes
eight_times(uint32_t w)
{
    row_bytes b = (row_bytes)((row_words){ 0 } + w);

    return __builtin_shufflevector(b, b, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1,
                                   1, 1, 1, 18, 18, 18, 18, 18, 18, 18, 18, 19,
                                   19, 19, 19, 19, 19, 19, 19);
}

#ifndef MASKED_BYTES
INLINE row_bytes
where(uint32_t bits)
{
    const row_bytes bit = (row_bytes)((row_longs){ 0 } + 0x8040201008040201u);

    return (row_bytes)((eight_times(bits) & bit) == bit);
}

INLINE row_bytes
v_negate_where(row_bytes v, uint32_t bits)
{
    row_bytes all = where(bits);

    return (v ^ all) - all;
}

INLINE row_bytes
v_lower_where(row_bytes v, uint32_t bits)
{
    row_bytes all = where(bits);

    return v + all + all;
}
#endif

#define LOAD_ROW(T, p)                                                         \
    __extension__({                                                            \
        T loaded;                                                              \
        memcpy(&loaded, p, sizeof(loaded));                                    \
        loaded;                                                                \
    })

#ifndef ROW_WORDS
INLINE row_bytes
v_parity_bits(row_bytes v)
{
    v ^= v + v;
    v ^= (v + v) + (v + v);
    return (v ^ (row_bytes)((row_halves)v << 4)) & 128;
}

INLINE row_halves
v_widen(row_bytes v, int half)
{
    half_bytes low = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                             10, 11, 12, 13, 14, 15);
    half_bytes high = __builtin_shufflevector(
        v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);

    return __builtin_convertvector(half ? high : low, row_halves);
}

INLINE row_bytes
v_narrow_halves(const row_halves *v)
{
    half_bytes a = __builtin_convertvector(v[0], half_bytes);
    half_bytes b = __builtin_convertvector(v[1], half_bytes);

    return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                   12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,
                                   23, 24, 25, 26, 27, 28, 29, 30, 31);
}
#endif

/* Seven bits of each word's four fields, and an eighth, so that the number of
 * those set is even. */
INLINE row_words
even_signs(row_words w)
{
    w &= 0xfffffff;
    w += w & 0xfffff80;
    w += w & 0x1fff8000;
    w += w & 0x3f800000;
    return w | (row_words)v_parity_bits((row_bytes)w);
}

#define FIND(name)                                                             \
    INLINE void find_##name(const char *block, struct entry_indices *f)

/* Words in turn: four entries; signs and scale. */
FIND(iq2_xxs)
{
    row_words a = LOAD_ROW(row_words, block + AT(iq2_xxs, qs));
    row_words b = LOAD_ROW(row_words, block + AT(iq2_xxs, qs) + sizeof(a));

    f->at[0] = (row_halves)a;
    f->at[1] = (row_halves)b;
    f->signs =
        even_signs(__builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15));
}

FIND(iq2_xs)
{
    row_halves signs[2];
    row_bytes seven;

    UNROLL for (int i = 0; i < 2; i++)
    {
        row_halves w = LOAD_ROW(row_halves, block + AT(iq2_xs, qs) + 32 * i);

        f->at[i] = w & 0x1ff;
        signs[i] = w >> 9;
    }
    seven = v_narrow_halves(signs);
    f->signs = (row_words)(seven | v_parity_bits(seven));
}

/* Factors of fields of bits, which move these where they belong. */
#define TIMES(a, b, c, d)                                                      \
    ((row_halves){ a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d })

FIND(iq2_s)
{
    row_bytes qs = LOAD_ROW(row_bytes, block + AT(iq2_s, qs));

    UNROLL for (int i = 0; i < 2; i++)
    {
        /* four entries have two bits each of a byte, which they all have twice
         */
        uint32_t qh = LOAD_ROW(uint32_t, block + AT(iq2_s, qh) + 4 * i);

        f->at[i] =
            v_widen(qs, i) |
            ((row_halves)eight_times(qh) * TIMES(256, 64, 16, 4) & 0x300);
    }
    f->signs = LOAD_ROW(row_words, block + AT(iq2_s, signs));
}

FIND(iq3_xxs)
{
    UNROLL for (int i = 0; i < 2; i++) f->at[i] =
        LOAD_ROW(row_halves, block + AT(iq3_xxs, qs) + 32 * i);
    f->signs = even_signs(LOAD_ROW(row_words, block + AT(iq3_xxs, words)));
}

FIND(iq3_s)
{
    const row_halves bit = { 1,      2,      4,      8,     0x10,  0x20,
                             0x40,   0x80,   0x100,  0x200, 0x400, 0x800,
                             0x1000, 0x2000, 0x4000, 0x8000 };

    UNROLL for (int i = 0; i < 4; i++)
    {
        row_bytes qs = LOAD_ROW(row_bytes, block + AT(iq3_s, qs) + i / 2 * 32);
        row_halves high = (row_halves){ 0 } +
                          LOAD_ROW(uint16_t, block + AT(iq3_s, qh) + 2 * i);

        f->at[i] =
            v_widen(qs, i % 2) | ((row_halves)((high & bit) == bit) & 0x100);
    }
    f->signs = LOAD_ROW(row_words, block + AT(iq3_s, signs));
}

FIND(iq1_s)
{
    row_bytes qs = LOAD_ROW(row_bytes, block + AT(iq1_s, qs));
    half_halves qh = LOAD_ROW(half_halves, block + AT(iq1_s, qh));
    row_halves w[2] = {
        (row_halves)__builtin_shufflevector(qh, qh, 0, 0, 0, 0, 1, 1, 1, 1, 2,
                                            2, 2, 2, 3, 3, 3, 3),
        (row_halves)__builtin_shufflevector(qh, qh, 4, 4, 4, 4, 5, 5, 5, 5, 6,
                                            6, 6, 6, 7, 7, 7, 7)
    };

    UNROLL for (int i = 0; i < 2; i++) f->at[i] =
        v_widen(qs, i) | (w[i] * TIMES(256, 32, 4, 0) & 0x700) |
        (w[i] >> 1 & TIMES(0, 0, 0, 0x700));
    f->signs = -__builtin_convertvector(qh >> 15, row_words);
}

/* Nibbles: three bits of an index, and whether the entry is moved down. */
FIND(iq1_m)
{
    row_bytes qs = LOAD_ROW(row_bytes, block + AT(iq1_m, qs));
    row_halves down[2];

    UNROLL for (int i = 0; i < 2; i++)
    {
        row_bytes b =
            (row_bytes)((row_longs){ 0 } +
                        LOAD_ROW(uint64_t, block + AT(iq1_m, qh) + 8 * i));
        row_halves high =
            (row_halves)__builtin_shufflevector(
                b, b, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 20, 20,
                20, 20, 21, 21, 21, 21, 22, 22, 22, 22, 23, 23, 23, 23) *
            TIMES(256, 16, 256, 16);

        f->at[i] = v_widen(qs, i) | (high & 0x700);
        down[i] = (row_halves)((high & 0x800) == 0x800) & 0xff;
    }
    f->signs = (row_words)v_narrow_halves(down);
}

#define CODEBOOK(name, ...)                                                    \
    static const struct codebook codebook_##name = { .find = find_##name,      \
                                                     __VA_ARGS__ };
CODEBOOK(iq2_xxs, .eights = cpu_iq2_xxs_codebook, .bytes = true)
CODEBOOK(iq2_xs, .eights = cpu_iq2_xs_codebook)
CODEBOOK(iq2_s, .eights = cpu_iq2_s_codebook)
CODEBOOK(iq3_xxs, .fours = cpu_iq3_xxs_codebook, .bytes = true)
CODEBOOK(iq3_s, .fours = cpu_iq3_s_codebook)
CODEBOOK(iq1_s, .eights = cpu_iq1_codebook, .moved = true)
CODEBOOK(iq1_m, .eights = cpu_iq1_codebook, .moved = true)
#undef CODEBOOK

/* Where entry i of a unit's n is in its table. */
INLINE size_t
index_at(struct codebook t, const struct entry_indices *f, int u, int n, int i)
{
    return t.bytes ? AS(uint8_t, f->at)[8 * u + i]
                   : AS(uint16_t, f->at)[n * u + i];
}

/* The bytes of a unit's entries: four of eight values, or eight of four. */
INLINE row_bytes
cpu_unit_entries(struct codebook t, const struct entry_indices *f, int u)
{
#define EIGHT(i) t.eights[index_at(t, f, u, 4, i)]
#define FOUR(i)  t.fours[index_at(t, f, u, 8, i)]
    if (t.eights)
        return (row_bytes)(row_longs){ EIGHT(0), EIGHT(1), EIGHT(2), EIGHT(3) };
#ifdef LOOKS_UP_TWO_WORDS
    half_words two[4];

    UNROLL for (int i = 0; i < 4; i++) two[i] =
        v_two_words(FOUR(2 * i), FOUR(2 * i + 1));
    return v_join_two_words(two);
#else
    return (row_bytes)(row_words){ FOUR(0), FOUR(1), FOUR(2), FOUR(3),
                                   FOUR(4), FOUR(5), FOUR(6), FOUR(7) };
#endif
#undef FOUR
#undef EIGHT
}

/* d * (scale + 1/2) * by */
INLINE vec
scale_and_half(vec d, vec_bits scale, float by)
{
    return d * (v_splat(0.5f) + v_as_floats(scale)) * v_splat(by);
}

INLINE void
cpu_scales_iq2_xxs(const struct rows *r, vec *scales)
{
    vec d = v_low_f16(v_load_words(r, 0));

    UNROLL for (size_t i = 0; i < 4; i++)
    {
        vec_bits w[4];

        v_load_16(r, AT(iq2_xxs, qs) + 16 * i, w);
        scales[2 * i] = scale_and_half(d, w[1] >> 28, 0.25f);
        scales[2 * i + 1] = scale_and_half(d, w[3] >> 28, 0.25f);
    }
}

/* 2 * n + 1 of each byte. */
INLINE vec_bits
odd_bytes(vec_bits w)
{
    return (w << 1) + BITS;
}

/* Nibbles, for groups of 16. */
INLINE void
cpu_int_scales_nibbles(const struct rows *r, size_t at, struct int_scales *c)
{
    c->d = v_low_f16(v_load_words(r, 0)) * v_splat(0.125f);
    UNROLL for (int i = 0; i < 4; i++)
    {
        vec_bits w = v_load_words(r, at + 4 * (size_t)(i / 2)) >> i % 2 * 16;

        w = (w & 0xff) | (w << 8 & 0xff0000);
        c->scale[i] = odd_bytes((w | w << 4) & NIBBLES);
    }
}

INLINE void
cpu_int_scales_iq2_xs(const struct rows *r, struct int_scales *c)
{
    cpu_int_scales_nibbles(r, AT(iq2_xs, scales), c);
}

INLINE void
cpu_int_scales_iq2_s(const struct rows *r, struct int_scales *c)
{
    cpu_int_scales_nibbles(r, AT(iq2_s, scales), c);
}

INLINE void
cpu_scales_iq3_xxs(const struct rows *r, vec *scales)
{
    vec d = v_low_f16(v_load_words(r, 0));

    UNROLL for (size_t g = 0; g < 8; g += 4)
    {
        vec_bits w[4];

        v_load_16(r, AT(iq3_xxs, words) + 4 * g, w);
        UNROLL for (size_t i = 0; i < 4; i++) scales[g + i] =
            scale_and_half(d, w[i] >> 28, 1);
    }
}

INLINE void
cpu_scales_iq3_s(const struct rows *r, vec *scales)
{
    vec d = v_low_f16(v_load_words(r, 0));
    vec_bits w = v_load_words(r, AT(iq3_s, scales));

    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        d * v_as_floats((w >> 4 * g & 15) * 2 + 1);
}

/* d * (2 * scale + 1) / 8 */
INLINE vec
odd_scale(vec d, vec_bits scale)
{
    return d * v_as_floats((scale & 7) * 2 + 1) * v_splat(0.125f);
}

INLINE void
cpu_scales_iq1_s(const struct rows *r, vec *scales)
{
    vec_bits w[4];
    vec d = v_low_f16(v_load_words(r, 0));

    v_load_16(r, AT(iq1_s, qh), w);
    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        odd_scale(d, w[g / 2] >> (g % 2 * 16 + 12));
}

/* Halves of words: four scales of three bits, and four bits of d. */
INLINE void
cpu_int_scales_iq1_m(const struct rows *r, struct int_scales *c)
{
    vec_bits w[2] = { v_load_words(r, AT(iq1_m, scales)),
                      v_load_words(r, AT(iq1_m, scales) + 4) };

    c->d = v_low_f16((w[0] >> 12 & 15) | (w[0] >> 28) << 4 |
                     (w[1] >> 12 & 15) << 8 | (w[1] >> 28) << 12) *
           v_splat(0.125f);
    UNROLL for (int i = 0; i < 4; i++)
    {
        vec_bits v = w[i / 2] >> i % 2 * 16;

        c->scale[i] = odd_bytes((v & 7) | (v << 5 & 0x700) |
                                (v << 10 & 0x70000) | (v << 15 & 0x7000000));
    }
}

#endif
