/* words.h - bytes of blocks as words of four, and what is done to all four
 *
 * Blocks lie at any address: a word is put together from the two aligned ones
 * that its bytes are in, and never reads beyond these. `even` says that it is
 * known to be aligned. */
#ifndef CUDA_WORDS_H
#define CUDA_WORDS_H

#include "cuda/device.h"

/* Of each byte: the low nibble, two bits, one bit. */
#define NIBBLES 0x0f0f0f0fu
#define PAIRS   0x03030303u
#define BITS    0x01010101u

/* The word that the byte at p is in. From a pointer, not a number, so that a
 * compiler still sees which memory it is. */
DEVICE uint32_t
aligned_word(const char *p)
{
    return *(const uint32_t *)(const void *)(p - ((uintptr_t)p & 3));
}

/* n words from p on. */
template <bool even, int n>
DEVICE void
load_words(const char *p, uint32_t *w)
{
    unsigned shift = (unsigned)((uintptr_t)p & 3) * 8;
    uint32_t low = aligned_word(p), high;

    UNROLL for (int i = 0; i < n; i++)
    {
        if (even) {
            w[i] = aligned_word(p + 4 * i);
            continue;
        }
        high = aligned_word(p + 4 * i + (i + 1 < n ? 4 : 3));
        w[i] = funnel(low, high, shift);
        low = high;
    }
}

template <bool even>
DEVICE uint32_t
load_word(const char *p)
{
    uint32_t w;

    load_words<even, 1>(p, &w);
    return w;
}

DEVICE uint32_t
load_byte(const char *p)
{
    return *(const uint8_t *)p;
}

/* At even addresses. */
DEVICE uint32_t
load_short(const char *p)
{
    return *(const uint16_t *)(const void *)p;
}

DEVICE float
load_half(const char *p)
{
    return from_f16((uint16_t)load_short(p));
}

/* Four bits, the first value's lowest: a byte each. */
DEVICE uint32_t
spread_bits(uint32_t bits)
{
    bits |= bits << 14;
    return (bits | bits << 7) & BITS;
}

/* Eight bits, as four pairs: a byte each. */
DEVICE uint32_t
spread_pairs(uint32_t pairs)
{
    pairs |= pairs << 12;
    return (pairs | pairs << 6) & PAIRS;
}

/* Sixteen bits, as eight pairs: a nibble each. */
DEVICE uint32_t
pairs_to_nibbles(uint32_t w)
{
    w = (w | w << 8) & 0x00ff00ff;
    w = (w | w << 4) & 0x0f0f0f0f;
    return (w | w << 2) & 0x33333333;
}

/* Twelve bits, as four of three: a nibble each. */
DEVICE uint32_t
threes_to_nibbles(uint32_t w)
{
    return (w & 7) | (w & 070) << 1 | (w & 0700) << 2 | (w & 07000) << 3;
}

/* Bytes -b where a bit of `signs` (the first byte's lowest) is set, for bytes
 * that are not 0. */
DEVICE uint32_t
negate_where(uint32_t w, uint32_t signs)
{
    uint32_t ones = spread_bits(signs & 15);

    return (w ^ ones * 255) + ones;
}

/* Seven signs, and an eighth that makes their number even. */
DEVICE uint32_t
even_signs(uint32_t seven)
{
    return seven | (uint32_t)(count_bits(seven) & 1) << 7;
}

/* A table of sixteen bytes. */
struct levels {
    uint32_t w[4];
};

/* What the eight nibbles of w stand for: the low nibbles' in *low, the high
 * ones' in *high. */
DEVICE void
look_up(const struct levels *t, uint32_t w, uint32_t *low, uint32_t *high)
{
    uint32_t which = w & 0x77777777;
    uint32_t upper = 0x32103210 | (w >> 1 & 0x44444444), part[2];

    UNROLL for (int i = 0; i < 2; i++)
    {
        uint32_t a = pick_bytes(t->w[0], t->w[1], which >> 16 * i);
        uint32_t b = pick_bytes(t->w[2], t->w[3], which >> 16 * i);

        part[i] = pick_bytes(a, b, upper >> 16 * i);
    }
    *low = pick_bytes(part[0], part[1], 0x6420);
    *high = pick_bytes(part[0], part[1], 0x7531);
}

#endif
