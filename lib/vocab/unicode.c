/* unicode.c - UTF-8 characters and their classes */
#include "vocab/unicode.h"

#include <string.h>

#include "core/case.h"
#include "vocab/unicode_tables.h"

enum vocab_unicode_class
vocab_unicode_class(uint32_t codepoint)
{
    uint32_t block = codepoint / UNICODE_BLOCK;
    uint32_t at = codepoint % UNICODE_BLOCK;

    if (block >= UNICODE_BLOCKS)
        block = UNICODE_BLOCKS - 1;
    at += unicode_index[block] * (uint32_t)UNICODE_BLOCK;
    at = unicode_classes[at / 2] >> at % 2 * 4 & 15u;
    return (enum vocab_unicode_class)(1u << at >> 1);
}

bool
vocab_unicode_is_decimal(uint32_t codepoint)
{
    size_t lo = 0, hi = sizeof(unicode_zeros) / sizeof(unicode_zeros[0]);

    while (lo < hi) { /* the first that is beyond it */
        size_t mid = lo + (hi - lo) / 2;

        if (unicode_zeros[mid] <= codepoint)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo > 0 && codepoint - unicode_zeros[lo - 1] < 10;
}

size_t
vocab_unicode_length(const uint8_t *p, size_t len)
{
    uint8_t low = 0x80, high = 0xbf; /* what the second byte may be */
    size_t n;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (p[0] == 0xe0)
        low = 0xa0; /* else overlong */
    else if (p[0] == 0xed)
        high = 0x9f; /* surrogates */
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f; /* beyond U+10FFFF */
    if (n > len || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

uint32_t
vocab_unicode_at(const uint8_t *p, size_t len, size_t *n)
{
    size_t length = vocab_unicode_length(p, len);
    uint32_t cp;

    *n = length ? length : 1;
    if (length <= 1)
        return length ? p[0] : UNICODE_BROKEN;
    cp = p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        cp = cp << 6 | (p[i] & 0x3f);
    return cp;
}

/* The n bytes of a character. */
static void
write_character(uint8_t *out, size_t n, uint32_t c)
{
    if (n == 1) {
        out[0] = (uint8_t)c;
        return;
    }
    for (size_t k = n - 1; k > 0; k--, c >>= 6)
        out[k] = (uint8_t)(0x80 | (c & 0x3f));
    out[0] = (uint8_t)(0xff << (8 - n) | c);
}

void
vocab_unicode_lower(const uint8_t *p, size_t len, uint8_t *out)
{
    for (size_t i = 0, n; i < len; i += n) {
        uint32_t c = vocab_unicode_at(p + i, len - i, &n);

        if (core_lower(c) != c)
            write_character(out + i, n, core_lower(c));
        else
            memcpy(out + i, p + i, n);
    }
}
