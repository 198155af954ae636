/* split_scan.h - what the scanners of the split rules share */
#ifndef VOCAB_SPLIT_SCAN_H
#define VOCAB_SPLIT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vocab/bytes.h"
#include "vocab/unicode.h"

/* For scanners that several rules share: each gets its own, with what it does
 * differently known when it is compiled. */
#define SPLIT_INLINE static inline __attribute__((always_inline))

/* Most text is ASCII, and needs no table but this: the class of each byte, or
 * SPLIT_LONG for the first of a longer character, or a broken one. */
enum {
    SPLIT_LONG = 0x100
};
extern const uint16_t vocab_split_ascii[256];

/* Class of the character at p < end; *n gets its bytes. */
static inline unsigned
vocab_split_class(const uint8_t *p, const uint8_t *end, size_t *n)
{
    unsigned c = vocab_split_ascii[*p];

    *n = 1;
    if (c == SPLIT_LONG)
        c = vocab_unicode_class(vocab_unicode_at(p, (size_t)(end - p), n));
    return c;
}

/* The end of the run of ASCII characters of a class in `any` at p. */
static inline const uint8_t *
vocab_split_ascii_run(const uint8_t *p, const uint8_t *end, unsigned any)
{
    while (p < end && vocab_split_ascii[*p] & any)
        p++;
    return p;
}

/* The end of the letters of ASCII at p. */
static inline const uint8_t *
vocab_split_letters(const uint8_t *p, const uint8_t *end)
{
    while (end - p >= 8) {
        uint64_t other =
            ~vocab_bytes_ascii_letters(vocab_bytes_load8(p)) & BYTES_HIGHS;

        if (other)
            return p + (size_t)__builtin_ctzll(other) / 8;
        p += 8;
    }
    return vocab_split_ascii_run(p, end, UNICODE_LETTER);
}

enum {
    SPLIT_PLAIN = 17 /* bytes of a blank and what is looked at after it */
};

/* How many of the lowest 16 bits are 1, up to the first 0. */
static inline size_t
vocab_split_ones(unsigned bits)
{
    return (size_t)__builtin_ctz(~bits);
}

/* Bytes of a word that almost all rules see alike: letters of ASCII, mostly
 * with a blank in front, and what follows is ASCII and no letter. 0: there is
 * none, or it is long, or too near to the end to be seen at once. */
static inline size_t
vocab_split_plain(const uint8_t *p, size_t len)
{
    size_t blank = *p == ' ', n;

    if (len < SPLIT_PLAIN)
        return 0;
    n = vocab_split_ones(vocab_bytes_from_to(p + blank, 'a', 'z', 0x20));
    return n && n < 16 && p[blank + n] < 0x80 ? blank + n : 0;
}

/* vocab_split_plain() for rules that part words at capitals, or at apostrophes
 * after them: only the first letter is a capital, and no apostrophe follows. */
static inline size_t
vocab_split_plain_lower(const uint8_t *p, size_t len)
{
    size_t blank = *p == ' ', n;
    unsigned capitals;

    if (len < SPLIT_PLAIN)
        return 0;
    n = vocab_split_ones(vocab_bytes_from_to(p + blank, 'a', 'z', 0x20));
    capitals = ~vocab_bytes_from_to(p + blank, 'a', 'z', 0) & ((1u << n) - 1);
    return n && n < 16 && capitals < 2 && p[blank + n] < 0x80 &&
                   p[blank + n] != '\''
               ? blank + n
               : 0;
}

/* The end of the run of characters of a class in `any` at p. */
static inline const uint8_t *
vocab_split_run(const uint8_t *p, const uint8_t *end, unsigned any)
{
    size_t n;

    if ((any & UNICODE_LETTER) == UNICODE_LETTER)
        p = vocab_split_letters(p, end);
    for (;;) {
        p = vocab_split_ascii_run(p, end, any);
        if (p == end || !(vocab_split_class(p, end, &n) & any))
            return p;
        p += n;
    }
}

/* The end of a run of characters of no class in `none`. */
static inline const uint8_t *
vocab_split_run_not(const uint8_t *p, const uint8_t *end, unsigned none)
{
    size_t n;

    while (p < end && !(vocab_split_class(p, end, &n) & none))
        p += n;
    return p;
}

static inline bool
vocab_split_is_newline(uint8_t c)
{
    return c == '\n' || c == '\r';
}

/* \s+ at p, where one stands. *last gets its last character; *lines, if not
 * NULL, the end of the last newline in it, or NULL. */
static inline const uint8_t *
vocab_split_spaces(const uint8_t *p, const uint8_t *end, const uint8_t **last,
                   const uint8_t **lines)
{
    size_t n;

    if (lines)
        *lines = NULL;
    for (*last = p; p < end && vocab_split_class(p, end, &n) == UNICODE_SPACE;
         p += n) {
        *last = p;
        if (lines && vocab_split_is_newline(*p))
            *lines = p + 1;
    }
    return p;
}

/* \s*[\r\n]+|\s+(?!\S)|\s+ where a space stands at p. */
static inline const uint8_t *
vocab_split_lines(const uint8_t *p, const uint8_t *end)
{
    const uint8_t *last, *lines, *q = vocab_split_spaces(p, end, &last, &lines);

    return lines ? lines : q == end || last == p ? q : last;
}

/* (?i:'s|'t|'re|'ve|'m|'ll|'d): its bytes, or 0. U+017F is an s, too. */
size_t
vocab_split_contraction(const uint8_t *p, const uint8_t *end);

#endif
