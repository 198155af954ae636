/* vector_formats.h - how blocks of each type are opened, for any vectors
 *
 * The same bits as quant/ finds, a lane a row and four values a lane at once:
 * see quant/blocks.h for the layouts, vector_groups.h for the words. */
#ifndef CPU_VECTOR_FORMATS_H
#define CPU_VECTOR_FORMATS_H

#include <stddef.h>

#include "cpu/groups.h"
#include "cpu/vector_groups.h"
#include "quant/blocks.h"
#include "quant/format.h"
#include "quant/types.h"

/* Of each byte: the low nibble, two bits, one bit. */
#define NIBBLES 0x0f0f0f0fu
#define PAIRS   0x03030303u
#define BITS    0x01010101u

/* F16s in the low or high halves of lanes. */
INLINE vec
low_f16(vec_bits w)
{
    return from_f16(narrow(w & 0xffff));
}

INLINE vec
high_f16(vec_bits w)
{
    return from_f16(narrow(w >> 16));
}

/* Byte i of a word, unsigned or signed. */
INLINE vec
byte_of(vec_bits w, int i)
{
    return as_floats(w >> 8 * i & 0xff);
}

INLINE vec
signed_byte_of(vec_bits w, int i)
{
    return as_floats((vec_bits)((vec_ints)(w << (24 - 8 * i)) >> 24));
}

/* The low nibbles of n words, then the high ones. */
INLINE void
split_nibbles(const int n, const vec_bits *w, vec_bits *low, vec_bits *high)
{
    UNROLL for (int i = 0; i < n; i++)
    {
        low[i] = w[i] & NIBBLES;
        high[i] = w[i] >> 4 & NIBBLES;
    }
}

/* Bits `i` of 32 values: a bit of each byte, the first value's lowest. */
INLINE vec_bits
spread_bits(vec_bits bits, int word)
{
    vec_bits b = bits >> 4 * word & 15;

    b |= b << 14;
    return (b | b << 7) & BITS;
}

#define AT(type, field) (at + offsetof(struct block_##type, field))

INLINE void
open_q4_1(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits head = load_words(rows, at), w[4];

    load_16(rows, AT(q4_1, qs), w);
    split_nibbles(4, w, codes, codes + 4);
    scales[0] = low_f16(head);
    scales[1] = -high_f16(head);
}

INLINE void
open_q5_0(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits bits = load_words(rows, AT(q5_0, qh)), w[4];

    load_16(rows, AT(q5_0, qs), w);
    split_nibbles(4, w, codes, codes + 4);
    UNROLL for (int i = 0; i < WORDS; i++) codes[i] |= spread_bits(bits, i)
                                                       << 4;
    scales[0] = low_f16(load_words(rows, at));
}

INLINE void
open_q5_1(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits head = load_words(rows, at), w[4];
    vec_bits bits = load_words(rows, AT(q5_1, qh));

    load_16(rows, AT(q5_1, qs), w);
    split_nibbles(4, w, codes, codes + 4);
    UNROLL for (int i = 0; i < WORDS; i++) codes[i] |= spread_bits(bits, i)
                                                       << 4;
    scales[0] = low_f16(head);
    scales[1] = -high_f16(head);
}

/* The words of a block of Q4_K or Q5_K before its codes: d and dmin, and
 * twelve bytes of six bits, as quant_k_scales() reads them. */
INLINE void
open_k_scales(const char *const *rows, size_t at, vec *scales)
{
    vec_bits w[4], scale[2], min[2];
    vec d, dmin;

    load_16(rows, at, w);
    d = low_f16(w[0]);
    dmin = high_f16(w[0]);
    scale[0] = w[1] & 0x3f3f3f3fu;
    min[0] = w[2] & 0x3f3f3f3fu;
    scale[1] = (w[3] & NIBBLES) | (w[1] >> 2 & 0x30303030u);
    min[1] = (w[3] >> 4 & NIBBLES) | (w[2] >> 2 & 0x30303030u);
    UNROLL for (int g = 0; g < 8; g++)
    {
        scales[2 * g] = d * byte_of(scale[g / 4], g % 4);
        scales[2 * g + 1] = dmin * byte_of(min[g / 4], g % 4);
    }
}

