/* split_group.c - runs that rules cut by how long they are */
#include "vocab/split.h"
#include "vocab/split_scan.h"

static bool
is_decimal(const uint8_t *p, const uint8_t *end, size_t *n)
{
    if (*p < 0x80) {
        *n = 1;
        return *p >= '0' && *p <= '9';
    }
    return vocab_unicode_is_decimal(vocab_unicode_at(p, (size_t)(end - p), n));
}

/* superbpe, of the tokenizer.json of the models:
 * \p{N}+
 * and then (?=(\d{3})+(?!\d)), which matches between two characters. */
size_t
vocab_split_superbpe(const uint8_t *p, size_t len)
{
    const uint8_t *end = p + len, *q;
    size_t n;

    if (vocab_split_class(p, end, &n) == UNICODE_NUMBER)
        q = vocab_split_run(p, end, UNICODE_NUMBER);
    else
        q = vocab_split_run_not(p, end, UNICODE_NUMBER);
    return (size_t)(q - p);
}

/* Before the last three of a run of digits, before the three before them, and
 * so on. *count: the digits that are left of it. */
size_t
vocab_split_thousands(const uint8_t *p, size_t n, size_t len, size_t *count)
{
    const uint8_t *end = p + n, *q = p, *digit;
    size_t bytes;

    (void)len;
    if (vocab_split_class(p, end, &bytes) != UNICODE_NUMBER)
        return n;
    for (; q < end; q += bytes) {
        if (*count == 0)
            for (digit = q; digit < end && is_decimal(digit, end, &bytes);
                 digit += bytes)
                ++*count;
        if (*count == 0) {
            vocab_unicode_at(q, (size_t)(end - q), &bytes);
            continue;
        }
        if (q > p && *count % 3 == 0)
            break;
        is_decimal(q, end, &bytes);
        --*count;
    }
    return (size_t)(q - p);
}

/* jais-2: as llama3, but \s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)
 * |\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)
 * |\s{1,2}(?!\S)|\s{1} for \s+(?!\S)|\s+: what that takes, in powers of two.
 * *count: the spaces that are left. */
size_t
vocab_split_jais2_group(const uint8_t *p, size_t n, size_t len, size_t *count)
{
    const uint8_t *end = p + n, *q = p;
    size_t bytes, take = 512;

    (void)len;
    if (*count == 0) {
        while (q < end && vocab_split_class(q, end, &bytes) == UNICODE_SPACE) {
            q += bytes;
            ++*count;
        }
        if (q < end || vocab_split_is_newline(end[-1]))
            return n;
        q = p;
    }
    while (take > *count)
        take /= 2;
    *count -= take;
    for (; take; take--) {
        vocab_split_class(q, end, &bytes);
        q += bytes;
    }
    return (size_t)(q - p);
}
