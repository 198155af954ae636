/* vector_points.h - blocks of the IQ types that refer to points of grids, for
 * any vectors; see vector_formats.h
 *
 * These are opened row by row, 32 values at a time: points are looked up one by
 * one, as bytes. Only one column meets them so; for more they are written down
 * as integers, and loaded as other bytes are.
 *
 * For one column an instruction set gives
 *
 *     LONE_POINTS               defined where it has these words
 *     multiply_fours(w, x)      eight sums of four products each, of bytes w
 *                               with signed bytes x
 *     join_sums(s)              of each half of s[0] to s[3] the sum, one after
 *                               the other
 *     group_sums(s, g)          of VEC / 4 of these the halves g, in order
 *
 * and may give, of 32 bytes and as many bits,
 *
 *     MASKED_BYTES              defined where it has these words
 *     negate_where(v, bits)     v, or -v where a bit is set
 *     lower_where(v, bits)      v, or v - 2 */
#ifndef CPU_VECTOR_POINTS_H
#define CPU_VECTOR_POINTS_H

#include "cpu/points.h"

/* Of one row: 32 values, or their half, or quarter. */
typedef uint8_t row_bytes __attribute__((vector_size(32)));
typedef uint16_t row_halves __attribute__((vector_size(32)));
typedef uint32_t row_words __attribute__((vector_size(32)));
typedef uint64_t row_longs __attribute__((vector_size(32)));
typedef uint8_t half_bytes __attribute__((vector_size(16)));
typedef uint16_t half_halves __attribute__((vector_size(16)));

#define IQ_UNITS  (QUANT_SUPER / COLUMN_BLOCK)
#define IQ_POINTS (QUANT_SUPER / 4) /* at most */

/* Of a block: where points are in their table, unless the block has that as
 * bytes, and the signs of 32 values each, or whether they are moved down. */
struct found {
    uint16_t at[IQ_POINTS];
    uint32_t signs[IQ_UNITS];
};

/* A type: finds that, and gives 32 bytes of points. */
struct points {
    void (*find)(const char *block, struct found *f);
    row_bytes (*unit)(const char *block, const struct found *f, int u);
    bool moved; /* up or down, see points.h; otherwise they have signs */
};

#define MOVED_OFFSET 9

#define BITS_OF_BYTES 0x8040201008040201u

#ifndef MASKED_BYTES
INLINE row_bytes
where(uint32_t bits)
{
    const row_bytes bit = (row_bytes)((row_longs){ 0 } + BITS_OF_BYTES);
    row_bytes b = (row_bytes)((row_words){ 0 } + bits);

    /* byte i for eight values, from the half they are in */
    b = __builtin_shufflevector(b, b, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1,
                                1, 1, 18, 18, 18, 18, 18, 18, 18, 18, 19, 19,
                                19, 19, 19, 19, 19, 19);
    return (row_bytes)((b & bit) == bit);
}

INLINE row_bytes
negate_where(row_bytes v, uint32_t bits)
{
    row_bytes all = where(bits);

    return (v ^ all) - all;
}

INLINE row_bytes
lower_where(row_bytes v, uint32_t bits)
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

/* Bytes as 16 bits each, and back. */
INLINE row_halves
widen(const char *p)
{
    return __builtin_convertvector(LOAD_ROW(half_bytes, p), row_halves);
}

INLINE void
store_narrow(row_halves v, void *p)
{
    half_bytes b = __builtin_convertvector(v, half_bytes);

    memcpy(p, &b, sizeof(b));
}

/* Seven bits of each word's four fields, and an eighth, so that the number of
 * those set is even. */
INLINE row_words
even_signs(row_words w)
{
    row_words parity;

    w = (w & 0x7f) | (w << 1 & 0x7f00) | (w << 2 & 0x7f0000) |
        (w << 3 & 0x7f000000);
    parity = w ^ w >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return w | (parity & BITS) << 7;
}

#define FIND(name) INLINE void find_##name(const char *block, struct found *f)
/* Eight values a point, of four a unit; or four values of eight. */
#define EIGHTS(name, table, index)                                             \
    INLINE row_bytes unit_##name(const char *block, const struct found *f,     \
                                 int u)                                        \
    {                                                                          \
        row_longs v = { table[index(0)], table[index(1)], table[index(2)],     \
                        table[index(3)] };                                     \
                                                                               \
        (void)block, (void)f;                                                  \
        return (row_bytes)v;                                                   \
    }
