/* unpack_types.h - how blocks of each type are unpacked, for any vectors
 *
 * The same bits as quant/ finds, a lane a row and four values a lane at once:
 * see quant/blocks.h for the layouts, quant_products.h for the functions. */
#ifndef CPU_GEMM_UNPACK_TYPES_H
#define CPU_GEMM_UNPACK_TYPES_H

#include <stddef.h>

#include "cpu/gemm/block_types.h"
#include "cpu/gemm/quant_products.h"
#include "quant/blocks.h"
#include "quant/format.h"
#include "quant/types.h"

/* Masks of each byte's low nibble, two bits, one bit. */
#define NIBBLES  0x0f0f0f0fu
#define TWO_BITS 0x03030303u
#define BITS     0x01010101u

/* F16s in the low or high halves of lanes. */
INLINE vec
v_low_f16(vec_bits w)
{
    return v_from_f16(v_narrow(w & 0xffff));
}

INLINE vec
v_high_f16(vec_bits w)
{
    return v_from_f16(v_narrow(w >> 16));
}

/* Signed bytes as codes. */
INLINE vec_bits
v_from_signed(vec_bits w)
{
    return w ^ (SIGNED_OFFSET * 0x01010101u);
}

/* Types without loops of their own have codes that stand for -15 to 15, -31 to
 * 31, or -43 to 43. */
#define SMALL_OFFSET  15
#define MIDDLE_OFFSET 31
#define LARGE_OFFSET  43

/* The low nibbles of a word, or the high ones. */
INLINE vec_bits
v_nibbles(vec_bits w, int high)
{
    return w >> 4 * high & NIBBLES;
}

/* Field `i` of two bits of each byte. */
INLINE vec_bits
two_bits(vec_bits w, int i)
{
    return w >> 2 * i & TWO_BITS;
}

/* Field `i`, times four where i is odd, which takes fewer shifts. */
INLINE vec_bits
two_bits_x4(vec_bits w, int i)
{
    return w >> i / 2 * 4 & TWO_BITS << i % 2 * 2;
}

/* Bit `bit` of each byte of w, or two bits, where `mask` is. */
INLINE vec_bits
move_bits(vec_bits w, int bit, vec_bits mask, int to)
{
    return (bit > to ? w >> (bit - to) : w << (to - bit)) & mask << to;
}

/* The largest magnitude of the levels of E2M1, doubled. */
#define FP4_OFFSET 12

#define AT(type, field) offsetof(struct block_##type, field)

/* Heads of load() and code() of struct format. */
#define LOAD(name)                                                             \
    INLINE void cpu_load_##name(const struct rows *r, int n, int half,         \
                                vec_bits *w)
#define CODE(name)                                                             \
    INLINE vec_bits cpu_code_##name(const vec_bits *w, int n, int half, int u, \
                                    int i)

/* All of sixteen bytes. */
#define LOAD_QS(name)                                                          \
    LOAD(name)                                                                 \
    {                                                                          \
        (void)n, (void)half;                                                   \
        v_load_16(r, AT(name, qs), w);                                         \
    }

/* Half of run n of 32 bytes. */
INLINE void
load_chunk(const struct rows *r, size_t at, int n, int half, vec_bits *w)
{
    v_load_16(r, at + 32 * (size_t)n + 16 * (size_t)half, w);
}

/* Blocks of 32 with nibbles: the low ones of 16 bytes, then the high ones. */
#define NIBBLES_OF(name)                                                       \
    LOAD_QS(name)                                                              \
    CODE(name)                                                                 \
    {                                                                          \
        (void)n, (void)u;                                                      \
        return v_nibbles(w[i], half);                                          \
    }
NIBBLES_OF(q4_0)
NIBBLES_OF(q4_1)

