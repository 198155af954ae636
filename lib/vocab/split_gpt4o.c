/* split_gpt4o.c - the split rules that part words at capitals: GPT-4o's
 * (o200k), Mistral's (tekken)
 *
 * GPT-4o's is, of tiktoken, with U for [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}], W for
 * [\p{Ll}\p{Lm}\p{Lo}\p{M}] and C for (?i:'s|'t|'re|'ve|'m|'ll|'d):
 * [^\r\n\p{L}\p{N}]?U*W+C?|[^\r\n\p{L}\p{N}]?U+W*C?|\p{N}{1,3}
 * | ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * tekken, of the tokenizer.json of Mistral's models, is without C, and has
 * \p{N} for \p{N}{1,3}. */
#include "vocab/split.h"
#include "vocab/split_scan.h"

#define L UNICODE_LETTER
#define N UNICODE_NUMBER
#define S UNICODE_SPACE
#define U (UNICODE_UPPER | UNICODE_CASELESS | UNICODE_MARK)
#define W (UNICODE_LOWER | UNICODE_CASELESS | UNICODE_MARK)

/* The end of U*W+ at p. Where no W follows the U*, it gives back as many as
 * let one of its own be the W. Where it has none, *only is true, and what is
 * returned is the end of U*. */
static inline const uint8_t *
capitals(const uint8_t *p, const uint8_t *end, bool *only)
{
    const uint8_t *both = NULL; /* behind the last one that is U and W */
    unsigned c = 0;
    size_t n;

    for (; p < end && (c = split_class(p, end, &n)) & U; p += n)
        if (c & W)
            both = p + n;
    *only = false;
    if (p < end && c & W)
        return split_run(p + n, end, W);
    *only = !both;
    return both ? both : p;
}

/* The end of the first two branches without C?, or p where none matches. */
static inline const uint8_t *
word(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *after, *q;
    size_t n;
    unsigned c = split_class(p, end, &n);
    bool only;

    if (c & L)
        return capitals(p, end, &only);
    if (c == N || split_is_newline(*p))
        return p;
    after = p + n;
    q = capitals(after, end, &only);
    if (only && c == UNICODE_MARK) /* it may be the W, with nothing before */
        return after;
    return q > after ? q : p;
}

static inline size_t
scan(const uint8_t *p, size_t len, int digits, bool contractions)
{
    const uint8_t *end = p + len, *q = word(p, end);
    size_t n;
    unsigned c;

    if (q > p) {
        n = contractions && q < end ? split_contraction(q, end) : 0;
        return (size_t)(q - p) + n;
    }
    c = split_class(p, end, &n);
    q = p + n;
    if (c == N) {
        for (; --digits > 0 && q < end && split_class(q, end, &n) == N;)
            q += n;
        return (size_t)(q - p);
    }
    if (c == S &&
        (*p != ' ' || q == end || split_class(q, end, &n) & (L | N | S)))
        return (size_t)(split_lines(p, end) - p);
    q = split_run_not(q, end, L | N | S);
    while (q < end && (split_is_newline(*q) || *q == '/'))
        q++;
    return (size_t)(q - p);
}

size_t
split_gpt4o(const uint8_t *p, size_t len)
{
    return scan(p, len, 3, true);
}

size_t
split_tekken(const uint8_t *p, size_t len)
{
    return scan(p, len, 1, false);
}
