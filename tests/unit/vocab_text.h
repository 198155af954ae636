/* vocab_text.h - texts of all kinds of characters, made as vocab_golden.py
 * makes them */
#ifndef VOCAB_TEXT_H
#define VOCAB_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/hash.h"

enum {
    TEXT_WORDS = 20000,
    TEXT_CAP = TEXT_WORDS * 48,
    TEXT_MIXED = 261210,  /* bytes of text_mixed() */
    TEXT_PIECES = 134316, /* of text_pieces() */
    TEXT_RARE = 231222,   /* of text_rare() */
    TEXT_ROUNDS = 600,
};

static inline uint32_t
text_below(uint64_t *state, size_t n)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % (uint32_t)n;
}

static inline size_t
text_put(uint8_t *p, uint32_t cp)
{
    int more = cp < 0x80 ? 0 : cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
    static const uint8_t heads[] = { 0, 0xc0, 0xe0, 0xf0 };

    p[0] = (uint8_t)(heads[more] | cp >> 6 * more);
    for (int i = 1; i <= more; i++)
        p[i] = (uint8_t)(0x80 | (cp >> 6 * (more - i) & 0x3f));
    return (size_t)more + 1;
}

static inline size_t
text_append(uint8_t *out, size_t n, const char *s)
{
    memcpy(out + n, s, strlen(s));
    return n + strlen(s);
}

#define TEXT_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Words of one script each. */
static inline size_t
text_mixed(uint8_t *out)
{
    static const struct {
        uint32_t first, n;
    } ranges[] = {
        { 0x61, 26 },      { 0x41, 26 },      { 0x30, 10 },   { 0x21, 15 },
        { 0x3a, 7 },       { 0xc0, 23 },      { 0x391, 17 },  { 0x430, 32 },
        { 0x5d0, 27 },     { 0x620, 43 },     { 0x660, 10 },  { 0x904, 54 },
        { 0xe01, 46 },     { 0x2070, 2 },     { 0x2160, 16 }, { 0x3041, 86 },
        { 0x4e00, 20902 }, { 0xac00, 11172 }, { 0xff10, 10 }, { 0x1f600, 80 },
        { 0x1d400, 85 },   { 0x300, 112 },    { 0x2000, 64 }, { 9, 24 },
    };
    static const char *const between[] = {
        "",
        "",
        " ",
        " ",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\t",
        "'s",
        "'re",
        "'LL",
        "1",
        ".",
        "...",
        "\xc2\xa0",
        "\xe3\x80\x80",
        "\r\n",
        "\x1c",
        "   ",
    };
    uint64_t state = 2024;
    size_t n = 0;

    for (int word = 0; word < TEXT_WORDS; word++) {
        uint32_t r = text_below(&state, TEXT_COUNT(ranges));
        uint32_t k = 1 + text_below(&state, 9);

        while (k-- > 0)
            n += text_put(out + n,
                          ranges[r].first + text_below(&state, ranges[r].n));
        n = text_append(out, n,
                        between[text_below(&state, TEXT_COUNT(between))]);
    }
    return n;
}

/* Every 31st byte becomes another. */
static inline void
text_damage(uint8_t *text, size_t len)
{
    uint64_t state = 2024;

    for (size_t i = 0; i < len; i += 31)
        text[i] = (uint8_t)text_below(&state, 256);
}

/* Some of `pieces`, in each round only few, side by side. */
static inline size_t
text_rounds(uint8_t *out, const char *const *pieces, size_t count, int rounds,
            uint64_t state)
{
    size_t n = 0;

    for (int round = 0; round < rounds; round++) {
        const char *few[8];
        size_t k = 2 + text_below(&state, 7);

        for (size_t i = 0; i < k; i++)
            few[i] = pieces[text_below(&state, count)];
        for (int i = 0; i < 80; i++)
            n = text_append(out, n, few[text_below(&state, k)]);
    }
    return n;
}

/* What rules treat in their own ways. */
static inline size_t
text_pieces(uint8_t *out)
{
    static const char *const pieces[] = {
        "'",
        "'s",
        "'S",
        "'\xc5\xbf",
        "'LL",
        "'re",
        "'vE",
        "'M",
        "'d",
        " ",
        " ",
        " ",
        "  ",
        "   ",
        "\n",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "\x0b",
        "\xc2\x85",
        "\xe3\x80\x80",
        "\xe3\x80\x80\xe3\x80\x80",
        "\xc2\xa0",
        "\xe2\x80\x83",
        "\xe2\x80\xa8",
        "a",
        "b",
        "B",
        "AB",
        "hello",
        "World",
        "\xc3\xa9",
        "\xc3\x89",
        "\xc3\x9f",
        "\xc7\x85",
        "\xca\xb0",
        "\xc2\xaa",
        "\xe4\xb8\xad",
        "\xe6\x96\x87\xe5\xad\x97",
        "\xe3\x81\xae",
        "\xe3\x82\xab\xe3\x82\xbf",
        "\xe3\x83\xbb",
        "\xe3\x83\xbc",
        "\xe3\x82\x99",
        "\xe3\x82\x9b",
        "\xed\x95\x9c\xea\xb5\xad",
        "1",
        "12",
        "123",
        "1234567",
        "\xd9\xa3",
        "\xc2\xb2",
        "\xe2\x85\xa7",
        "\xe3\x80\x87",
        "\xc2\xbd",
        "!",
        "?",
        "/",
        "//",
        "$",
        "`",
        "``",
        "+",
        "\xe2\x82\xac",
        "\xc2\xa9",
        "\xe3\x80\x82",
        "\xe3\x80\x81",
        "\xef\xbc\x81",
        "\xef\xbc\xa1",
        "\xef\xbd\x82",
        "\xef\xbc\x99",
        "\xe2\x80\x98",
        "\xe2\x80\x9c",
        "\xcc\x81",
        "\xcc\x81\xcc\x82",
        "\xe2\x80\x8d",
        "\xef\xb8\x8f",
        "\xf0\x9f\x91\x8d",
        "\xf0\x9f\x8f\xbd",
        "\x01",
        "\x7f",
        "\xe0\xb8\xb3",
        "\xe0\xb8\xaa\xe0\xb8\xa7\xe0\xb8\xb1\xe0\xb8\xaa\xe0\xb8\x94\xe0\xb8"
        "\xb5",
        "\xe0\xa4\xa8\xe0\xa4\xae\xe0\xa4\xb8\xe0\xa5\x8d\xe0\xa4\xa4\xe0\xa5"
        "\x87",
        "\xd8\xa7",
        "\xd9\x8b",
        "\xd0\x96",
        "\xd0\xb6",
        "\xce\xa9",
        "\xe1\xbb\x87",
        "\xe1\x82\xa0",
        "\xe1\xb4\x80",
        "\xe2\x85\xa0",
        "\xe2\x86\x83",
        "\xcd\xb8",
        "\xee\x80\x80",
        "\xf3\xa0\x81\x81",
        "\xf0\x90\x90\x80",
        "\xf0\x9d\x90\x80",
        "\x80",
        "\xff\xc3",
        "\xe4\xb8",
        "<|x|>",
        "_",
        "__",
        "-",
        "--",
        "...",
        ",",
        ";",
        "#",
    };

    return text_rounds(out, pieces, TEXT_COUNT(pieces), TEXT_ROUNDS, 2025);
}

