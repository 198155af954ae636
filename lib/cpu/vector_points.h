/* vector_points.h - how blocks of the IQ types are opened that refer to points
 * of grids, for any vectors; see vector_formats.h
 *
 * A point has 16 bits: codes of two or three bits a coordinate. Two points are
 * found at a time, in the halves of a lane. */
#ifndef CPU_VECTOR_POINTS_H
#define CPU_VECTOR_POINTS_H

#include "quant/iq_grid.h"

/* What two and three bits stand for, as iq_grid.h has it; then negative. */
static const int8_t levels_iq2[16] = { 8, 25, 43, 0, -8, -25, -43 };
static const int8_t levels_iq3_xxs[16] = {
    4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62
};
static const int8_t levels_iq3_s[16] = { 1,  3,  5,  7,  9,  11,  13,  15,
                                         -1, -3, -5, -7, -9, -11, -13, -15 };

/* Half-word i of a run. */
INLINE vec_bits
half_at(const struct rows *r, size_t at, int i)
{
    return word_at(r, at, i / 2) >> i % 2 * 16;
}

/* The two low bytes of a lane, a half each. */
INLINE vec_bits
two_bytes(vec_bits w)
{
    return (w & 0xff) | (w & 0xff00) << 8;
}

/* Bit i becomes the parity of bits i to i + 6. */
INLINE vec_bits
parity(vec_bits w)
{
    vec_bits two = w ^ w >> 1;

    return two ^ two >> 2 ^ two >> 4 ^ w >> 6;
}

/* Eight signs each of fields i and i + 1, of seven bits, of w. */
INLINE vec_bits
even_signs(vec_bits w, int i)
{
    vec_bits p = parity(w);

    return (w >> 7 * i & 0x7f) | (p >> 7 * i & 1) << 7 |
           (w >> (7 * i + 7) & 0x7f) << 8 | (p >> (7 * i + 7) & 1) << 15;
}

/* The codes of two points of eight coordinates, with 16 signs. */
INLINE void
open_eights(vec_bits points, vec_bits signs, vec_bits *codes)
{
    UNROLL for (int i = 0; i < 4; i++) codes[i] =
        look_up(levels_iq2, SIGNED_OFFSET,
                spread_pairs(points, i) | spread_bits(signs, i, 2));
}

