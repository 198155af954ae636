/* formats.h - unpacking of quantised blocks of each type, 32 values at a time
 *
 * See quant/blocks.h for the layouts. A sub-block is 32 values of a block,
 * unpacked by one thread: eight words of codes, in the order of the values, and
 * a scale and a min for each of its groups, one or two:
 *
 *     x[j] = scale[g] * (code[j] - offset) - min[g]
 *
 * codes are signed bytes. */
#ifndef CUDA_FORMATS_H
#define CUDA_FORMATS_H

#include "cuda/packed_bytes.h"
#include "quant/blocks.h"

#define SUB_BLOCK 32

struct sub_block {
    uint32_t codes[SUB_BLOCK / 4];
    float scale[2], min[2];
};

#define AT(type, field) offsetof(struct block_##type, field)

/* Compile-time traits of a type. `group`: values that share a scale. */
#define FORMAT(name, n_values, n_group, has_min, code_offset)                  \
    enum {                                                                     \
        values = (n_values),                                                   \
        size = sizeof(struct block_##name),                                    \
        sub_blocks = (n_values) / SUB_BLOCK,                                   \
        group = (n_group),                                                     \
        min = (has_min),                                                       \
        offset = (code_offset),                                                \
        aligned = size % 4 == 0                                                \
    }

/* Nibbles of 16 bytes: the low ones, then the high ones. */
template <bool aligned>
DEVICE void
unpack_nibbles(const char *p, uint32_t *codes)
{
    uint32_t w[4];

    cuda_load_words<aligned, 4>(p, w);
    UNROLL for (int i = 0; i < 4; i++)
    {
        codes[i] = w[i] & MASK_4BIT;
        codes[4 + i] = w[i] >> 4 & MASK_4BIT;
    }
}

/* Some bits, from `shift` on, of each of 32 bytes. */
template <bool aligned>
DEVICE void
unpack_bits(const char *p, int shift, uint32_t mask, uint32_t *codes)
{
    cuda_load_words<aligned, 8>(p, codes);
    UNROLL for (int i = 0; i < 8; i++) codes[i] = codes[i] >> shift & mask;
}

/* Adds the bits of unpack_bits() as higher bits of the codes. */
template <bool aligned>
DEVICE void
add_high_bits(const char *p, int shift, uint32_t mask, int to, uint32_t *codes)
{
    uint32_t w[8];

    unpack_bits<aligned>(p, shift, mask, w);
    UNROLL for (int i = 0; i < 8; i++) codes[i] |= w[i] << to;
}

/* The fifth bit of each code. */
DEVICE void
add_fifth_bit(uint32_t bits, uint32_t *codes)
{
    UNROLL for (int i = 0; i < 8; i++) codes[i] |=
        cuda_spread_1bit(bits >> 4 * i & 15) << 4;
}

struct format_q4_0 {
    FORMAT(q4_0, 32, 32, 0, 8);
    DEVICE void unpack(const char *b, int, struct sub_block *u)
    {
        u->scale[0] = cuda_load_f16(b);
        unpack_nibbles<aligned>(b + AT(q4_0, qs), u->codes);
    }
};

struct format_q4_1 {
    FORMAT(q4_1, 32, 32, 1, 0);
    DEVICE void unpack(const char *b, int, struct sub_block *u)
    {
        u->scale[0] = cuda_load_f16(b);
        u->min[0] = -cuda_load_f16(b + AT(q4_1, m));
        unpack_nibbles<aligned>(b + AT(q4_1, qs), u->codes);
    }
};

struct format_q5_0 {
    FORMAT(q5_0, 32, 32, 0, 16);
    DEVICE void unpack(const char *b, int, struct sub_block *u)
    {
        u->scale[0] = cuda_load_f16(b);
        unpack_nibbles<aligned>(b + AT(q5_0, qs), u->codes);
        add_fifth_bit(cuda_load_word<aligned>(b + AT(q5_0, qh)), u->codes);
    }
};

struct format_q5_1 {
    FORMAT(q5_1, 32, 32, 1, 0);
    DEVICE void unpack(const char *b, int, struct sub_block *u)
    {
        u->scale[0] = cuda_load_f16(b);
        u->min[0] = -cuda_load_f16(b + AT(q5_1, m));
        unpack_nibbles<aligned>(b + AT(q5_1, qs), u->codes);
        add_fifth_bit(cuda_load_word<aligned>(b + AT(q5_1, qh)), u->codes);
    }
};

struct format_q8_0 {
    FORMAT(q8_0, 32, 32, 0, 0);
    DEVICE void unpack(const char *b, int, struct sub_block *u)
    {
        u->scale[0] = cuda_load_f16(b);
        cuda_load_words<aligned, 8>(b + AT(q8_0, qs), u->codes);
    }
};

/* Sub-block n has groups 2 n and 2 n + 1 of 16 values. */
struct format_q2_k {
    FORMAT(q2_k, QUANT_SUPER, 16, 1, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        float d = cuda_load_f16(b + AT(q2_k, d));
        float dmin = cuda_load_f16(b + AT(q2_k, dmin));

        UNROLL for (int g = 0; g < 2; g++)
        {
            uint32_t s = cuda_load_u8(b + AT(q2_k, scales) + 2 * n + g);

            u->scale[g] = d * (float)(s & 15);
            u->min[g] = dmin * (float)(s >> 4);
        }
        unpack_bits<aligned>(b + AT(q2_k, qs) + n / 4 * 32, n % 4 * 2,
                             MASK_2BIT, u->codes);
    }
};

struct format_q3_k {
    FORMAT(q3_k, QUANT_SUPER, 16, 0, 4);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        const char *scales = b + AT(q3_k, scales);
        float d = cuda_load_f16(b + AT(q3_k, d));

        UNROLL for (int g = 0; g < 2; g++)
        {
            int at = 2 * n + g;
            int low = (int)(cuda_load_u8(scales + at % 8) >> at / 8 * 4 & 15);
            int high =
                (int)(cuda_load_u8(scales + 8 + at % 4) >> at / 4 * 2 & 3);

            u->scale[g] = d * (float)((low | high << 4) - 32);
        }
        unpack_bits<aligned>(b + AT(q3_k, qs) + n / 4 * 32, n % 4 * 2,
                             MASK_2BIT, u->codes);
        add_high_bits<aligned>(b + AT(q3_k, qh), n, MASK_1BIT, 2, u->codes);
    }
};

