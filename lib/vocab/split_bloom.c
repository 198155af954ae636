/* split_bloom.c - the split rules of BLOOM's kind
 *
 * bloom, of its tokenizer.json: ' ?[^(\s|.,!?X)]+' with X for U+2026, U+3002,
 * U+FF0C, U+3001, U+0964, U+06D4, U+060C. viking, of its tokenizer.json: the
 * same, and then \p{N}. */
#include "vocab/split.h"
#include "vocab/split_scan.h"

/* Whether the character at p is one of those of the expression. */
static bool
is_separator(const uint8_t *p, const uint8_t *end, size_t *n)
{
    uint32_t cp;

    *n = 1;
    switch (*p) {
    case '(':
    case ')':
    case '|':
    case '.':
    case ',':
    case '!':
    case '?':
        return true;
    default:
        if (*p < 0x80)
            return vocab_split_ascii[*p] == UNICODE_SPACE;
    }
    cp = vocab_unicode_at(p, (size_t)(end - p), n);
    return cp == 0x2026 || cp == 0x3001 || cp == 0x3002 || cp == 0xff0c ||
           cp == 0x0964 || cp == 0x06d4 || cp == 0x060c ||
           vocab_unicode_class(cp) == UNICODE_SPACE;
}

static inline size_t
scan_bloom(const uint8_t *p, size_t len, bool digits)
{
    const uint8_t *end = p + len, *q = p;
    size_t n, m;

    if (is_separator(p, end, &n) &&
        (*p != ' ' || len == 1 || is_separator(p + 1, end, &m))) {
        for (q += n; q < end && is_separator(q, end, &n); q += n)
            if (*q == ' ' && end - q > 1 && !is_separator(q + 1, end, &m))
                break;
        return (size_t)(q - p);
    }
    q += *p == ' ';
    if (digits && vocab_split_class(q, end, &n) == UNICODE_NUMBER)
        return q > p ? 1 : n;
    for (; q < end && !is_separator(q, end, &n); q += n)
        if (digits && vocab_split_class(q, end, &m) == UNICODE_NUMBER)
            break;
    return (size_t)(q - p);
}

size_t
vocab_split_bloom(const uint8_t *p, size_t len)
{
    return scan_bloom(p, len, false);
}

size_t
vocab_split_viking(const uint8_t *p, size_t len)
{
    return scan_bloom(p, len, true);
}
