/* packed_bytes.h - quantised blocks as 32-bit words of packed bytes
 *
 * Unaligned loads, bit fields spread to bytes, and table look-ups of four or
 * eight codes at once. Blocks have any alignment: a word is assembled from the
 * two aligned ones that contain its bytes, and no others are read. `aligned`:
 * the address is known to be a multiple of 4. */
#ifndef CUDA_PACKED_BYTES_H
#define CUDA_PACKED_BYTES_H

#include "cuda/device.h"

/* Masks: the low 4, 2 or 1 bits of each byte. */
#define MASK_4BIT 0x0f0f0f0fu
#define MASK_2BIT 0x03030303u
#define MASK_1BIT 0x01010101u

/* The aligned word that contains the byte at p. Computed from a pointer, not an
 * integer, so that the compiler still knows the address space. */
DEVICE uint32_t
aligned_word(const char *p)
{
    return *(const uint32_t *)(const void *)(p - ((uintptr_t)p & 3));
}

/* n words from p on. */
template <bool aligned, int n>
DEVICE void
cuda_load_words(const char *p, uint32_t *w)
{
    unsigned shift = (unsigned)((uintptr_t)p & 3) * 8;
    uint32_t low = aligned_word(p), high;

    UNROLL for (int i = 0; i < n; i++)
    {
        if (aligned) {
            w[i] = aligned_word(p + 4 * i);
            continue;
        }
        high = aligned_word(p + 4 * i + (i + 1 < n ? 4 : 3));
        w[i] = cuda_funnel_shift_right(low, high, shift);
        low = high;
    }
}

template <bool aligned>
DEVICE uint32_t
cuda_load_word(const char *p)
{
    uint32_t w;

    cuda_load_words<aligned, 1>(p, &w);
    return w;
}

DEVICE uint32_t
cuda_load_u8(const char *p)
{
    return *(const uint8_t *)p;
}

/* p is a multiple of 2. */
DEVICE uint32_t
cuda_load_u16(const char *p)
{
    return *(const uint16_t *)(const void *)p;
}

DEVICE float
cuda_load_f16(const char *p)
{
    return cuda_from_f16((uint16_t)cuda_load_u16(p));
}

/* Four 1-bit fields, the lowest first, to a byte each. */
DEVICE uint32_t
cuda_spread_1bit(uint32_t bits)
{
    bits |= bits << 14;
    return (bits | bits << 7) & MASK_1BIT;
}

/* Four 2-bit fields to a byte each. */
DEVICE uint32_t
cuda_spread_2bit(uint32_t fields)
{
    fields |= fields << 12;
    return (fields | fields << 6) & MASK_2BIT;
}

/* Eight 2-bit fields to a nibble each. */
DEVICE uint32_t
cuda_spread_2bit_to_nibbles(uint32_t w)
{
    w = (w | w << 8) & 0x00ff00ff;
    w = (w | w << 4) & 0x0f0f0f0f;
    return (w | w << 2) & 0x33333333;
}

/* Four 3-bit fields to a nibble each. */
DEVICE uint32_t
cuda_spread_3bit_to_nibbles(uint32_t w)
{
    return (w & 7) | (w & 070) << 1 | (w & 0700) << 2 | (w & 07000) << 3;
}

/* Negates byte i where bit i of `signs` is set, for bytes that are not 0. */
DEVICE uint32_t
cuda_negate_where(uint32_t w, uint32_t signs)
{
    uint32_t ones = cuda_spread_1bit(signs & 15);

    return (w ^ ones * 255) + ones;
}

/* Seven sign bits, and an eighth that makes the parity even. */
DEVICE uint32_t
cuda_parity_signs(uint32_t seven)
{
    return seven | (uint32_t)(cuda_count_bits(seven) & 1) << 7;
}

/* A lookup table of sixteen bytes: the levels of a non-linear 4-bit type. */
struct levels {
    uint32_t w[4];
};

/* Looks up the eight nibbles of w: the low nibbles' levels to *low, the high
 * ones' to *high. */
DEVICE void
cuda_look_up_levels(const struct levels *t, uint32_t w, uint32_t *low,
                    uint32_t *high)
{
    uint32_t which = w & 0x77777777;
    uint32_t upper = 0x32103210 | (w >> 1 & 0x44444444), part[2];

    UNROLL for (int i = 0; i < 2; i++)
    {
        uint32_t a = cuda_permute_bytes(t->w[0], t->w[1], which >> 16 * i);
        uint32_t b = cuda_permute_bytes(t->w[2], t->w[3], which >> 16 * i);

        part[i] = cuda_permute_bytes(a, b, upper >> 16 * i);
    }
    *low = cuda_permute_bytes(part[0], part[1], 0x6420);
    *high = cuda_permute_bytes(part[0], part[1], 0x7531);
}

#endif
