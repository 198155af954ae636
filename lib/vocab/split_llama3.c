/* split_llama3.c - the split rules of GPT-4's kind: Llama 3's, Qwen's,
 * and others */
#include "vocab/split.h"
#include "vocab/split_scan.h"

#define L UNICODE_LETTER
#define M UNICODE_MARK
#define N UNICODE_NUMBER
#define S UNICODE_SPACE

/* llama3 is this, with `letters` L, `digits` 3, `tail` and `suffixes`:
 * (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
 * | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * All of them are of the tokenizer.json of the models. */
static inline size_t
scan_any(const uint8_t *p, size_t len, unsigned letters, int digits, bool tail,
         bool suffixes)
{
    const uint8_t *end = p + len, *q;
    size_t n, m;
    unsigned c = vocab_split_class(p, end, &n), next = N;

    q = p + n;
    if (c & letters)
        return (size_t)(vocab_split_run(q, end, letters) - p);
    if (c == N) {
        for (; --digits > 0 && q < end && vocab_split_class(q, end, &n) == N;)
            q += n;
        return (size_t)(q - p);
    }
    if (suffixes && *p == '\'' && (m = vocab_split_contraction(p, end)))
        return m;
    if (q < end)
        next = vocab_split_class(q, end, &m);
    if (next & letters && !vocab_split_is_newline(*p))
        return (size_t)(vocab_split_run(q + m, end, letters) - p);
    if (c == S && (*p != ' ' || next & (N | S | letters)))
        return (size_t)(vocab_split_lines(p, end) - p);
    q = vocab_split_run_not(q, end, N | S | letters);
    while (tail && q < end && vocab_split_is_newline(*q))
        q++;
    return (size_t)(q - p);
}

static inline size_t
scan(const uint8_t *p, size_t len, unsigned letters, int digits, bool tail)
{
    return scan_any(p, len, letters, digits, tail, true);
}

size_t
vocab_split_llama3(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan(p, len, L, 3, true);
}

/* \p{N} for \p{N}{1,3}. */
size_t
vocab_split_qwen2(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan(p, len, L, 1, true);
}

/* Qwen 2's without (?i:'s|'t|'re|'ve|'m|'ll|'d): suffixes of Turkish stay whole
 * with their apostrophe. */
size_t
vocab_split_ufakzeka(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan_any(p, len, L, 1, true, false);
}

/* Qwen 2's, and [\p{L}\p{M}]+ for \p{L}+, and [^\s\p{L}\p{M}\p{N}]+. */
size_t
vocab_split_qwen35(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan(p, len, L | M, 1, true);
}

/* As Qwen 2's, but | ?[^\s\p{L}\p{N}\r\n]+ without newlines after it. */
size_t
vocab_split_seed_coder(const uint8_t *p, size_t len)
{
    size_t n = vocab_split_plain(p, len);

    return n ? n : scan(p, len, L, 1, false);
}

/* minicpm5, of its tokenizer.json:
 * \p{N}{1,3}, and then llama3 with \p{N}+ for \p{N}{1,3}
 * Numbers are what they are in llama3, but a text ends before them. */
size_t
vocab_split_minicpm5(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *last, *lines, *q;
    size_t n = vocab_split_plain(p, len);

    if (n)
        return n;
    if (vocab_split_class(p, end, &n) == S) {
        q = vocab_split_spaces(p, end, &last, &lines);
        if (!lines && q < end && vocab_split_class(q, end, &n) == N)
            return (size_t)(q - p);
    }
    return scan(p, len, L, 3, true);
}

/* ---- laguna, of its tokenizer.json:
 * (?:\r?\n)+(?!\r?\n), each match to be the begin of a piece, and then Qwen
 * 2's ---- */

/* Bytes of \r?\n at p, or 0. */
static size_t
line_end(const uint8_t *p, const uint8_t *end)
{
    if (p == end)
        return 0;
    if (*p == '\n')
        return 1;
    return *p == '\r' && end - p > 1 && p[1] == '\n' ? 2 : 0;
}

/* The piece that begins at p, as far as it is spaces; or all of the text. */
static size_t
space_piece(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q = p;
    size_t n;

    while ((n = line_end(q, end)))
        q += n;
    for (; q < end && vocab_split_class(q, end, &n) == S; q += n)
        if (line_end(q, end))
            return (size_t)(q - p);
    return len;
}

size_t
vocab_split_laguna(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q;
    size_t n = vocab_split_plain(p, len);

    if (n)
        return n;
    if (vocab_split_class(p, end, &n) == S)
        len = space_piece(p, len);
    n = scan(p, len, L, 1, true);
    if (!vocab_split_is_newline(p[n - 1]))
        return n;
    /* After punctuation. */
    q = p + scan(p, len, L, 1, false);
    while (q < p + n && !line_end(q, end))
        q++;
    return (size_t)(q - p);
}

/* ---- exaone-moe, of its tokenizer.json:
 * (?i:'s|'t|'re|'ve|'m|'ll|'d)
 * |[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}
 * | ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+
 * ---- */

/* The end of letters, marks after them, and single blanks before letters. */
static const uint8_t *
phrase(const uint8_t *p, const uint8_t *end)
{
    size_t n;

    for (;;) {
        p = vocab_split_run(p, end, L | M);
        if (end - p < 2 || *p != ' ' ||
            !(vocab_split_class(p + 1, end, &n) & L))
            return p;
        p += 1 + n;
    }
}

size_t
vocab_split_exaone_moe(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q;
    size_t n, m;
    unsigned c = vocab_split_class(p, end, &n), next = N;

    q = p + n;
    if (c & L)
        return (size_t)(phrase(q, end) - p);
    if (c == N)
        return n;
    if (*p == '\'' && (m = vocab_split_contraction(p, end)))
        return m;
    if (q < end)
        next = vocab_split_class(q, end, &m);
    if (next & L && !vocab_split_is_newline(*p))
        return (size_t)(phrase(q + m, end) - p);
    if (c == S && (*p != ' ' || next & (N | S | L)))
        return (size_t)(vocab_split_lines(p, end) - p);
    q = vocab_split_run_not(q, end, N | S | L);
    return (size_t)(q - p) + (q < end && vocab_split_is_newline(*q));
}
