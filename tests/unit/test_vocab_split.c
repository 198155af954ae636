/* test_vocab_split.c - each split rule against what it stands for
 *
 * The figures are what vocab_golden.py prints, where the expressions are too
 * (regex 2026.11.15): how many words, and the hash of their lengths. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "unit/tap.h"
#include "unit/vocab_text.h"
#include "vocab/split.h"

struct figure {
    size_t n;
    uint64_t hash;
};

/* Characters that rules part in different ways; '|' is not among them. */
#define EXAMPLE                                                                \
    "He'LL've paid $12345 for the caf\xc3\xa9s'  BigTable...\n\n"              \
    "\tif (x>=10) \xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae"                        \
    "3 \xc2\xbd\xe2\x82\xac\n/"

static const struct {
    const char *name;
    struct figure mixed, damaged, pieces;
    const char *words; /* of EXAMPLE */
} rules[] = {
    { "gpt-2",
      { 38607, UINT64_C(0x6388207778316663) },
      { 48357, UINT64_C(0xe9ea6944e9ffaa8d) },
      { 33652, UINT64_C(0x3a7ae64a9f42e150) },
      "He|'|LL|'ve| paid| $|12345| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\t|if| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| \xc2\xbd|\xe2\x82\xac|\n|/" },
    { "starcoder",
      { 53347, UINT64_C(0x08424f3e5bbfcb99) },
      { 61051, UINT64_C(0x0d55674cb9863e65) },
      { 39634, UINT64_C(0xea908ba410abe984) },
      "He|'|LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\t|if| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "falcon",
      { 42073, UINT64_C(0x0b6517dac372d073) },
      { 53807, UINT64_C(0x49bac816552f09cb) },
      { 38786, UINT64_C(0x62bd97a0e0ca2f45) },
      "He|'|LL|'|ve| paid| |$|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\t|if| |(|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| \xc2\xbd|\xe2\x82\xac|\n|/" },
    { "default",
      { 42817, UINT64_C(0xb70ce4255bd3a973) },
      { 54454, UINT64_C(0x6bd6d0834176ec83) },
      { 39110, UINT64_C(0x79dc9f9f435003d3) },
      "He|'|LL|'|ve| paid| |$|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\t|if| |(|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "llama-bpe",
      { 37101, UINT64_C(0xd25f4fd2ff54a0df) },
      { 44831, UINT64_C(0x7d231820a680d729) },
      { 29373, UINT64_C(0x391c8c05e2ba664e) },
      "He|'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "qwen2",
      { 48150, UINT64_C(0xe8fce996e2dc067b) },
      { 54599, UINT64_C(0x543837c374aad9c9) },
      { 33975, UINT64_C(0x51bb791d227734c2) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "qwen35",
      { 48289, UINT64_C(0x11a46c1224257a11) },
      { 54881, UINT64_C(0xcdbb1973a628312d) },
      { 32061, UINT64_C(0x53fd8bb3fd65ed5c) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "seed-coder",
      { 49058, UINT64_C(0xa87c3cf0eb28b7ff) },
      { 55719, UINT64_C(0x7e80efad6daa31c1) },
      { 34391, UINT64_C(0x7eb1ada665fed81c) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "gpt-4o",
      { 35992, UINT64_C(0xf10ddef745cc3ec7) },
      { 44083, UINT64_C(0xd0a4dffe9247777f) },
      { 26343, UINT64_C(0x8cf5cfea1c4837ce) },
      "He'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "Big|Table|...\n\n|\tif| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n/" },
    { "tekken",
      { 47942, UINT64_C(0xb4c11e15145a119b) },
      { 54685, UINT64_C(0x352f48f22fd5900f) },
      { 32271, UINT64_C(0x64485e4a58752d08) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "Big|Table|...\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n/" },
    { "deepseek-llm",
      { 54181, UINT64_C(0x82fd92898d0f3b39) },
      { 62751, UINT64_C(0x4ed6ca9218bf3961) },
      { 42914, UINT64_C(0xd2282ab0b2ca5cc7) },
      "He|'|LL|'|ve| paid| $|1|2|3|4|5| for| the| caf|\xc3\xa9|s|'| | "
      "BigTable|...|\n|\n|\tif| (|x|>=|1|0|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "deepseek-coder",
      { 57568, UINT64_C(0x7de5f6dfc4710e65) },
      { 66689, UINT64_C(0x2e6fa5854665fde9) },
      { 46113, UINT64_C(0x38a7a351c6e410f4) },
      "He|'|LL|'|ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n|\n|\tif| (|x|>=|1|0|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "deepseek-v3",
      { 39665, UINT64_C(0x5985234c9e7b16d9) },
      { 50591, UINT64_C(0x8c1184f645872fcb) },
      { 31904, UINT64_C(0x5a23517604c97e84) },
      "He|'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|10|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
};

/* The texts are as long as those of vocab_golden.py. */
static uint8_t *
make(size_t (*fill)(uint8_t *), size_t len, const char *name)
{
    uint8_t *text = malloc(TEXT_CAP);
    size_t n = fill(text);

    ok(n == len, name);
    text = realloc(text, n); /* so that a read beyond it is seen */
    return text;
}

static bool
is(split_rule rule, const uint8_t *text, size_t len, struct figure want)
{
    uint64_t h = HASH_START;
    size_t n = 0;

    for (size_t i = 0; i < len; n++) {
        size_t word = rule(text + i, len - i);

        if (word == 0 || word > len - i)
            return false;
        h = text_hash(h, (uint32_t)word);
        i += word;
    }
    if (n != want.n || h != want.hash)
        printf("# %zu words, hash %016llx\n", n, (unsigned long long)h);
    return n == want.n && h == want.hash;
}

static bool
example_is(split_rule rule, const char *want)
{
    static const uint8_t text[] = EXAMPLE;
    char words[3 * sizeof(text)];
    size_t len = sizeof(text) - 1, n = 0;

    for (size_t i = 0; i < len;) {
        size_t word = rule(text + i, len - i);

        if (i)
            words[n++] = '|';
        memcpy(words + n, text + i, word);
        n += word;
        i += word;
    }
    words[n] = '\0';
    if (strcmp(words, want) != 0)
        printf("# not: %s\n", words);
    return strcmp(words, want) == 0;
}

static void
test_rules(const uint8_t *mixed, const uint8_t *damaged, const uint8_t *pieces)
{
    char what[128];

    for (size_t i = 0; i < TEXT_COUNT(rules); i++) {
        const struct split_name *s =
            split_find(rules[i].name, strlen(rules[i].name));
        split_rule rule = s ? s->rule : split_default;

        snprintf(what, sizeof(what), "%s: an example", rules[i].name);
        ok(s && example_is(rule, rules[i].words), what);
        snprintf(what, sizeof(what), "%s: mixed text", rules[i].name);
        ok(is(rule, mixed, TEXT_MIXED, rules[i].mixed), what);
        snprintf(what, sizeof(what), "%s: broken UTF-8", rules[i].name);
        ok(is(rule, damaged, TEXT_MIXED, rules[i].damaged), what);
        snprintf(what, sizeof(what), "%s: side by side", rules[i].name);
        ok(is(rule, pieces, TEXT_PIECES, rules[i].pieces), what);
    }
}

/* Every rule that a name stands for is one of those tested, and no name is
 * there twice. */
static void
test_names(void)
{
    const struct split_name *s;
    int untested = 0, twice = 0;

    for (size_t i = 0; (s = split_name(i)); i++) {
        size_t k = 0;

        while (k < TEXT_COUNT(rules) &&
               split_find(rules[k].name, strlen(rules[k].name))->rule !=
                   s->rule)
            k++;
        untested += k == TEXT_COUNT(rules);
        twice += split_find(s->name, strlen(s->name)) != s;
    }
    ok(untested == 0, "no rule is without a test");
    ok(twice == 0, "no name is there twice");
    ok(!split_find("klingon", 7) && !split_find("", 0),
       "other names are not known");
}

/* A rule looks no further than a word needs: a text of one kind is read once
 * or twice, not once a word. What counts here is that it ends at all. */
static void
test_linear(void)
{
    static const char *const kinds[] = {
        "a",
        " ",
        "\n",
        " \n",
        "1",
        "\xe3\x80\x80",
        "\x01",
        "a ",
        "A",
        "Aa",
        "!",
        "'",
        "\xe2\x80\x83 ",
        "1 ",
        "\xff",
        ". ",
        "\r ",
        "\x01 ",
        "\xcc\x81",
        "\xe4\xb8\xad ",
        "\xc2\xaa"
        "A",
    };
    enum {
        SIZE = 1 << 20
    };
    uint8_t *text = malloc(SIZE);
    const struct split_name *s;

    for (size_t k = 0; k < TEXT_COUNT(kinds); k++) {
        size_t len = strlen(kinds[k]);

        for (size_t i = 0; i < SIZE; i++)
            text[i] = (uint8_t)kinds[k][i % len];
        for (size_t r = 0; (s = split_name(r)); r++)
            for (size_t i = 0; i < SIZE && (r == 0 || s->rule != s[-1].rule);)
                i += s->rule(text + i, SIZE - i);
    }
    free(text);
    ok(true, "a million bytes of one kind take no time");
}

int
main(void)
{
    uint8_t *mixed = make(text_mixed, TEXT_MIXED, "the mixed text");
    uint8_t *damaged = make(text_mixed, TEXT_MIXED, "and again");
    uint8_t *pieces = make(text_pieces, TEXT_PIECES, "the text of pieces");

    text_damage(damaged, TEXT_MIXED);
    test_rules(mixed, damaged, pieces);
    test_names();
    test_linear();
    free(mixed);
    free(damaged);
    free(pieces);
    return tap_done();
}
