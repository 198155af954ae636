/* split.c - split rules: where byte-level BPE cuts a text into words */
#include "vocab/split.h"

#include <stdbool.h>
#include <string.h>

#include "vocab/unicode.h"

#define L UNICODE_LETTER
#define N UNICODE_NUMBER
#define S UNICODE_SPACE
#define X 8 /* the first byte of a longer character, or a broken one */
/* Most text is ASCII, and needs no tables but this. */
static const uint8_t ascii_class[256] = {
    0, 0, 0, 0, 0, 0, 0, 0, 0, S, S, S, S, S, 0, 0, /* control */
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* */
    S, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, /* blank to / */
    N, N, N, N, N, N, N, N, N, N, 0, 0, 0, 0, 0, 0, /* 0 to ? */
    0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* @ to O */
    L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0, /* P to _ */
    0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, /* ` to o */
    L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0, /* p to DEL */
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
    X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X, X,
};
#undef L
#undef N
#undef S

static inline unsigned
class_at(const uint8_t *p, const uint8_t *end, size_t *n)
{
    unsigned c = ascii_class[*p];

    *n = 1;
    return c == X ? unicode_class_at(p, (size_t)(end - p), n) : c;
}

/* The end of the run of characters of class `c` that p stands in. */
static const uint8_t *
skip(const uint8_t *p, const uint8_t *end, unsigned c)
{
    size_t n;

    while (p < end && class_at(p, end, &n) == c)
        p += n;
    return p;
}

/* '(s|t|re|ve|m|ll|d): its bytes, or 0. */
static size_t
contraction(const uint8_t *p, const uint8_t *end)
{
    size_t left = (size_t)(end - p);

    if (left < 2 || p[0] != '\'')
        return 0;
    if (p[1] == 's' || p[1] == 't' || p[1] == 'm' || p[1] == 'd')
        return 2;
    if (left >= 3 && ((p[2] == 'e' && (p[1] == 'r' || p[1] == 'v')) ||
                      (p[2] == 'l' && p[1] == 'l')))
        return 3;
    return 0;
}

/* \s+(?!\S)|\s+ where a space stands at p: the run, but for its last character
 * where something follows that may take it. */
static const uint8_t *
spaces(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *q = p, *last = p;
    size_t n;

    while (q < end && class_at(q, end, &n) == UNICODE_SPACE) {
        last = q;
        q += n;
    }
    return q == end || last == p ? q : last;
}

/* 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * of GPT-2's encoder.py. */
static size_t
split_gpt2(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q = p;
    size_t n = contraction(p, end);
    unsigned c;

    if (n)
        return n;
    if (*p == ' ' && len > 1)
        q++;
    c = class_at(q, end, &n);
    q = c == UNICODE_SPACE ? spaces(p, end) : skip(q + n, end, c);
    return (size_t)(q - p);
}

static const struct {
    const char *name;
    split_rule rule;
} rules[] = {
    { "gpt-2", split_gpt2 },
    { "phi-2", split_gpt2 },
};

const char split_known[] = "gpt-2 phi-2";

split_rule
split_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (strlen(rules[i].name) == len &&
            memcmp(rules[i].name, name, len) == 0)
            return rules[i].rule;
    return NULL;
}