#define FOURS(name, table, index)                                              \
    INLINE row_bytes unit_##name(const char *block, const struct found *f,     \
                                 int u)                                        \
    {                                                                          \
        row_words v = { table[index(0)], table[index(1)], table[index(2)],     \
                        table[index(3)], table[index(4)], table[index(5)],     \
                        table[index(6)], table[index(7)] };                    \
                                                                               \
        (void)block, (void)f;                                                  \
        return (row_bytes)v;                                                   \
    }
#define BYTE(at)          ((uint8_t)block[at])
#define FOUND_IN_FOUR(i)  f->at[4 * u + i]
#define FOUND_IN_EIGHT(i) f->at[8 * u + i]

/* Words in turn: four points; signs and scale. */
FIND(iq2_xxs)
{
    row_words a = LOAD_ROW(row_words, block + AT(iq2_xxs, qs));
    row_words b = LOAD_ROW(row_words, block + AT(iq2_xxs, qs) + sizeof(a));
    row_words signs =
        even_signs(__builtin_shufflevector(a, b, 1, 3, 5, 7, 9, 11, 13, 15));

    memcpy(f->signs, &signs, sizeof(signs));
}

#define IQ2_XXS_POINT(i) BYTE(AT(iq2_xxs, qs) + 8 * u + i)
EIGHTS(iq2_xxs, cpu_iq2_xxs_points, IQ2_XXS_POINT)

FIND(iq2_xs)
{
    UNROLL for (int i = 0; i < 2; i++)
    {
        row_halves w = LOAD_ROW(row_halves, block + AT(iq2_xs, qs) + 32 * i);
        row_halves at = w & 0x1ff, signs = w >> 9, parity = signs ^ signs >> 4;

        parity ^= parity >> 2;
        parity ^= parity >> 1;
        memcpy(f->at + 16 * i, &at, sizeof(at));
        store_narrow(signs | (parity & 1) << 7, f->signs + 4 * i);
    }
}

EIGHTS(iq2_xs, cpu_iq2_xs_points, FOUND_IN_FOUR)

/* Of each four values of two words, one times these and masked: two bits, or a
 * nibble, moved to where they belong. */
#define TIMES(a, b, c, d)                                                      \
    ((row_halves){ a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d })

/* Byte i of 32 bits for points 4 * i to 4 * i + 3, twice in each. */
INLINE row_halves
byte_a_four(const char *p)
{
    row_bytes b = (row_bytes)((row_words){ 0 } + (uint32_t)four_bytes(p));

    return (row_halves)__builtin_shufflevector(
        b, b, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 18, 18, 18, 18,
        18, 18, 18, 18, 19, 19, 19, 19, 19, 19, 19, 19);
}

FIND(iq2_s)
{
    UNROLL for (int i = 0; i < 2; i++)
    {
        row_halves at = widen(block + AT(iq2_s, qs) + 16 * i);

        at |=
            byte_a_four(block + AT(iq2_s, qh) + 4 * i) * TIMES(256, 64, 16, 4) &
            0x300;
        memcpy(f->at + 16 * i, &at, sizeof(at));
    }
    memcpy(f->signs, block + AT(iq2_s, signs), sizeof(f->signs));
}

EIGHTS(iq2_s, cpu_iq2_s_points, FOUND_IN_FOUR)

FIND(iq3_xxs)
{
    row_words signs =
        even_signs(LOAD_ROW(row_words, block + AT(iq3_xxs, words)));

    memcpy(f->signs, &signs, sizeof(signs));
}

#define IQ3_XXS_POINT(i) BYTE(AT(iq3_xxs, qs) + 8 * u + i)
FOURS(iq3_xxs, cpu_iq3_xxs_points, IQ3_XXS_POINT)

FIND(iq3_s)
{
    const row_halves bit = { 1,      2,      4,      8,     0x10,  0x20,
                             0x40,   0x80,   0x100,  0x200, 0x400, 0x800,
                             0x1000, 0x2000, 0x4000, 0x8000 };

    UNROLL for (int i = 0; i < 4; i++)
    {
        row_halves at = widen(block + AT(iq3_s, qs) + 16 * i), high = { 0 };

        high += LOAD_ROW(uint16_t, block + AT(iq3_s, qh) + 2 * i);
        at |= (row_halves)((high & bit) == bit) & 0x100;
        memcpy(f->at + 16 * i, &at, sizeof(at));
    }
    memcpy(f->signs, block + AT(iq3_s, signs), sizeof(f->signs));
}