/* Six bits each of scale n and min n, as Q4_K and Q5_K hold them: see
 * quant/blocks.h. b is at d, dmin, and then come the scales. */
DEVICE void
unpack_k_scales(const char *b, int n, struct sub_block *u)
{
    uint32_t w[4], scale, min;
    int shift = n % 4 * 8;

    cuda_load_words<true, 4>(b, w);
    if (n < 4) {
        scale = w[1] >> shift & 63;
        min = w[2] >> shift & 63;
    } else {
        scale = (w[3] >> shift & 15) | (w[1] >> shift & 0xc0) >> 2;
        min = (w[3] >> shift >> 4 & 15) | (w[2] >> shift & 0xc0) >> 2;
    }
    u->scale[0] = cuda_from_f16((uint16_t)w[0]) * (float)scale;
    u->min[0] = cuda_from_f16((uint16_t)(w[0] >> 16)) * (float)min;
}

struct format_q4_k {
    FORMAT(q4_k, QUANT_SUPER, 32, 1, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        unpack_k_scales(b, n, u);
        unpack_bits<aligned>(b + AT(q4_k, qs) + n / 2 * 32, n % 2 * 4,
                             MASK_4BIT, u->codes);
    }
};

struct format_q5_k {
    FORMAT(q5_k, QUANT_SUPER, 32, 1, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        unpack_k_scales(b, n, u);
        unpack_bits<aligned>(b + AT(q5_k, qs) + n / 2 * 32, n % 2 * 4,
                             MASK_4BIT, u->codes);
        add_high_bits<aligned>(b + AT(q5_k, qh), n, MASK_1BIT, 4, u->codes);
    }
};

struct format_q6_k {
    FORMAT(q6_k, QUANT_SUPER, 16, 0, 32);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        float d = cuda_load_f16(b + AT(q6_k, d));

        UNROLL for (int g = 0; g < 2; g++) u->scale[g] =
            d * (float)(int8_t)cuda_load_u8(b + AT(q6_k, scales) + 2 * n + g);
        unpack_bits<aligned>(b + AT(q6_k, ql) + n / 4 * 64 + n % 2 * 32,
                             n % 4 / 2 * 4, MASK_4BIT, u->codes);
        add_high_bits<aligned>(b + AT(q6_k, qh) + n / 4 * 32, n % 4 * 2,
                               MASK_2BIT, 4, u->codes);
    }
};

/* Bits as 0 and 2. */
struct format_q1_0 {
    FORMAT(q1_0, 128, 32, 0, 1);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t bits = cuda_load_word<aligned>(b + AT(q1_0, qs) + 4 * n);

        u->scale[0] = cuda_load_f16(b);
        UNROLL for (int i = 0; i < 8; i++) u->codes[i] =
            cuda_spread_1bit(bits >> 4 * i & 15) << 1;
    }
};

struct format_q2_0 {
    FORMAT(q2_0, 64, 32, 0, 1);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t w[2];

        cuda_load_words<aligned, 2>(b + AT(q2_0, qs) + 8 * n, w);
        u->scale[0] = cuda_load_f16(b);
        UNROLL for (int i = 0; i < 8; i++) u->codes[i] =
            cuda_spread_2bit(w[i / 4] >> i % 4 * 8 & 255);
    }
};

struct format_tq2_0 {
    FORMAT(tq2_0, QUANT_SUPER, 32, 0, 1);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        u->scale[0] = cuda_load_f16(b + AT(tq2_0, d));
        unpack_bits<aligned>(b + n / 4 * 32, n % 4 * 2, MASK_2BIT, u->codes);
    }
};