INLINE void
open_q4_k(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    open_k_scales(rows, at, scales);
    UNROLL for (size_t i = 0; i < 4; i++)
    {
        vec_bits w[WORDS];

        load_32(rows, AT(q4_k, qs) + 32 * i, w);
        split_nibbles(WORDS, w, codes + 16 * i, codes + 16 * i + 8);
    }
}

INLINE void
open_q5_k(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits h[WORDS];

    open_k_scales(rows, at, scales);
    load_32(rows, AT(q5_k, qh), h);
    UNROLL for (size_t i = 0; i < 4; i++)
    {
        vec_bits w[WORDS], *c = codes + 16 * i;

        load_32(rows, AT(q5_k, qs) + 32 * i, w);
        split_nibbles(WORDS, w, c, c + 8);
        UNROLL for (int j = 0; j < WORDS; j++)
        {
            c[j] |= (h[j] >> 2 * i & BITS) << 4;
            c[j + 8] |= (h[j] >> (2 * i + 1) & BITS) << 4;
        }
    }
}

INLINE void
open_q6_k(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits s[4];
    /* the block's last word, as nothing after it may be read */
    vec d = high_f16(load_words(rows, at + sizeof(struct block_q6_k) - 4));

    load_16(rows, AT(q6_k, scales), s);
    UNROLL for (int g = 0; g < 16; g++) scales[g] =
        d * signed_byte_of(s[g / 4], g % 4);
    UNROLL for (size_t i = 0; i < 2; i++)
    {
        vec_bits a[WORDS], b[WORDS], h[WORDS], *c = codes + 32 * i;

        load_32(rows, AT(q6_k, ql) + 64 * i, a);
        load_32(rows, AT(q6_k, ql) + 64 * i + 32, b);
        load_32(rows, AT(q6_k, qh) + 32 * i, h);
        UNROLL for (int j = 0; j < WORDS; j++)
        {
            c[j] = (a[j] & NIBBLES) | (h[j] & PAIRS) << 4;
            c[j + 8] = (b[j] & NIBBLES) | (h[j] >> 2 & PAIRS) << 4;
            c[j + 16] = (a[j] >> 4 & NIBBLES) | (h[j] >> 4 & PAIRS) << 4;
            c[j + 24] = (b[j] >> 4 & NIBBLES) | (h[j] >> 6 & PAIRS) << 4;
        }
    }
}

/* 64 bytes with four values each: eight units of pairs of bits. */
INLINE void
open_pairs(const char *const *rows, size_t at, vec_bits *codes)
{
    UNROLL for (size_t i = 0; i < 2; i++)
    {
        vec_bits w[WORDS];

        load_32(rows, at + 32 * i, w);
        UNROLL for (int j = 0; j < WORDS; j++)
            UNROLL for (size_t l = 0; l < 4; l++)
                codes[32 * i + 8 * l + (size_t)j] = w[j] >> 2 * l & PAIRS;
    }
}

INLINE void
open_q2_k(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits head = load_words(rows, AT(q2_k, d)), s[4];
    vec d = low_f16(head), dmin = high_f16(head);

    load_16(rows, AT(q2_k, scales), s);
    UNROLL for (int g = 0; g < 16; g++)
    {
        scales[2 * g] = d * byte_of(s[g / 4] & NIBBLES, g % 4);
        scales[2 * g + 1] = dmin * byte_of(s[g / 4] >> 4 & NIBBLES, g % 4);
    }
    open_pairs(rows, AT(q2_k, qs), codes);
}

