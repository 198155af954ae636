/* number.h - decimal numbers to text and back, without a locale */
#ifndef STREAM_NUMBER_H
#define STREAM_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/order.h"

/* Reads digits from *s and moves it after them; false: there is none, or the
 * number exceeds max. */
static inline bool
stream_number(const char **s, const char *end, uint64_t max, uint64_t *out)
{
    const char *p = *s;
    uint64_t n = 0;

    for (; p < end && *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');

        if (n > (max - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    if (p == *s)
        return false;
    *s = p;
    *out = n;
    return true;
}

/* A number of up to 7 digits and a blank after it, all at once: returns how
 * many digits. 0: there is none at `s`. Eight bytes can be read. */
static inline size_t
stream_number_fast(const char *s, int32_t *out)
{
    const uint64_t zeros = UINT64_C(0x3030303030303030);
    const uint64_t highs = UINT64_C(0x8080808080808080);
    uint64_t w, other;
    int bits; /* of the digits */

    w = core_load_le64(s) ^ zeros;
    other = (w | (w + UINT64_C(0x7676767676767676))) & highs; /* above 9 */
    if (other == 0)
        return 0;
    bits = __builtin_ctzll(other) & ~7;
    if (bits == 0 || (uint8_t)(w >> bits) != (' ' ^ '0'))
        return 0;
    w <<= 64 - bits; /* zeros in front */
    w = w * 10 + (w >> 8);
    w = (w & UINT64_C(0xff000000ff)) * UINT64_C(0xf424000000064) +
        (w >> 16 & UINT64_C(0xff000000ff)) * UINT64_C(0x271000000001);
    *out = (int32_t)(w >> 32);
    return (size_t)bits / 8;
}

/* Writes up to 20 digits; returns where they end. */
static inline char *
stream_put_number(char *p, uint64_t n)
{
    char digits[20];
    int count = 0;

    do
        digits[count++] = (char)('0' + n % 10);
    while (n /= 10);
    while (count)
        *p++ = digits[--count];
    return p;
}

#endif
