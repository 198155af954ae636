/* split_llama3.c - the split rules of GPT-4's kind: Llama 3's, Qwen's */
#include "vocab/split.h"
#include "vocab/split_scan.h"

#define L UNICODE_LETTER
#define M UNICODE_MARK
#define N UNICODE_NUMBER
#define S UNICODE_SPACE

/* llama3 is this, with `letters` L, `digits` 3 and `tail`:
 * (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}
 * | ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
 * All of them are of the tokenizer.json of the models. */
static inline size_t
scan(const uint8_t *p, size_t len, unsigned letters, int digits, bool tail)
{
    const uint8_t *end = p + len, *q;
    size_t n, m;
    unsigned c = split_class(p, end, &n), next = N;

    q = p + n;
    if (c & letters)
        return (size_t)(split_run(q, end, letters) - p);
    if (c == N) {
        for (; --digits > 0 && q < end && split_class(q, end, &n) == N;)
            q += n;
        return (size_t)(q - p);
    }
    if (*p == '\'' && (m = split_contraction(p, end)))
        return m;
    if (q < end)
        next = split_class(q, end, &m);
    if (next & letters && !split_is_newline(*p))
        return (size_t)(split_run(q + m, end, letters) - p);
    if (c == S && (*p != ' ' || next & (N | S | letters)))
        return (size_t)(split_lines(p, end) - p);
    q = split_run_not(q, end, N | S | letters);
    while (tail && q < end && split_is_newline(*q))
        q++;
    return (size_t)(q - p);
}

size_t
split_llama3(const uint8_t *p, size_t len)
{
    size_t n = split_plain(p, len);

    return n ? n : scan(p, len, L, 3, true);
}

/* \p{N} for \p{N}{1,3}. */
size_t
split_qwen2(const uint8_t *p, size_t len)
{
    size_t n = split_plain(p, len);

    return n ? n : scan(p, len, L, 1, true);
}

/* The same, and [\p{L}\p{M}]+ for \p{L}+, and [^\s\p{L}\p{M}\p{N}]+. */
size_t
split_qwen35(const uint8_t *p, size_t len)
{
    size_t n = split_plain(p, len);

    return n ? n : scan(p, len, L | M, 1, true);
}

/* As Qwen 2's, but | ?[^\s\p{L}\p{N}\r\n]+ without newlines after it. */
size_t
split_seed_coder(const uint8_t *p, size_t len)
{
    size_t n = split_plain(p, len);

    return n ? n : scan(p, len, L, 1, false);
}