INLINE void
open_q3_k(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec d = high_f16(load_words(rows, at + sizeof(struct block_q3_k) - 4));
    vec_bits h[WORDS], s[4], scale[4];

    /* from four bytes before the scales, which the block has; after, not */
    load_16(rows, AT(q3_k, scales) - 4, s);
    scale[0] = (s[1] & NIBBLES) | (s[3] & PAIRS) << 4;
    scale[1] = (s[2] & NIBBLES) | (s[3] >> 2 & PAIRS) << 4;
    scale[2] = (s[1] >> 4 & NIBBLES) | (s[3] >> 4 & PAIRS) << 4;
    scale[3] = (s[2] >> 4 & NIBBLES) | (s[3] >> 6 & PAIRS) << 4;
    UNROLL for (int g = 0; g < 16; g++) scales[g] =
        d * (byte_of(scale[g / 4], g % 4) - splat(32));
    open_pairs(rows, AT(q3_k, qs), codes);
    load_32(rows, AT(q3_k, qh), h);
    UNROLL for (int u = 0; u < MOST_UNITS; u++)
        UNROLL for (int j = 0; j < WORDS; j++) codes[WORDS * u + j] |=
        (h[j] >> u & BITS) << 2;
}

/* Nibbles that stand for signed bytes of a table. */
INLINE void
look_up_nibbles(const int8_t *table, const vec_bits *w, vec_bits *codes)
{
    split_nibbles(4, w, codes, codes + 4);
    UNROLL for (int i = 0; i < WORDS; i++) codes[i] = look_up(table, codes[i]);
}

INLINE void
open_iq4_nl(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits w[4];

    load_16(rows, AT(iq4_nl, qs), w);
    look_up_nibbles(quant_iq4_levels, w, codes);
    scales[0] = low_f16(load_words(rows, at));
}

INLINE void
open_iq4_xs(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits head = load_words(rows, at), high = head >> 16;
    vec_bits low = load_words(rows, AT(iq4_xs, scales_l));
    vec d = low_f16(head);

    UNROLL for (int g = 0; g < 8; g++)
    {
        vec_bits s = (low >> 4 * g & 15) | (high >> 2 * g & 3) << 4;

        scales[g] = d * (as_floats(s) - splat(32));
    }
    UNROLL for (size_t i = 0; i < 4; i++)
    {
        vec_bits w[WORDS];

        load_32(rows, AT(iq4_xs, qs) + 32 * i, w);
        look_up_nibbles(quant_iq4_levels, w, codes + 16 * i);
        look_up_nibbles(quant_iq4_levels, w + 4, codes + 16 * i + 8);
    }
}

INLINE void
open_mxfp4(const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    vec_bits e = load_words(rows, at) & 0xff, w[4];
    vec_bits small = (vec_bits)(e < 2);

    load_16(rows, AT(mxfp4, qs), w);
    look_up_nibbles(quant_fp4_doubled, w, codes);
    /* 2^(e - 128), of which the first two are not normal */
    scales[0] = (vec)((small & (e + 1) * 0x200000u) | (~small & (e - 1) << 23));
}

/* Types without a function here: `unpack` opens a block of each row, which
 * is then brought into the lanes. */
INLINE void
open_unpacked(quant_unpack_fn unpack, const int n_units, const int group,
              const char *const *rows, size_t at, vec_bits *codes, vec *scales)
{
    struct quant_values v[VEC];
    const char *q[VEC], *d[VEC];

    for (int i = 0; i < VEC; i++) {
        unpack(rows[i] + at, &v[i]);
        q[i] = (const char *)v[i].q;
        d[i] = (const char *)v[i].scale;
    }
    for (int u = 0; u < n_units; u++) {
        vec_bits *w = codes + WORDS * u;

        load_32(q, (size_t)u * COLUMN_BLOCK, w);
        UNROLL for (int i = 0; i < WORDS; i++) w[i] = from_signed(w[i]);
    }
    for (int g = 0; g < n_units * COLUMN_BLOCK / group; g++)
        scales[g] = (vec)load_words(d, (size_t)g * sizeof(float));
}