/* Blocks of 32 with nibbles and a fifth bit. */
#define FIVE_BITS_OF(name)                                                     \
    LOAD(name)                                                                 \
    {                                                                          \
        (void)n, (void)half;                                                   \
        v_load_16(r, AT(name, qs), w);                                         \
        w[4] = v_load_words(r, AT(name, qh));                                  \
    }                                                                          \
    CODE(name)                                                                 \
    {                                                                          \
        (void)n, (void)u;                                                      \
        return v_nibbles(w[i], half) | v_spread_bits(w[4], 4 * half + i, 4);   \
    }
FIVE_BITS_OF(q5_0)
FIVE_BITS_OF(q5_1)

/* Scales that are the F16 which the block begins with. */
INLINE void
cpu_scales_d(const struct rows *r, vec *scales)
{
    scales[0] = v_load_f16(r, 0);
}

/* And an F16 that is added. */
INLINE void
cpu_scales_dm(const struct rows *r, vec *scales)
{
    vec_bits head = v_load_words(r, 0);

    scales[0] = v_low_f16(head);
    scales[1] = -v_high_f16(head);
}

LOAD(q8_0)
{
    (void)n;
    v_load_16(r, AT(q8_0, qs) + 16 * (size_t)half, w);
}

CODE(q8_0)
{
    (void)n, (void)half, (void)u;
    return v_from_signed(w[i]);
}

/* The words of a block of Q4_K or Q5_K before its codes: d and dmin, and
 * twelve bytes of six bits, as quant_k_scales() reads them. */
INLINE void
cpu_scales_k(const struct rows *r, vec *scales)
{
    vec_bits w[4], scale[2], min[2];
    vec d, dmin;

    v_load_16(r, 0, w);
    d = v_low_f16(w[0]);
    dmin = v_high_f16(w[0]);
    scale[0] = w[1] & 0x3f3f3f3fu;
    min[0] = w[2] & 0x3f3f3f3fu;
    scale[1] = (w[3] & NIBBLES) | (w[1] >> 2 & 0x30303030u);
    min[1] = (w[3] >> 4 & NIBBLES) | (w[2] >> 2 & 0x30303030u);
    UNROLL for (int g = 0; g < 8; g++)
    {
        scales[2 * g] = d * v_byte_to_float(scale[g / 4], g % 4);
        scales[2 * g + 1] = dmin * v_byte_to_float(min[g / 4], g % 4);
    }
}

/* Nibbles in runs of 64: low ones of 32 bytes, a unit, and high ones. */
LOAD(q4_k)
{
    load_chunk(r, AT(q4_k, qs), n, half, w);
}

CODE(q4_k)
{
    (void)n, (void)half;
    return v_nibbles(w[i], u);
}

LOAD(q5_k)
{
    load_chunk(r, AT(q5_k, qs), n, half, w);
    load_chunk(r, AT(q5_k, qh), 0, half, w + 4);
}

CODE(q5_k)
{
    (void)half;
    return v_nibbles(w[i], u) |
           move_bits(w[4 + i], 2 * n + u, v_splat_bits(BITS), 4);
}

/* Signed bytes; in excess of 128 they are not. */
INLINE void
cpu_int_scales_q6_k(const struct rows *r, struct int_scales *c)
{
    /* the block's last word, as nothing after it may be read */
    c->d = v_high_f16(v_load_words(r, sizeof(struct block_q6_k) - 4));
    v_load_16(r, AT(q6_k, scales), c->scale);
    UNROLL for (int i = 0; i < 4; i++) c->scale[i] ^= 0x80808080u;
}

/* Runs of 128: nibbles of 64 bytes, pairs of bits of 32. */
LOAD(q6_k)
{
    load_chunk(r, AT(q6_k, ql), 2 * n, half, w);
    load_chunk(r, AT(q6_k, ql), 2 * n + 1, half, w + 4);
    load_chunk(r, AT(q6_k, qh), n, half, w + 8);
}

CODE(q6_k)
{
    (void)n, (void)half;
    return v_nibbles(w[u % 2 * 4 + i], u / 2) |
           move_bits(w[8 + i], 2 * u, v_splat_bits(TWO_BITS), 4);
}