/* What only few rules know of. */
static inline size_t
text_rare(uint8_t *out)
{
    static char blanks[524];
    const char *const pieces[] = {
        "IMGIMG",
        "IMGIMGAZ",
        "IMGIMGBCHIZ",
        "IMGIMGABCDEZ",
        "A",
        "Z",
        "<sentinel:12>",
        " ",
        " ",
        "  ",
        "    ",
        blanks + 523 - 37,
        blanks,
        "\n",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "\xe3\x80\x80",
        "\xc2\xa0",
        "a",
        "b c",
        "Bc",
        "it's",
        "'LL",
        "0",
        "12",
        "999",
        "1234",
        "\xd9\xa3",
        "\xe0\xa5\xa7\xe0\xa5\xa8",
        "\xe0\xb9\x91",
        "\xe0\xbb\x92",
        "\xe1\x81\x81",
        "\xef\xbc\x91",
        "\xf0\x9d\x9f\x99",
        "\xc2\xb2",
        "\xc2\xbd",
        "\xe2\x91\xa0",
        "\xe2\x85\xa7",
        "\xe3\x80\x87",
        "\xe3\x80\xa1",
        "_",
        "\xe2\x80\xbf",
        "\xe2\x92\xb6",
        "\xf0\x9f\x84\xb0",
        "\xcc\x81",
        "\xe3\x80\xaa",
        "\xe0\xa4\xbf",
        "\xe0\xa4\x95",
        "\xe0\xb8\x81",
        "\xe0\xb8\xbf",
        "\xe0\xb8\xb4",
        "\xe0\xba\x81",
        "\xe0\xbb\x80",
        "\xe1\x9e\x80",
        "\xe1\x9e\xb6",
        "\xe1\x80\x80",
        "\xe1\x80\xab",
        "\xea\xa9\xa0",
        "\xea\xa7\xa1",
        "\xe1\x84\x80",
        "\xea\xb0\x80",
        "\xed\x9e\xae",
        "\xe3\x84\xb1",
        "\xe3\x84\x85",
        "\xe4\xb8\xad",
        "\xe9\xbf\xbf",
        "\xe3\x90\x80",
        "\xef\xa4\x80",
        "\xe3\x81\x82",
        "\xe3\x82\xa2",
        "\xe3\x83\xbb",
        "\xe3\x83\xbc",
        "\xe3\x81\x80",
        "\xef\xbd\xb1",
        "\xef\xbe\x9f",
        "\xe2\xbc\x80",
        "\xe2\xba\x80",
        "\xe3\x80\x85",
        "\xe3\x80\xbb",
        "\xe3\x80\xb1",
        "\xf0\x96\xbf\xa2",
        "\xf0\x96\xbf\xb0",
        "\xf0\xa0\x80\x80",
        "\xf0\xab\x9c\xb9",
        "\xe2\x80\xa6",
        "\xe3\x80\x82",
        "\xef\xbc\x8c",
        "\xe3\x80\x81",
        "\xe0\xa5\xa4",
        "\xdb\x94",
        "\xd8\x8c",
        "\xef\xbc\x81",
        "\xe2\x80\x9c",
        "\xe2\x80\x94",
        "\xef\xb8\xb0",
        "\xef\xbc\x9a",
        "(",
        ")",
        "|",
        ".",
        ",",
        "!",
        "?",
        "/",
        "$",
        "-",
        "\xe2\x82\xac",
        "\xe2\x80\x8d",
        "\xf0\x9f\x98\x80",
        "\x80",
        "\xee\x80\x80",
    };

    memset(blanks, ' ', sizeof(blanks) - 1);
    return text_rounds(out, pieces, TEXT_COUNT(pieces), 400, 2026);
}

static inline uint64_t
text_hash(uint64_t h, uint32_t number)
{
    uint8_t bytes[4] = { (uint8_t)number, (uint8_t)(number >> 8),
                         (uint8_t)(number >> 16), (uint8_t)(number >> 24) };

    return hash_bytes(h, bytes, sizeof(bytes));
}

#endif