/* Of twice two points of four coordinates. */
INLINE void
open_fours(const int8_t *levels, const vec_bits *points, vec_bits signs,
           vec_bits *codes)
{
    UNROLL for (int i = 0; i < 4; i++)
    {
        vec_bits p = points[i / 2] >> i % 2 * 16;
        vec_bits b = (p & 0x3f) | (p << 10 & 0x3f0000);

        b = (b | b << 5) & 0x07070707u;
        codes[i] = look_up(levels, SIGNED_OFFSET, b | spread_bits(signs, i, 3));
    }
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

INLINE void
open_iq2_xxs(const struct rows *r, int n, int half, vec_bits *codes)
{
    vec_bits i = half_at(r, AT(iq2_xxs, qs), 4 * n + half);
    vec_bits w = word_at(r, AT(iq2_xxs, qs), 2 * n + 1);

    open_eights(find_points(quant_iq2_xxs_grid, 256, two_bytes(i)),
                even_signs(w, 2 * half), codes);
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
open_iq2_xs(const struct rows *r, int n, int half, vec_bits *codes)
{
    vec_bits w = word_at(r, AT(iq2_xs, qs), 2 * n + half);
    vec_bits s = w >> 9 & 0x007f007f;

    s |= (parity(s) & 0x00010001) << 7;
    open_eights(find_points(quant_iq2_xs_grid, 512, w & 0x01ff01ff), s | s >> 8,
                codes);
}

INLINE void
scales_iq2_s(const struct rows *r, vec *scales)
{
    scales_nibbles(r, AT(iq2_s, scales), scales);
}

INLINE void
open_iq2_s(const struct rows *r, int n, int half, vec_bits *codes)
{
    vec_bits i = two_bytes(half_at(r, AT(iq2_s, qs), 2 * n + half));
    vec_bits s = half_at(r, AT(iq2_s, signs), 2 * n + half);
    vec_bits h = load_words(r, AT(iq2_s, qh) + 4 * (size_t)(n / 4)) >>
                 (8 * (n % 4) + 4 * half);

    i |= (h & 3) << 8 | (h & 12) << 22;
    open_eights(find_points(quant_iq2_s_grid, 1024, i), s, codes);
}

INLINE void
scales_iq3_xxs(const struct rows *r, vec *scales)
{
    vec d = low_f16(load_words(r, 0));

    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        scale_and_half(d, word_at(r, AT(iq3_xxs, words), g) >> 28, 0.5f);
}

INLINE void
open_iq3_xxs(const struct rows *r, int n, int half, vec_bits *codes)
{
    vec_bits i = word_at(r, AT(iq3_xxs, qs), 2 * n + half), points[2];
    vec_bits w = word_at(r, AT(iq3_xxs, words), n);

    points[0] = find_points(quant_iq3_xxs_grid, 256, two_bytes(i));
    points[1] = find_points(quant_iq3_xxs_grid, 256, two_bytes(i >> 16));
    open_fours(levels_iq3_xxs, points, even_signs(w, 2 * half), codes);
}

INLINE void
scales_iq3_s(const struct rows *r, vec *scales)
{
    vec d = low_f16(load_words(r, 0));
    vec_bits w = load_words(r, AT(iq3_s, scales));

    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        d * as_floats((w >> 4 * g & 15) * 2 + 1);
}

INLINE void
open_iq3_s(const struct rows *r, int n, int half, vec_bits *codes)
{
    vec_bits i = word_at(r, AT(iq3_s, qs), 2 * n + half), points[2];
    vec_bits s = half_at(r, AT(iq3_s, signs), 2 * n + half);
    vec_bits h = load_words(r, AT(iq3_s, qh) + 4 * (size_t)(n / 4)) >>
                 (8 * (n % 4) + 4 * half);

    UNROLL for (int j = 0; j < 2; j++)
    {
        vec_bits two = two_bytes(i >> 16 * j), high = h >> 2 * j;

        points[j] = find_points(quant_iq3_s_grid, 512,
                                two | (high & 1) << 8 | (high & 2) << 23);
    }
    open_fours(levels_iq3_s, points, s, codes);
}

/* Two points of -1, 0 and 1, times 8, with `more` added, less 16. */
INLINE void
open_shifted(vec_bits i, const vec_bits *more, vec_bits *codes)
{
    vec_bits points = find_points(quant_iq1_grid, 2048, i);

    UNROLL for (int j = 0; j < 4; j++) codes[j] =
        from_less((spread_pairs(points, j) << 3) + more[j / 2], 16);
}

/* 8 + 1, or 8 - 1 where the lowest bit is set, in each byte. */
INLINE vec_bits
nine_or_seven(vec_bits w)
{
    return 0x09090909u - (((vec_bits){ 0 } - (w & 1)) & 0x02020202u);
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
open_iq1_s(const struct rows *r, int n, int half, vec_bits *codes)
{
    vec_bits i = two_bytes(half_at(r, AT(iq1_s, qs), 2 * n + half));
    vec_bits h = half_at(r, AT(iq1_s, qh), n), high = h >> 6 * half, more[2];

    more[0] = more[1] = nine_or_seven(h >> 15);
    i |= (high & 7) << 8 | (high & 0x38) << 21;
    open_shifted(i, more, codes);
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

INLINE void
open_iq1_m(const struct rows *r, int n, int half, vec_bits *codes)
{
    vec_bits i = two_bytes(half_at(r, AT(iq1_m, qs), 2 * n + half)), more[2];
    vec_bits h = word_at(r, AT(iq1_m, qh), n / 2) >> (n % 2 * 16 + half * 8);

    more[0] = nine_or_seven(h >> 3);
    more[1] = nine_or_seven(h >> 7);
    i |= (h & 7) << 8 | (h & 0x70) << 20;
    open_shifted(i, more, codes);
}

#endif
