/* base64.c - bytes of a text in base64 */
#include <config.h>

#include "common/base64.h"

#include <stdint.h>

enum {
    NONE = -1,
    SPACE = -2,
};

static int
digit_of_either(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    if (c == '/' || c == '_')
        return 63;
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' ? SPACE : NONE;
}

/* The length without padding and white space at the end. */
static size_t
strip_padding(const char *text, size_t n)
{
    while (n && (text[n - 1] == '=' || digit_of_either(text[n - 1]) == SPACE))
        n--;
    return n;
}

bool
base64_add(const char *text, size_t n, struct buffer *out)
{
    uint32_t bits = 0;
    size_t n_digits = 0;

    n = strip_padding(text, n);
    buffer_room(out, n / 4 * 3 + 3);
    for (size_t i = 0; i < n; i++) {
        int digit = digit_of_either(text[i]);

        if (digit == SPACE)
            continue;
        if (digit == NONE)
            return false;
        bits = bits << 6 | (uint32_t)digit;
        if (n_digits++ % 4)
            buffer_char(out, (char)(bits >> (6 - 2 * ((n_digits - 1) % 4))));
    }
    return n_digits % 4 != 1;
}
