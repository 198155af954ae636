/* bytes.h - eight bytes of a text at once, without reading past its end */
#ifndef VOCAB_BYTES_H
#define VOCAB_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/order.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BYTES_ONES  UINT64_C(0x0101010101010101)
#define BYTES_HIGHS UINT64_C(0x8080808080808080)

static inline uint64_t
vocab_bytes_load8(const void *p)
{
    return core_load_le64(p);
}

static inline uint32_t
vocab_bytes_load4(const void *p)
{
    return core_load_le32(p);
}

/* p[0..len), 1 <= len <= 16, as two numbers; for a given len no two texts have
 * the same. */
static inline void
vocab_bytes_pair(const uint8_t *p, size_t len, uint64_t *low, uint64_t *high)
{
    *high = 0;
    if (len >= 8) {
        *low = vocab_bytes_load8(p);
        *high = vocab_bytes_load8(p + len - 8);
    } else if (len >= 4) {
        *low = (uint64_t)vocab_bytes_load4(p + len - 4) << 32 |
               vocab_bytes_load4(p);
    } else {
        *low = (uint64_t)p[len - 1] << 16 | (uint64_t)p[len / 2] << 8 | p[0];
    }
}

/* p[0..len), len <= 8, and zeros. */
static inline uint64_t
vocab_bytes_load(const void *text, size_t len)
{
    const uint8_t *p = text;

    if (len >= 8)
        return vocab_bytes_load8(p);
    if (len >= 4)
        return vocab_bytes_load4(p) | (uint64_t)vocab_bytes_load4(p + len - 4)
                                          << 8 * (len - 4);
    if (len < 2)
        return len ? p[0] : 0;
    return (uint64_t)p[len - 1] << 8 * (len - 1) | (uint64_t)p[1] << 8 | p[0];
}

/* The first len bytes of `w`, len <= 8, and zeros. */
static inline uint64_t
vocab_bytes_first(uint64_t w, size_t len)
{
    return len ? w << (64 - 8 * len) >> (64 - 8 * len) : 0;
}

static inline bool
vocab_bytes_equal(const void *text_a, const void *text_b, size_t len)
{
    const uint8_t *a = text_a, *b = text_b;

    if (len < 8)
        return vocab_bytes_load(a, len) == vocab_bytes_load(b, len);
    for (; len > 8; a += 8, b += 8, len -= 8)
        if (vocab_bytes_load8(a) != vocab_bytes_load8(b))
            return false;
    return vocab_bytes_load8(a + len - 8) == vocab_bytes_load8(b + len - 8);
}

/* Not 0 where a byte of `w` is not from 33 to 126. */
static inline uint64_t
vocab_bytes_not_visible(uint64_t w)
{
    return (w | (w + BYTES_ONES) | ~(w + 0x5f * BYTES_ONES)) & BYTES_HIGHS;
}

/* The highest bit of each byte of `w` that is a letter of ASCII. */
static inline uint64_t
vocab_bytes_ascii_letters(uint64_t w)
{
    uint64_t x = (w & ~BYTES_HIGHS) | 0x20 * BYTES_ONES;
    uint64_t least = x + (0x80 - 'a') * BYTES_ONES;
    uint64_t more = x + (0x7f - 'z') * BYTES_ONES;

    return least & ~more & ~w & BYTES_HIGHS;
}

#ifdef __SSE2__
/* Bit i: p[i] | bit is from `first` to `last`, of ASCII. There are 16 bytes. */
static inline unsigned
vocab_bytes_from_to(const uint8_t *p, char first, char last, char bit)
{
    __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);

    x = _mm_or_si128(x, _mm_set1_epi8(bit));
    x = _mm_and_si128(_mm_cmpgt_epi8(x, _mm_set1_epi8((char)(first - 1))),
                      _mm_cmplt_epi8(x, _mm_set1_epi8((char)(last + 1))));
    return (unsigned)_mm_movemask_epi8(x);
}
#else
/* Bit i: byte i of `w`, with `bit`, is from `first` to `last`, of ASCII. */
static inline unsigned
vocab_bytes_from_to8(uint64_t w, char first, char last, char bit)
{
    uint64_t x = (w & ~BYTES_HIGHS) | (uint8_t)bit * BYTES_ONES;
    uint64_t least = x + (uint64_t)(0x80 - first) * BYTES_ONES;
    uint64_t more = x + (uint64_t)(0x7f - last) * BYTES_ONES;
    uint64_t found = least & ~more & ~w & BYTES_HIGHS;

    return (unsigned)((found >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

static inline unsigned
vocab_bytes_from_to(const uint8_t *p, char first, char last, char bit)
{
    return vocab_bytes_from_to8(vocab_bytes_load8(p), first, last, bit) |
           vocab_bytes_from_to8(vocab_bytes_load8(p + 8), first, last, bit)
               << 8;
}
#endif

/* Whether all bytes of `w` are letters of ASCII, or 0x80 and more. */
static inline bool
vocab_bytes_are_letters(uint64_t w)
{
    return ((vocab_bytes_ascii_letters(w) | w) & BYTES_HIGHS) == BYTES_HIGHS;
}

/* How many such bytes p[0..len) begins with. */
static inline size_t
vocab_bytes_letters(const uint8_t *p, size_t len)
{
    size_t n = 0;

    for (; n < len; n += 8) {
        uint64_t w = vocab_bytes_load(p + n, len - n < 8 ? len - n : 8);
        uint64_t other = ~(vocab_bytes_ascii_letters(w) | w) & BYTES_HIGHS;

        if (other) /* 0 is no letter */
            return n + (size_t)__builtin_ctzll(other) / 8;
    }
    return len;
}

/* Not 0 where a byte of `w` is `c`. */
static inline uint64_t
vocab_bytes_have(uint64_t w, uint8_t c)
{
    w ^= c * BYTES_ONES;
    return (w - BYTES_ONES) & ~w & BYTES_HIGHS;
}

/* Copies p[0..len) to `out`, and returns whether `unwanted` finds nothing in
 * it. */
static inline bool
vocab_bytes_copy(const char *p, size_t len, uint8_t *out,
                 uint64_t (*unwanted)(uint64_t))
{
    uint64_t found = 0, w;

    if (len >= 8) {
        for (size_t i = 0; i + 8 < len; i += 8) {
            w = vocab_bytes_load8(p + i);
            found |= unwanted(w);
            core_store_le64(out + i, w);
        }
        w = vocab_bytes_load8(p + len - 8);
        found |= unwanted(w);
        core_store_le64(out + len - 8, w);
    } else if (len >= 4) {
        uint32_t a = vocab_bytes_load4(p), b = vocab_bytes_load4(p + len - 4);

        found = unwanted((uint64_t)b << 32 | a);
        core_store_le32(out, a);
        core_store_le32(out + len - 4, b);
    } else if (len) {
        uint8_t a = (uint8_t)p[0], b = (uint8_t)p[len / 2],
                c = (uint8_t)p[len - 1];

        found = unwanted('a' * BYTES_ONES << 24 | (uint64_t)c << 16 |
                         (uint64_t)b << 8 | a);
        out[0] = a;
        out[len / 2] = b;
        out[len - 1] = c;
    }
    return found == 0;
}

#endif