FOURS(iq3_s, cpu_iq3_s_points, FOUND_IN_EIGHT)

FIND(iq1_s)
{
    half_halves qh = LOAD_ROW(half_halves, block + AT(iq1_s, qh));
    row_words down = -__builtin_convertvector(qh >> 15, row_words);
    row_halves w[2] = {
        (row_halves)__builtin_shufflevector(qh, qh, 0, 0, 0, 0, 1, 1, 1, 1, 2,
                                            2, 2, 2, 3, 3, 3, 3),
        (row_halves)__builtin_shufflevector(qh, qh, 4, 4, 4, 4, 5, 5, 5, 5, 6,
                                            6, 6, 6, 7, 7, 7, 7)
    };

    UNROLL for (int i = 0; i < 2; i++)
    {
        row_halves at = widen(block + AT(iq1_s, qs) + 16 * i);

        at |= (w[i] * TIMES(256, 32, 4, 0) & 0x700) |
              (w[i] >> 1 & TIMES(0, 0, 0, 0x700));
        memcpy(f->at + 16 * i, &at, sizeof(at));
    }
    memcpy(f->signs, &down, sizeof(down));
}

EIGHTS(iq1_s, cpu_iq1_points, FOUND_IN_FOUR)

/* Nibbles: three bits of an index, and whether the point is moved down. */
FIND(iq1_m)
{
    UNROLL for (int i = 0; i < 2; i++)
    {
        row_halves at = widen(block + AT(iq1_m, qs) + 16 * i);
        row_bytes b =
            (row_bytes)((row_longs){ 0 } +
                        LOAD_ROW(uint64_t, block + AT(iq1_m, qh) + 8 * i));
        row_halves high =
            (row_halves)__builtin_shufflevector(
                b, b, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 20, 20,
                20, 20, 21, 21, 21, 21, 22, 22, 22, 22, 23, 23, 23, 23) *
            TIMES(256, 16, 256, 16);

        at |= high & 0x700;
        memcpy(f->at + 16 * i, &at, sizeof(at));
        store_narrow((row_halves)((high & 0x800) == 0x800), f->signs + 4 * i);
    }
}

EIGHTS(iq1_m, cpu_iq1_points, FOUND_IN_FOUR)

/* Half-word i of a run. */
INLINE vec_bits
half_at(const struct rows *r, size_t at, int i)
{
    return word_at(r, at, i / 2) >> i % 2 * 16;
}

/* d * (scale + 1/2) * by */
INLINE vec
scale_and_half(vec d, vec_bits scale, float by)
{
    return d * (splat(0.5f) + as_floats(scale)) * splat(by);
}

INLINE void
scales_iq2_xxs(const struct rows *r, vec *scales)
{
    vec d = low_f16(load_words(r, 0));

    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        scale_and_half(d, word_at(r, AT(iq2_xxs, qs), 2 * g + 1) >> 28, 0.25f);
}

/* Nibbles, for groups of 16. */
INLINE void
scales_nibbles(const struct rows *r, size_t at, vec *scales)
{
    vec d = low_f16(load_words(r, 0));
    vec_bits w[2] = { load_words(r, at), load_words(r, at + 4) };

    UNROLL for (int g = 0; g < 16; g++) scales[g] =
        scale_and_half(d, w[g / 8] >> g % 8 * 4 & 15, 0.25f);
}

INLINE void
scales_iq2_xs(const struct rows *r, vec *scales)
{
    scales_nibbles(r, AT(iq2_xs, scales), scales);
}

INLINE void
scales_iq2_s(const struct rows *r, vec *scales)
{
    scales_nibbles(r, AT(iq2_s, scales), scales);
}

INLINE void
scales_iq3_xxs(const struct rows *r, vec *scales)
{
    vec d = low_f16(load_words(r, 0));

    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        scale_and_half(d, word_at(r, AT(iq3_xxs, words), g) >> 28, 0.5f);
}

INLINE void
scales_iq3_s(const struct rows *r, vec *scales)
{
    vec d = low_f16(load_words(r, 0));
    vec_bits w = load_words(r, AT(iq3_s, scales));

    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        d * as_floats((w >> 4 * g & 15) * 2 + 1);
}

/* d * (2 * scale + 1) / 8 */
INLINE vec
odd_scale(vec d, vec_bits scale)
{
    return d * as_floats((scale & 7) * 2 + 1) * splat(0.125f);
}