/* Digit n of each byte of w, most significant first. */
DEVICE uint32_t
ternary_digits(uint32_t w, int n)
{
    const uint32_t mask = 0x00ff00ff;
    uint32_t even = w & mask, odd = w >> 8 & mask;

    for (; n > 0; n--) {
        even = even * 3 & mask;
        odd = odd * 3 & mask;
    }
    return (even * 3 >> 8 & mask) | (odd * 3 & ~mask);
}

/* Five digits in bytes 0-31, then in 32-47, four in 48-51. */
struct format_tq1_0 {
    FORMAT(tq1_0, QUANT_SUPER, 32, 0, 1);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        uint32_t w[8];

        u->scale[0] = cuda_load_f16(b + AT(tq1_0, d));
        if (n < 5) {
            cuda_load_words<aligned, 8>(b, w);
            UNROLL for (int i = 0; i < 8; i++) u->codes[i] =
                ternary_digits(w[i], n);
            return;
        }
        cuda_load_words<aligned, 5>(b + 32, w);
        UNROLL for (int i = 0; i < 4; i++)
        {
            u->codes[i] = ternary_digits(w[i], 2 * n - 10);
            u->codes[4 + i] = n < 7 ? ternary_digits(w[i], 2 * n - 9)
                                    : ternary_digits(w[4], i);
        }
    }
};

/* The levels of the nibbles of 16 bytes: the low ones, then the high ones. */
template <bool aligned>
DEVICE void
unpack_levels(const char *p, const struct levels *t, uint32_t *codes)
{
    uint32_t w[4];

    cuda_load_words<aligned, 4>(p, w);
    UNROLL for (int i = 0; i < 4; i++)
        cuda_look_up_levels(t, w[i], &codes[i], &codes[4 + i]);
}

/* Levels of IQ4_NL and IQ4_XS: -127 -104 -83 -65 -49 -35 -22 -10 1 13 25 38 53
 * 69 89 113; and twice those of E2M1: 0 1 2 3 4 6 8 12 and their negatives. */
DEVICE struct levels
iq4_levels(void)
{
    return { { 0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u } };
}

DEVICE struct levels
fp4_levels(void)
{
    return { { 0x03020100u, 0x0c080604u, 0xfdfeff00u, 0xf4f8fafcu } };
}

struct format_iq4_nl {
    FORMAT(iq4_nl, 32, 32, 0, 0);
    DEVICE void unpack(const char *b, int, struct sub_block *u)
    {
        struct levels t = iq4_levels();

        u->scale[0] = cuda_load_f16(b);
        unpack_levels<aligned>(b + AT(iq4_nl, qs), &t, u->codes);
    }
};

struct format_iq4_xs {
    FORMAT(iq4_xs, QUANT_SUPER, 32, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        struct levels t = iq4_levels();
        uint32_t head = cuda_load_word<aligned>(b);
        uint32_t low = cuda_load_word<aligned>(b + AT(iq4_xs, scales_l));
        int s = (int)((low >> 4 * n & 15) | (head >> 16 >> 2 * n & 3) << 4);

        u->scale[0] = cuda_from_f16((uint16_t)head) * (float)(s - 32);
        unpack_levels<aligned>(b + AT(iq4_xs, qs) + 16 * n, &t, u->codes);
    }
};

/* The scale is half of 2^(e - 127): levels are doubled. */
struct format_mxfp4 {
    FORMAT(mxfp4, 32, 32, 0, 0);
    DEVICE void unpack(const char *b, int, struct sub_block *u)
    {
        struct levels t = fp4_levels();
        uint32_t e = cuda_load_u8(b);

        u->scale[0] = cuda_bits_float(e < 2 ? 0x200000u << e : (e - 1) << 23);
        unpack_levels<aligned>(b + AT(mxfp4, qs), &t, u->codes);
    }
};

/* Half of a float of four bits of exponent and three of mantissa; 0 for what
 * is a NaN elsewhere. */
DEVICE float
half_ue4m3(uint32_t u)
{
    if (u == 0x7f)
        return 0;
    if ((u & 0x78) == 0)
        return (float)(u & 7) * 0x1p-10f;
    return cuda_bits_float(((u & 0x7f) << 20) + ((127u - 8) << 23));
}

struct format_nvfp4 {
    FORMAT(nvfp4, 64, 16, 0, 0);
    DEVICE void unpack(const char *b, int n, struct sub_block *u)
    {
        struct levels t = fp4_levels();
        uint32_t w[4];

        cuda_load_words<aligned, 4>(b + AT(nvfp4, qs) + 16 * n, w);
        UNROLL for (int g = 0; g < 2; g++)
        {
            uint32_t *to = u->codes + 4 * g;

            u->scale[g] = half_ue4m3(cuda_load_u8(b + 2 * n + g));
            cuda_look_up_levels(&t, w[2 * g], &to[0], &to[2]);
            cuda_look_up_levels(&t, w[2 * g + 1], &to[1], &to[3]);
        }
    }
};

#include "cuda/formats_codebook.h"

#endif
