/* number.h - decimal numbers to text and back, without a locale */
#ifndef STREAM_NUMBER_H
#define STREAM_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Reads digits from *s and moves it behind them; false: there is none, or the
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