INLINE void
scales_iq1_s(const struct rows *r, vec *scales)
{
    vec d = low_f16(load_words(r, 0));

    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        odd_scale(d, half_at(r, AT(iq1_s, qh), g) >> 12);
}

INLINE void
scales_iq1_m(const struct rows *r, vec *scales)
{
    vec_bits w[2] = { load_words(r, AT(iq1_m, scales)),
                      load_words(r, AT(iq1_m, scales) + 4) };
    vec d = low_f16((w[0] >> 12 & 15) | (w[0] >> 28) << 4 |
                    (w[1] >> 12 & 15) << 8 | (w[1] >> 28) << 12);

    UNROLL for (int g = 0; g < 16; g++) scales[g] =
        odd_scale(d, w[g / 8] >> (g / 4 % 2 * 16 + g % 4 * 3));
}

/* A block of VEC rows, as many columns want it: codes of signed bytes. */
INLINE void
open_points(struct points t, const struct rows *r, vec_bits *codes)
{
    int8_t rows[VEC][QUANT_SUPER];
    const struct rows opened = rows_from(AS(char, rows), QUANT_SUPER);

    ROLLED for (int i = 0; i < VEC; i++)
    {
        const char *block = row_at(r, i);
        struct found f;

        t.find(block, &f);
        for (int u = 0; u < IQ_UNITS; u++) {
            row_bytes v = t.unit(block, &f, u);

            if (t.moved)
                v = lower_where(v, f.signs[u]) - MOVED_OFFSET;
            else
                v = negate_where(v, f.signs[u]);
            memcpy(rows[i] + u * COLUMN_BLOCK, &v, sizeof(v));
        }
    }
    for (size_t i = 0; i < QUANT_SUPER / 16; i++) {
        load_16(&opened, 16 * i, codes + 4 * i);
        UNROLL for (int j = 0; j < 4; j++) codes[4 * i + j] =
            from_signed(codes[4 * i + j]);
    }
}

#ifdef LONE_POINTS
/* Sums of four rows' products of a unit, in each half of 16 values. */
INLINE row_words
four_points(struct points t, const struct rows *r, int row,
            const struct found *found, int u, row_bytes x)
{
    row_words s[4];

    UNROLL for (int i = 0; i < 4; i++)
    {
        const struct found *f = &found[row + i];
        row_bytes v = t.unit(row_at(r, row + i), f, u);

        if (t.moved)
            s[i] = multiply_fours(lower_where(v, f->signs[u]), x);
        else
            s[i] = multiply_fours(v, negate_where(x, f->signs[u]));
    }
    return join_sums(s);
}

/* VEC rows times the only column. */
INLINE void
lone_points(struct points t, struct format f, const struct cpu_product *p,
            int64_t row, const char *next)
{
    const int groups = COLUMN_BLOCK / f.group;
    const int lines = (int)((VEC * f.size + LINE - 1) / LINE);
    struct rows r = rows_at(p, row);
    struct found found[VEC];
    vec scales[IQ_UNITS * 2], acc = { 0 };

    for (int64_t unit = 0; unit < p->k / COLUMN_BLOCK; unit += IQ_UNITS) {
        f.scales(&r, scales);
        ROLLED for (int i = 0; i < VEC; i++) t.find(row_at(&r, i), &found[i]);
        ROLLED for (int u = 0; u < IQ_UNITS; u++)
        {
            row_bytes x =
                LOAD_ROW(row_bytes, p->cols + (unit + u) * COLUMN_BLOCK);
            vec d = splat(column_scales(p->cols, p->k)[unit + u]);
            row_words fours[VEC / 4];

            UNROLL for (int i = 0; i < VEC / 4; i++) fours[i] =
                four_points(t, &r, 4 * i, found, u, x);
            UNROLL for (int g = 0; g < groups; g++)
            {
                vec_bits s = start_of(f, p->cols, p->k, unit + u, g);

                s += group_sums(fours, g);
                if (groups == 1)
                    s += group_sums(fours, 1);
                acc = add_scaled(f, acc, as_floats(s), &scales[groups * u + g],
                                 NULL, d);
            }
            for (int i = lines * u / IQ_UNITS; i < lines * (u + 1) / IQ_UNITS;
                 i++)
                fetch_line(next + i * LINE);
        }
        next += VEC * f.size;
        rows_advance(&r, f.size);
    }
    store_f32(p->out + row, acc);
}
#endif

#endif
