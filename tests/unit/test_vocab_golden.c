/* test_vocab_golden.c - a quarter megabyte of mixed text against others
 *
 * The figures are what vocab_golden.py prints (regex 2026.11.15, tokenizers
 * 0.23.3, sentencepiece 0.2.3): how many words or ids, and their hash. The
 * text is made here as it is made there. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <gg.h>

#include "core/hash.h"
#include "unit/tap.h"
#include "vocab/split.h"

enum {
    WORDS = 20000,
    BYTES = 261210
};

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
    "",     "",    " ",   " ", " ", "  ",  "\n",       "\n\n",         "\t",
    "'s",   "'re", "'LL", "1", ".", "...", "\xc2\xa0", "\xe3\x80\x80", "\r\n",
    "\x1c", "   ",
};

static uint32_t
below(uint64_t *state, uint32_t n)
{
    *state =
        *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % n;
}

static size_t
put_character(uint8_t *p, uint32_t cp)
{
    int more = cp < 0x80 ? 0 : cp < 0x800 ? 1 : cp < 0x10000 ? 2 : 3;
    static const uint8_t heads[] = { 0, 0xc0, 0xe0, 0xf0 };

    p[0] = (uint8_t)(heads[more] | cp >> 6 * more);
    for (int i = 1; i <= more; i++)
        p[i] = (uint8_t)(0x80 | (cp >> 6 * (more - i) & 0x3f));
    return (size_t)more + 1;
}

static size_t
make_text(uint8_t *out)
{
    uint64_t state = 2024;
    size_t n = 0;

    for (int word = 0; word < WORDS; word++) {
        uint32_t r = below(&state, sizeof(ranges) / sizeof(ranges[0]));
        uint32_t k = 1 + below(&state, 9);
        const char *s;

        while (k-- > 0)
            n += put_character(out + n,
                               ranges[r].first + below(&state, ranges[r].n));
        s = between[below(&state, sizeof(between) / sizeof(between[0]))];
        memcpy(out + n, s, strlen(s));
        n += strlen(s);
    }
    return n;
}

static void
damage(uint8_t *text, size_t len)
{
    uint64_t state = 2024;

    for (size_t i = 0; i < len; i += 31)
        text[i] = (uint8_t)below(&state, 256);
}

static uint64_t
hash_number(uint64_t h, uint32_t number)
{
    uint8_t bytes[4] = { (uint8_t)number, (uint8_t)(number >> 8),
                         (uint8_t)(number >> 16), (uint8_t)(number >> 24) };

    return hash_bytes(h, bytes, sizeof(bytes));
}

static void
test_split(const uint8_t *text, size_t len, size_t n_want, uint64_t want,
           const char *name)
{
    split_rule rule = split_find("gpt-2", 5);
    uint64_t h = HASH_START;
    size_t n = 0;

    for (size_t i = 0; i < len; n++) {
        size_t word = rule(text + i, len - i);

        h = hash_number(h, (uint32_t)word);
        i += word;
    }
    printf("# %zu words, hash %016llx\n", n, (unsigned long long)h);
    ok(n == n_want && h == want, name);
}

static void
test_ids(const char *folder, const char *name, const uint8_t *text, size_t len,
         size_t n_want, uint64_t want)
{
    int32_t *ids = calloc(len, sizeof(*ids));
    struct gg_vocab *v = NULL;
    uint64_t h = HASH_START;
    char path[4096];
    size_t n = 0;

    snprintf(path, sizeof(path), "%s/%s.gguf", folder, name);
    if (gg_vocab_open(path, &v, NULL) != GG_OK ||
        gg_vocab_encode(v, (const char *)text, len, 0, ids, len, &n, NULL) !=
            GG_OK)
        n = 0;
    for (size_t i = 0; i < n; i++)
        h = hash_number(h, (uint32_t)ids[i]);
    printf("# %zu ids, hash %016llx\n", n, (unsigned long long)h);
    ok(n == n_want && h == want, name);
    gg_vocab_free(v);
    free(ids);
}

int
main(void)
{
    static uint8_t text[WORDS * 48];
    const char *folder = getenv("GG_TEST_VOCAB");
    size_t len = make_text(text);

    ok(len == BYTES, "the text is the one that the figures are for");
    test_split(text, len, 38607, UINT64_C(0x6388207778316663),
               "gpt-2's split rule is its regular expression");
    if (folder) {
        test_ids(folder, "gpt-2", text, len, 201042,
                 UINT64_C(0x96636db4e4d7ea0e));
        test_ids(folder, "llama-spm", text, len, 199163,
                 UINT64_C(0x2b81eb5cceda8e4d));
    } else {
        puts("# GG_TEST_VOCAB names no folder of vocabularies: ids skipped");
    }
    damage(text, len);
    test_split(text, len, 48357, UINT64_C(0xe9ea6944e9ffaa8d),
               "also in broken UTF-8");
    return tap_done();
}
