/* digits.h - numbers in decimal, without a branch per digit
 *
 * Writing ids takes as long as finding them where it goes digit by digit. Here
 * eight digits are split in halves, three times, all at once in one word. */
#ifndef TOKENIZE_DIGITS_H
#define TOKENIZE_DIGITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    DIGITS_ROOM = 8, /* bytes that digits_put() may write */
};

/* Writes n < 10^8 to p, and returns its digits; what follows them up to
 * DIGITS_ROOM is overwritten, too. */
static inline size_t
digits_put(char *p, uint32_t n)
{
    uint64_t x, q, zeros;

    x = n / 10000 | (uint64_t)(n % 10000) << 32;
    q = (x * 10486 >> 20) & UINT64_C(0x7f0000007f); /* by 100 */
    x = q | (x - q * 100) << 16;
    q = (x * 103 >> 10) & UINT64_C(0x000f000f000f000f); /* by 10 */
    x = q | (x - q * 10) << 8;
    /* The first digit is the lowest byte; the last one always counts. */
    zeros = (size_t)__builtin_ctzll(x | UINT64_C(1) << 56) / 8;
    x = (x | UINT64_C(0x3030303030303030)) >> 8 * zeros;
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
        x = __builtin_bswap64(x);
    memcpy(p, &x, sizeof(x));
    return 8 - (size_t)zeros;
}

#endif