#define OPEN_UNPACKED(name, n_values, group)                                   \
    static void open_##name(const char *const *rows, size_t at,                \
                            vec_bits *codes, vec *scales)                      \
    {                                                                          \
        open_unpacked(unpack_##name, n_values / COLUMN_BLOCK, group, rows, at, \
                      codes, scales);                                          \
    }

#define SIGNED SIGNED_OFFSET, 0
#define MULTIPLY(name, values, group, min, ...)                                \
    static void multiply_##name(const struct cpu_product *p)                   \
    {                                                                          \
        multiply(p, (struct format){ values, sizeof(struct block_##name),      \
                                     group, min, __VA_ARGS__, open_##name });  \
    }
/*                           min    offset, largest code */
MULTIPLY(q4_1, QUANT_BLOCK, 32, true, 0, 15)
MULTIPLY(q5_0, QUANT_BLOCK, 32, false, 16, 31)
MULTIPLY(q5_1, QUANT_BLOCK, 32, true, 0, 31)
MULTIPLY(q2_k, QUANT_SUPER, 16, true, 0, 3)
MULTIPLY(q3_k, QUANT_SUPER, 16, false, 4, 7)
MULTIPLY(q4_k, QUANT_SUPER, 32, true, 0, 15)
MULTIPLY(q5_k, QUANT_SUPER, 32, true, 0, 31)
MULTIPLY(q6_k, QUANT_SUPER, 16, false, 32, 63)
MULTIPLY(iq4_nl, QUANT_BLOCK, 32, false, SIGNED)
MULTIPLY(iq4_xs, QUANT_SUPER, 32, false, SIGNED)
MULTIPLY(mxfp4, QUANT_BLOCK, 32, false, SIGNED)

/* The types without a function share their loops. */
static void
multiply_by_32(const struct cpu_product *p, struct format f)
{
    f.group = 32;
    f.min = false;
    f.offset = SIGNED_OFFSET;
    f.most = 0;
    multiply(p, f);
}

static void
multiply_by_16(const struct cpu_product *p, struct format f)
{
    f.group = 16;
    f.min = false;
    f.offset = SIGNED_OFFSET;
    f.most = 0;
    multiply(p, f);
}

#define MULTIPLY_UNPACKED(name, values, group)                                 \
    OPEN_UNPACKED(name, values, group)                                         \
    static void multiply_##name(const struct cpu_product *p)                   \
    {                                                                          \
        multiply_by_##group(                                                   \
            p, (struct format){ .block = values,                               \
                                .size = sizeof(struct block_##name),           \
                                .open = open_##name });                        \
    }
MULTIPLY_UNPACKED(iq2_xxs, QUANT_SUPER, 32)
MULTIPLY_UNPACKED(iq2_xs, QUANT_SUPER, 16)
MULTIPLY_UNPACKED(iq2_s, QUANT_SUPER, 16)
MULTIPLY_UNPACKED(iq3_xxs, QUANT_SUPER, 32)
MULTIPLY_UNPACKED(iq3_s, QUANT_SUPER, 32)
MULTIPLY_UNPACKED(iq1_s, QUANT_SUPER, 32)
MULTIPLY_UNPACKED(iq1_m, QUANT_SUPER, 16)
MULTIPLY_UNPACKED(tq1_0, QUANT_SUPER, 32)
MULTIPLY_UNPACKED(tq2_0, QUANT_SUPER, 32)
MULTIPLY_UNPACKED(q1_0, 128, 32)
MULTIPLY_UNPACKED(q2_0, 64, 32)
MULTIPLY_UNPACKED(nvfp4, 64, 16)

/* Columns are what Q8_0's are. */
static void
fill_groups(struct cpu_kernels *k)
{
    struct cpu_mul_mat m = k->mul_mat[GGML_TYPE_Q8_0];

    m.scratch_size = NULL;
#define FILL(name, type, min)                                                  \
    m.multiply = multiply_##name;                                              \
    k->mul_mat[type] = m;
    CPU_GROUP_TYPES(FILL)
#undef FILL
}

#endif