INLINE void
cpu_int_scales_q2_k(const struct rows *r, struct int_scales *c)
{
    vec_bits head = v_load_words(r, AT(q2_k, d)), s[4];
    vec d = v_low_f16(head);
    vec_bits none = (vec_bits)(d == v_splat(0));

    c->d = v_choose_where(none, v_splat(1), d);
    c->ratio = v_high_f16(head) / c->d;
    v_load_16(r, AT(q2_k, scales), s);
    UNROLL for (int i = 0; i < 4; i++)
    {
        c->scale[i] = v_nibbles(s[i], 0) & ~none;
        c->min[i] = v_nibbles(s[i], 1);
    }
}

/* Runs of 128: pairs of bits of 32 bytes. */
LOAD(q2_k)
{
    load_chunk(r, AT(q2_k, qs), n, half, w);
}

CODE(q2_k)
{
    (void)n, (void)half;
    return two_bits_x4(w[i], u);
}

/* Six bits in excess of 32. */
INLINE void
cpu_int_scales_q3_k(const struct rows *r, struct int_scales *c)
{
    vec_bits s[4];

    c->d = v_high_f16(v_load_words(r, sizeof(struct block_q3_k) - 4));
    /* from four bytes before the scales, which the block has; after, not */
    v_load_16(r, AT(q3_k, scales) - 4, s);
    UNROLL for (int i = 0; i < 4; i++) c->scale[i] =
        v_nibbles(s[1 + i % 2], i / 2) | two_bits(s[3], i) << 4;
}

LOAD(q3_k)
{
    load_chunk(r, AT(q3_k, qs), n, half, w);
    load_chunk(r, AT(q3_k, qh), 0, half, w + 4);
}

CODE(q3_k)
{
    (void)half;
    return two_bits_x4(w[i], u) |
           move_bits(w[4 + i], 4 * n + u, v_splat_bits(BITS), 2 + u % 2 * 2);
}

/* Nibbles that stand for bytes of a table, in runs of 32. */
LOAD_QS(iq4_nl)

CODE(iq4_nl)
{
    (void)n, (void)u;
    return v_look_up(quant_iq4_levels, SIGNED_OFFSET, v_nibbles(w[i], half));
}

/* Scales of six bits in excess of 32: nibbles of even groups and of odd ones,
 * and their other two bits, of two groups from each half of a byte. As signed
 * bytes at the top of a lane they are 2^24 times as large. */
INLINE void
cpu_scales_iq4_xs(const struct rows *r, vec *scales)
{
    vec_bits w[4], high, s[2];
    vec d;

    v_load_16(r, 0, w);
    d = v_low_f16(w[0]) * v_splat(0x1p-24f);
    high = v_bytes_as_int16_pairs(w[0], 2, 3);
    high |= high << 8;
    s[0] = v_nibbles(w[1], 0) | (high << 4 & 0x300030) | (high & 0x30003000);
    s[1] =
        v_nibbles(w[1], 1) | (high << 2 & 0x300030) | (high >> 2 & 0x30003000);
    UNROLL for (int i = 0; i < 2; i++) s[i] =
        (vec_bits)((vec_bytes)s[i] - (uint8_t)32);
    UNROLL for (int g = 0; g < 8; g++) scales[g] =
        d * v_as_floats(s[g % 2] << (24 - g / 2 * 8) & 0xff000000);
}

LOAD(iq4_xs)
{
    (void)half;
    v_load_16(r, AT(iq4_xs, qs) + 16 * (size_t)n, w);
}

CODE(iq4_xs)
{
    return cpu_code_iq4_nl(w, n, half, u, i);
}

/* 2^(e - 128), of which the first two are not normal. */
INLINE vec
v_power_of_mxfp4(vec_bits e)
{
    vec_bits small = (vec_bits)(e < 2);

    return (vec)((small & (e + 1) << 21) | (~small & (e - 1) << 23));
}

