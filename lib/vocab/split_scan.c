/* split_scan.c - what the scanners of the split rules share */
#include "vocab/split_scan.h"

#define u UNICODE_UPPER
#define l UNICODE_LOWER
#define n UNICODE_NUMBER
#define w UNICODE_SPACE
#define p UNICODE_PUNCTUATION
#define s UNICODE_SYMBOL
#define X SPLIT_LONG
const uint16_t vocab_split_ascii[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, w, w, w, w, w, 0, 0, /* control */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* */
    w, p, p, p, s, p, p, p, p, p, p, s, p, p, p, p, /* blank to / */
    n, n, n, n, n, n, n, n, n, n, p, p, s, s, s, p, /* 0 to ? */
    p, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, /* @ to O */
    u, u, u, u, u, u, u, u, u, u, u, p, p, p, s, p, /* P to _ */
    s, l, l, l, l, l, l, l, l, l, l, l, l, l, l, l, /* ` to o */
    l, l, l, l, l, l, l, l, l, l, l, p, s, p, s, 0, /* p to DEL */
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
};
#undef u
#undef l
#undef n
#undef w
#undef p
#undef s

size_t
vocab_split_contraction(const uint8_t *p, const uint8_t *end)
{
    size_t left = (size_t)(end - p);
    uint8_t a, b;

    if (left < 2 || p[0] != '\'')
        return 0;
    a = p[1] | 0x20;
    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return 2;
    if (left < 3)
        return 0;
    b = p[2] | 0x20;
    if ((b == 'e' && (a == 'r' || a == 'v')) || (b == 'l' && a == 'l') ||
        (p[1] == 0xc5 && p[2] == 0xbf))
        return 3;
    return 0;
}
