/* split_chameleon.c - Chameleon's split rule
 *
 * Of its tokenizer.json: (IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z, then
 * ([\t\n]|    |  ), \p{N}, [\p{P}!-/:-@\[-`{-~], and GPT-2's. (Before them
 * comes <sentinel:[0-9]+>, which the later ones cut into the same words.) */
#include <string.h>

#include "vocab/split.h"
#include "vocab/split_scan.h"

#define L UNICODE_LETTER
#define N UNICODE_NUMBER
#define S UNICODE_SPACE

/* Bytes of the name of an image at p, or 0. */
static size_t
image(const uint8_t *p, const uint8_t *end)
{
    size_t n = 6;

    if (end - p < 8 || memcmp(p, "IMGIMG", 6) != 0)
        return 0;
    while (n < 10 && p + n < end && p[n] >= 'A' && p[n] <= 'I')
        n++;
    return n > 6 && p + n < end && p[n] == 'Z' ? n + 1 : 0;
}

/* Bytes of what the other expressions before GPT-2's match at p, or 0. */
static size_t
apart(const uint8_t *p, const uint8_t *end, size_t *n)
{
    unsigned c = vocab_split_class(p, end, n);

    if (*p == '\t' || *p == '\n')
        return 1;
    if (*p == ' ' && end - p > 1 && p[1] == ' ')
        return end - p > 3 && p[2] == ' ' && p[3] == ' ' ? 4 : 2;
    if (c & (N | UNICODE_PUNCTUATION) || (c == UNICODE_SYMBOL && *p < 0x80))
        return *n;
    return 0;
}

static const uint8_t *
letters(const uint8_t *p, const uint8_t *end)
{
    size_t n;

    for (; p < end && vocab_split_class(p, end, &n) & L; p += n)
        if (*p == 'I' && image(p, end))
            break;
    return p;
}

static const uint8_t *
spaces(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *q = p, *last = p;
    size_t n;

    for (; q < end && !apart(q, end, &n) && vocab_split_class(q, end, &n) == S;
         q += n)
        last = q;
    return q == end || last == p || apart(q, end, &n) || image(q, end) ? q
                                                                       : last;
}

static const uint8_t *
others(const uint8_t *p, const uint8_t *end)
{
    size_t n;

    while (p < end && !apart(p, end, &n) &&
           !(vocab_split_class(p, end, &n) & (L | S)))
        p += n;
    return p;
}

size_t
vocab_split_chameleon(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q = p;
    size_t n, m = image(p, end);
    unsigned c;

    if (m || (m = apart(p, end, &n)))
        return m;
    if (*p == ' ' && len > 1 && !apart(p + 1, end, &n) && !image(p + 1, end))
        q++;
    c = vocab_split_class(q, end, &n);
    if (c == S)
        q = spaces(p, end);
    else
        q = c & L ? letters(q, end) : others(q, end);
    return (size_t)(q - p);
}