INLINE void
cpu_scales_mxfp4(const struct rows *r, vec *scales)
{
    scales[0] = v_power_of_mxfp4(v_load_words(r, 0) & 0xff);
}

LOAD_QS(mxfp4)

CODE(mxfp4)
{
    (void)n, (void)u;
    return v_look_up(quant_fp4_doubled, FP4_OFFSET, v_nibbles(w[i], half));
}

/* Groups of 16: eight bytes, low nibbles, then high ones. */
LOAD(nvfp4)
{
    (void)half;
    v_load_16(r, AT(nvfp4, qs) + 16 * (size_t)n, w);
}

CODE(nvfp4)
{
    (void)n, (void)u;
    return v_look_up(quant_fp4_doubled, FP4_OFFSET,
                     v_nibbles(w[2 * half + i % 2], i / 2));
}

/* Half of a float of four bits of exponent and three of mantissa, 0 for what
 * is a NaN elsewhere. */
INLINE void
cpu_scales_nvfp4(const struct rows *r, vec *scales)
{
    vec_bits w = v_load_words(r, AT(nvfp4, d));

    UNROLL for (int g = 0; g < 4; g++)
    {
        vec_bits u = w >> 8 * g & 0xff, nan = (vec_bits)(u == 0x7f);
        vec_bits tiny = (vec_bits)((u & 0x78) == 0);
        vec_bits large = ((u & 0x7f) << 20) + ((127u - 8) << 23);
        vec small = v_as_floats(u & 7) * v_splat(0x1p-10f);

        scales[g] = (vec)(((tiny & (vec_bits)small) | (~tiny & large)) & ~nan);
    }
}

/* The scale of the block, for each of its units. */
INLINE void
cpu_scales_same(const struct rows *r, size_t at, int units, vec *scales)
{
    vec d = v_low_f16(v_load_words(r, at));

    UNROLL for (int u = 0; u < units; u++) scales[u] = d;
}

INLINE void
cpu_scales_q1_0(const struct rows *r, vec *scales)
{
    cpu_scales_same(r, 0, 4, scales);
}

LOAD_QS(q1_0)

/* Bits as 0 and 2. */
CODE(q1_0)
{
    (void)n;
    return v_spread_bits(w[u], 4 * half + i, 1);
}

INLINE void
cpu_scales_q2_0(const struct rows *r, vec *scales)
{
    cpu_scales_same(r, 0, 2, scales);
}

/* The four pairs of bits of byte i of a word: a byte each. */
INLINE vec_bits
spread_two_bits(vec_bits w, int i)
{
    vec_bits b = w >> 8 * i & 0xff;

    b |= b << 12;
    return (b | b << 6) & TWO_BITS;
}

LOAD_QS(q2_0)

CODE(q2_0)
{
    (void)n;
    return spread_two_bits(w[2 * u + half], i);
}

/* The block's last F16, as nothing after it may be read. */
INLINE void
cpu_scales_last(const struct rows *r, size_t at, vec *scales)
{
    vec d = v_high_f16(v_load_words(r, at - 2));

    UNROLL for (int u = 0; u < 8; u++) scales[u] = d;
}

INLINE void
cpu_scales_tq2_0(const struct rows *r, vec *scales)
{
    cpu_scales_last(r, AT(tq2_0, d), scales);
}

LOAD(tq2_0)
{
    load_chunk(r, AT(tq2_0, qs), n, half, w);
}

CODE(tq2_0)
{
    (void)n, (void)half;
    return two_bits(w[i], u);
}

/* The scales of a type, for struct format: floats, or integers in excess of
 * `over`. */
#define FLOAT_SCALES(name) .scales = cpu_scales_##name
#define INT_SCALES(name, over)                                                 \
    .has_int_scales = true, .integers = cpu_int_scales_##name, .excess = over

#endif
