/* split_gpt2.c - GPT-2's split rule, and those that do something before
 * it */
#include "vocab/split.h"
#include "vocab/split_scan.h"

#define L UNICODE_LETTER
#define N UNICODE_NUMBER
#define S UNICODE_SPACE
#define P UNICODE_PUNCTUATION

/* 's|'t|'re|'ve|'m|'ll|'d: its bytes, or 0. */
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

/* ---- gpt-2, of its encoder.py:
 * 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * ---- starcoder and others, of their tokenizer.json:
 * \p{N}
 * and then GPT-2's ---- */

/* GPT-2's on a text that ends where a number stands, if `digits`. */
static inline size_t
scan(const uint8_t *p, size_t len, bool digits)
{
    const uint8_t *end = p + len, *q = p, *last;
    size_t n = contraction(p, end);
    unsigned c;

    if (n)
        return n;
    c = vocab_split_class(p, end, &n);
    if (digits && c == N)
        return n;
    if (*p == ' ' && len > 1) {
        c = vocab_split_class(p + 1, end, &n);
        q = p + 1;
    }
    if (c == S || (digits && c == N)) {
        q = vocab_split_spaces(p, end, &last, NULL);
        if (q < end && last != p &&
            !(digits && vocab_split_class(q, end, &n) == N))
            q = last;
    } else if (c & L) {
        q = vocab_split_run(q + n, end, L);
    } else if (c == N) {
        q = vocab_split_run(q + n, end, N);
    } else {
        q = vocab_split_run_not(q + n, end, L | N | S);
    }
    return (size_t)(q - p);
}

size_t
vocab_split_gpt2(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan(p, len, false);
}

size_t
vocab_split_digits(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan(p, len, true);
}

/* ---- clip, of its tokenizer.json:
 * 's|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+
 * ---- */

size_t
vocab_split_clip(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len;
    size_t n = contraction(p, end);
    unsigned c;

    if (n)
        return n;
    c = vocab_split_class(p, end, &n);
    if (c == N)
        return n;
    if (c & L)
        return (size_t)(vocab_split_run(p + n, end, L) - p);
    if (c == S)
        return (size_t)(vocab_split_run(p + n, end, S) - p);
    return (size_t)(vocab_split_run_not(p + n, end, L | N | S) - p);
}

/* ---- falcon, as llama.cpp writes what its tokenizer.json does:
 * [\p{P}$+<=>^`|~]+, then GPT-2's, then [0-9][0-9][0-9]
 * (In tokenizer.json there is a step Digits between the last two, but what it
 * sees are bytes that are shown as characters. The vocabulary is such that
 * leaving it out changes no id.)
 * ---- default, what llama.cpp does where it knows no better:
 * [\p{P}$+<=>^|~]+, then GPT-2's, \p{N}+, and [0-9][0-9][0-9]
 * ---- */

/* Symbols of ASCII are punctuation. */
static inline unsigned
class_at(const uint8_t *p, const uint8_t *end, size_t *n, uint8_t but)
{
    unsigned c = vocab_split_class(p, end, n);

    return c == UNICODE_SYMBOL && *p < 0x80 && *p != but ? (unsigned)P : c;
}

/* [0-9][0-9][0-9] */
static bool
is_three(const uint8_t *p, const uint8_t *end)
{
    return end - p >= 3 && vocab_split_ascii[p[0]] == N &&
           vocab_split_ascii[p[1]] == N && vocab_split_ascii[p[2]] == N;
}

/* The first word of the run of numbers at p. */
static size_t
numbers(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *q = p;
    size_t n;

    if (is_three(p, end))
        return 3;
    while (q < end && vocab_split_class(q, end, &n) == N && !is_three(q, end))
        q += n;
    return (size_t)(q - p);
}

static inline size_t
scan_punctuation(const uint8_t *p, size_t len, bool is_default)
{
    const uint8_t *end = p + len, *q = p, *last;
    uint8_t but = is_default ? '`' : 0;
    size_t n;
    unsigned c = class_at(p, end, &n, but), group;

    if (c == N)
        return numbers(p, end);
    if (*p == ' ' && end - p > 1) {
        c = class_at(p + 1, end, &n, but);
        q = p + 1;
        if (c == N)
            return is_default || is_three(q, end) ? 1 : 1 + numbers(q, end);
    }
    if (c == S || (c == P && q > p)) {
        q = vocab_split_spaces(p, end, &last, NULL);
        if (q < end && last != p && class_at(q, end, &n, but) != P)
            q = last;
        return (size_t)(q - p);
    }
    if (c & L)
        return (size_t)(vocab_split_run(q + n, end, L) - p);
    group = c & P;
    for (q += n; q < end; q += n) {
        c = class_at(q, end, &n, but);
        if (group ? !(c & group) : c & (L | N | S | P))
            break;
    }
    return (size_t)(q - p);
}

size_t
vocab_split_falcon(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan_punctuation(p, len, false);
}

size_t
vocab_split_default(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan_punctuation(p, len, true);
}
