/* test_vocab_split.c - each split rule against what it stands for
 *
 * The figures are what vocab_golden.py prints, where the expressions are too
 * (regex 2026.11.15): how many words, and the hash of their lengths. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "harness/tap.h"
#include "fixtures/vocab_text.h"
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
    struct figure mixed, damaged, pieces, rare;
    const char *words; /* of EXAMPLE */
} rules[] = {
    { "gpt-2",
      { 38607, UINT64_C(0x6388207778316663) },
      { 48357, UINT64_C(0xe9ea6944e9ffaa8d) },
      { 33652, UINT64_C(0x3a7ae64a9f42e150) },
      { 18704, UINT64_C(0xf5e95990debceac1) },
      "He|'|LL|'ve| paid| $|12345| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\t|if| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| \xc2\xbd|\xe2\x82\xac|\n|/" },
    { "clip",
      { 53760, UINT64_C(0x0987e34c5ba4f241) },
      { 61677, UINT64_C(0x487a8427bb80dcfd) },
      { 38825, UINT64_C(0xc186f688beda6b6a) },
      { 22949, UINT64_C(0x75ce86a4e20d9070) },
      "He|'|LL|'ve| |paid| |$|1|2|3|4|5| |for| |the| |caf\xc3\xa9s|'|  |"
      "BigTable|...|\n\n\t|if| |(|x|>=|1|0|)| |"
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "starcoder",
      { 53347, UINT64_C(0x08424f3e5bbfcb99) },
      { 61051, UINT64_C(0x0d55674cb9863e65) },
      { 39634, UINT64_C(0xea908ba410abe984) },
      { 22835, UINT64_C(0xd1dd43343111f1cc) },
      "He|'|LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\t|if| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "falcon",
      { 42073, UINT64_C(0x0b6517dac372d073) },
      { 53807, UINT64_C(0x49bac816552f09cb) },
      { 38786, UINT64_C(0x62bd97a0e0ca2f45) },
      { 21466, UINT64_C(0xefedfb70be943955) },
      "He|'|LL|'|ve| paid| |$|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\t|if| |(|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| \xc2\xbd|\xe2\x82\xac|\n|/" },
    { "default",
      { 42817, UINT64_C(0xb70ce4255bd3a973) },
      { 54454, UINT64_C(0x6bd6d0834176ec83) },
      { 39110, UINT64_C(0x79dc9f9f435003d3) },
      { 21662, UINT64_C(0xefe3ff7213959be1) },
      "He|'|LL|'|ve| paid| |$|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\t|if| |(|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "llama-bpe",
      { 37101, UINT64_C(0xd25f4fd2ff54a0df) },
      { 44831, UINT64_C(0x7d231820a680d729) },
      { 29373, UINT64_C(0x391c8c05e2ba664e) },
      { 17016, UINT64_C(0x0dc5fd396797c5a4) },
      "He|'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "qwen2",
      { 48150, UINT64_C(0xe8fce996e2dc067b) },
      { 54599, UINT64_C(0x543837c374aad9c9) },
      { 33975, UINT64_C(0x51bb791d227734c2) },
      { 20380, UINT64_C(0x037d9adbc9c0ff84) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "ufakzeka",
      { 46877, UINT64_C(0xb227d4266dd303e1) },
      { 53577, UINT64_C(0x7d6874c964b6d4d5) },
      { 33363, UINT64_C(0x3f33f9de4ed98a7c) },
      { 20255, UINT64_C(0xc8e67be3f179d0b6) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "qwen35",
      { 48289, UINT64_C(0x11a46c1224257a11) },
      { 54881, UINT64_C(0xcdbb1973a628312d) },
      { 32061, UINT64_C(0x53fd8bb3fd65ed5c) },
      { 20288, UINT64_C(0x386082ffc6fccdf6) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "seed-coder",
      { 49058, UINT64_C(0xa87c3cf0eb28b7ff) },
      { 55719, UINT64_C(0x7e80efad6daa31c1) },
      { 34391, UINT64_C(0x7eb1ada665fed81c) },
      { 20765, UINT64_C(0xa6d2b5ed1ad075bc) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "gpt-4o",
      { 35992, UINT64_C(0xf10ddef745cc3ec7) },
      { 44083, UINT64_C(0xd0a4dffe9247777f) },
      { 26343, UINT64_C(0x8cf5cfea1c4837ce) },
      { 16652, UINT64_C(0xcffd515aaf38b08c) },
      "He'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "Big|Table|...\n\n|\tif| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n/" },
    { "tekken",
      { 47942, UINT64_C(0xb4c11e15145a119b) },
      { 54685, UINT64_C(0x352f48f22fd5900f) },
      { 32271, UINT64_C(0x64485e4a58752d08) },
      { 20195, UINT64_C(0xcabafb356509b524) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "Big|Table|...\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n/" },
    { "deepseek-llm",
      { 54181, UINT64_C(0x82fd92898d0f3b39) },
      { 62751, UINT64_C(0x4ed6ca9218bf3961) },
      { 42914, UINT64_C(0xd2282ab0b2ca5cc7) },
      { 26133, UINT64_C(0x9679b9338425f2ea) },
      "He|'|LL|'|ve| paid| $|1|2|3|4|5| for| the| caf|\xc3\xa9|s|'| | "
      "BigTable|...|\n|\n|\tif| (|x|>=|1|0|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "deepseek-coder",
      { 57568, UINT64_C(0x7de5f6dfc4710e65) },
      { 66689, UINT64_C(0x2e6fa5854665fde9) },
      { 46113, UINT64_C(0x38a7a351c6e410f4) },
      { 27532, UINT64_C(0xaa70662ed32186d1) },
      "He|'|LL|'|ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n|\n|\tif| (|x|>=|1|0|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "deepseek-v3",
      { 39665, UINT64_C(0x5985234c9e7b16d9) },
      { 50591, UINT64_C(0x8c1184f645872fcb) },
      { 31904, UINT64_C(0x5a23517604c97e84) },
      { 19560, UINT64_C(0x6205b1b801244633) },
      "He|'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|10|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "spark2_5",
      { 53218, UINT64_C(0x3d209be29a79aa3f) },
      { 62734, UINT64_C(0x038d5095b97dc33f) },
      { 37467, UINT64_C(0xc0160652a95d3d7a) },
      { 23753, UINT64_C(0x4df788f2fb0ccc8f) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n|\n|\tif| (|x|>=|1|0|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "minicpm5",
      { 36721, UINT64_C(0x799830f5e0a3efb5) },
      { 44497, UINT64_C(0x180e84ac40c51c65) },
      { 29201, UINT64_C(0xb31dcd31f80bbf9e) },
      { 16814, UINT64_C(0xf93cc2e71435494e) },
      "He|'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "laguna",
      { 49031, UINT64_C(0x7fd778e7055e47c9) },
      { 55665, UINT64_C(0xc751cf223d9dbc19) },
      { 34435, UINT64_C(0x753b1e4f2f349474) },
      { 20719, UINT64_C(0x632417e45e291830) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...|\n\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "exaone-moe",
      { 47587, UINT64_C(0xa681732915c19df9) },
      { 54116, UINT64_C(0x097a9f0e455c3505) },
      { 31763, UINT64_C(0xfc717b5bba91a3be) },
      { 19705, UINT64_C(0xc37a14421c4ca437) },
      "He|'LL|'ve| paid| $|1|2|3|4|5| for the caf\xc3\xa9s|'| | "
      "BigTable|...\n|\n|\tif| (|x|>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "jais-2",
      { 37144, UINT64_C(0xe8bb518f3931a6fd) },
      { 44871, UINT64_C(0xbf01d676f1e31d0b) },
      { 29686, UINT64_C(0x9ea77381c8341732) },
      { 18085, UINT64_C(0x9b4db9ed40caa38a) },
      "He|'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "kimi-k2",
      { 36606, UINT64_C(0xedf277b750a2c02b) },
      { 44844, UINT64_C(0xc6e91b7df0958cd1) },
      { 27053, UINT64_C(0x9c5d66cbed98dc53) },
      { 17914, UINT64_C(0x7beab63c51528f7e) },
      "He'LL|'ve| paid| $|123|45| for| the| caf\xc3\xa9s|'| | "
      "Big|Table|...\n\n|\tif| (|x|>=|10|)| "
      "|\xe4\xb8\xad\xe6\x96\x87|\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "youtu",
      { 49048, UINT64_C(0x8f2f1dc351130af9) },
      { 56121, UINT64_C(0x78bb1b95216e37f5) },
      { 34492, UINT64_C(0x3804329d60f8fa26) },
      { 23625, UINT64_C(0x1cbd70c687e3497f) },
      "He'LL|'ve| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s|'| | "
      "Big|Table|...\n\n|\tif| (|x|>=|1|0|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n/" },
    { "tiny_aya",
      { 35809, UINT64_C(0x7005087a9e1d6b71) },
      { 43946, UINT64_C(0xebb7cb039f75855f) },
      { 26281, UINT64_C(0x1aba32ab81147066) },
      { 16569, UINT64_C(0x252a10a2ea7a0900) },
      "He'LL|'ve| paid| $|12|345| for| the| caf\xc3\xa9s|'| | "
      "Big|Table|...\n\n|\tif| (|x|>=|10|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n/" },
    { "afmoe",
      { 39177, UINT64_C(0x57f5681070b9ad4d) },
      { 50043, UINT64_C(0x109e688039507837) },
      { 32314, UINT64_C(0x349b0cfc9592c28d) },
      { 21681, UINT64_C(0xb804d462c0f0f478) },
      "He|'LL|'ve| paid| $|12|345| for| the| caf\xc3\xa9s|'| | "
      "BigTable|...\n\n|\tif| (|x|>=|10|)| "
      "|\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac\n|/" },
    { "bloom",
      { 27674, UINT64_C(0xac1d2f81dcc482cb) },
      { 27783, UINT64_C(0xc6f0383904db4f73) },
      { 12900, UINT64_C(0x9b3aefc0ad693454) },
      { 9417, UINT64_C(0x788c841c91ab0ab8) },
      "He'LL've| paid| $12345| for| the| caf\xc3\xa9s'| | "
      "BigTable|...\n\n\t|if| (|x>=10|)| \xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae"
      "3| \xc2\xbd\xe2\x82\xac|\n|/" },
    { "viking",
      { 48356, UINT64_C(0x96bee33cc9cbd0bf) },
      { 48683, UINT64_C(0xa3f379b40d0fc061) },
      { 24191, UINT64_C(0xb89c20d6c3f52c3e) },
      { 18700, UINT64_C(0x89e8a0504a929134) },
      "He'LL've| paid| $|1|2|3|4|5| for| the| caf\xc3\xa9s'| | "
      "BigTable|...\n\n\t|if| (|x>=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "chameleon",
      { 67334, UINT64_C(0xc7b9ce25e0ea3dc5) },
      { 76360, UINT64_C(0x54f25527b5ec57bd) },
      { 53609, UINT64_C(0x419037be6394ccf5) },
      { 64604, UINT64_C(0xb4856f508c01f595) },
      "He|'|LL|'|ve| paid| |$|1|2|3|4|5| for| the| caf\xc3\xa9s|'|  "
      "|BigTable|.|.|.|\n|\n|\t|if| |(|x|>|=|1|0|)| "
      "\xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| |\xc2\xbd|\xe2\x82\xac|\n|/" },
    { "superbpe",
      { 12795, UINT64_C(0x21d2124a584e0a5a) },
      { 14265, UINT64_C(0xeca4f6e3073bd9a6) },
      { 8091, UINT64_C(0xdb47b253001a6189) },
      { 7540, UINT64_C(0xcab13befbbb6f7aa) },
      "He'LL've paid $|12|345| for the caf\xc3\xa9s'  BigTable...\n\n\tif "
      "(x>=|10|) \xe4\xb8\xad\xe6\x96\x87\xe3\x81\xae|3| "
      "|\xc2\xbd|\xe2\x82\xac\n/" },
};

/* The texts are as long as those of vocab_golden.py. */
static uint8_t *
make(size_t (*fill)(uint8_t *), size_t len, const char *name)
{
    uint8_t *text = malloc(TEXT_CAP);
    size_t n = fill(text);

    is(n, len, name);
    text = realloc(text, n); /* so that a read beyond it is seen */
    return text;
}

static bool
figure_is(const struct vocab_split_name *s, const uint8_t *text, size_t len,
          struct figure want)
{
    struct split_at at = { 0 };
    uint64_t h = HASH_START;
    size_t n = 0;

    for (size_t i = 0; i < len; n++) {
        size_t word =
            vocab_split_next(s->rule, s->group, &at, text + i, len - i);

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
example_is(const struct vocab_split_name *s, const char *want)
{
    struct split_at at = { 0 };
    static const uint8_t text[] = EXAMPLE;
    char words[3 * sizeof(text)];
    size_t len = sizeof(text) - 1, n = 0;

    for (size_t i = 0; i < len;) {
        size_t word =
            vocab_split_next(s->rule, s->group, &at, text + i, len - i);

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

/* The texts of vocab_text.h. */
struct texts {
    uint8_t *mixed, *damaged, *pieces, *rare;
};

static void
test_rules(const struct texts *t)
{
    char what[128];

    for (size_t i = 0; i < TEXT_COUNT(rules); i++) {
        const struct vocab_split_name *s =
            vocab_split_find(rules[i].name, strlen(rules[i].name));

        snprintf(what, sizeof(what), "%s: an example", rules[i].name);
        ok(s && example_is(s, rules[i].words), what);
        snprintf(what, sizeof(what), "%s: mixed text", rules[i].name);
        ok(s && figure_is(s, t->mixed, TEXT_MIXED, rules[i].mixed), what);
        snprintf(what, sizeof(what), "%s: broken UTF-8", rules[i].name);
        ok(s && figure_is(s, t->damaged, TEXT_MIXED, rules[i].damaged), what);
        snprintf(what, sizeof(what), "%s: side by side", rules[i].name);
        ok(s && figure_is(s, t->pieces, TEXT_PIECES, rules[i].pieces), what);
        snprintf(what, sizeof(what), "%s: what is rare", rules[i].name);
        ok(s && figure_is(s, t->rare, TEXT_RARE, rules[i].rare), what);
    }
}

static bool
same_rule(const struct vocab_split_name *a, const struct vocab_split_name *b)
{
    return a->rule == b->rule && a->group == b->group;
}

/* Every rule that a name stands for is one of those tested, and no name is
 * there twice. */
static void
test_names(void)
{
    const struct vocab_split_name *s;
    int untested = 0, twice = 0;

    for (size_t i = 0; (s = vocab_split_name(i)); i++) {
        size_t k = 0;

        while (k < TEXT_COUNT(rules) &&
               !same_rule(
                   vocab_split_find(rules[k].name, strlen(rules[k].name)), s))
            k++;
        untested += k == TEXT_COUNT(rules);
        twice += vocab_split_find(s->name, strlen(s->name)) != s;
    }
    is(untested, 0, "no rule is without a test");
    is(twice, 0, "no name is there twice");
    ok(!vocab_split_find("klingon", 7) && !vocab_split_find("", 0),
       "other names are not known");
}

/* Names that share a rule, and what their files leave out. */
static void
test_shared(void)
{
    static const struct {
        const char *name, *like;
        bool ignore_merges;
    } names[] = {
        { "glm5", "llama-bpe", true },
        { "granite-embed-multi-97m", "gpt-4o", true },
        { "ufakzeka", "ufakzeka", false },
        { "spark2_5", "spark2_5", false },
    };

    for (size_t i = 0; i < TEXT_COUNT(names); i++) {
        const struct vocab_split_name *s =
            vocab_split_find(names[i].name, strlen(names[i].name));

        ok(s &&
               same_rule(
                   s, vocab_split_find(names[i].like, strlen(names[i].like))) &&
               s->ignore_merges == names[i].ignore_merges && !s->add_bos,
           names[i].name);
    }
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
        " \n\r\n",
        "\xe4\xb8\xad\xe3\x84\x85",
        "\xe3\x80\x81\xe3\x80\x87",
        "1\xc2\xbd",
        "\xe2\x85\xa7"
        "1",
        "1a",
        "IMG",
        ". a",
    };
    enum {
        SIZE = 1 << 20
    };
    uint8_t *text = malloc(SIZE);
    const struct vocab_split_name *s;

    for (size_t k = 0; k < TEXT_COUNT(kinds); k++) {
        size_t len = strlen(kinds[k]);

        for (size_t i = 0; i < SIZE; i++)
            text[i] = (uint8_t)kinds[k][i % len];
        for (size_t r = 0; (s = vocab_split_name(r)); r++) {
            struct split_at at = { 0 };

            if (r > 0 && same_rule(s, vocab_split_name(r - 1)))
                continue;
            for (size_t i = 0; i < SIZE;)
                i += vocab_split_next(s->rule, s->group, &at, text + i,
                                      SIZE - i);
        }
    }
    ok(true, "a million bytes of one kind take no time");
    memset(text, ' ', SIZE);
    text[0] = text[SIZE - 1] = '\1';
    for (size_t r = 0; (s = vocab_split_name(r)); r++) {
        struct split_at at = { 0 };

        for (size_t i = 0; i < SIZE;)
            i += vocab_split_next(s->rule, s->group, &at, text + i, SIZE - i);
    }
    free(text);
    ok(true, "nor do blanks within what is neither letter nor sign");
}

/* A rule sees most words at once where enough text follows; near the end of
 * the text it must find the same ones. A letter before a newline ends a word in
 * every rule. */
static bool
same_near_the_end(split_rule rule, const uint8_t *text, size_t len)
{
    uint8_t more[64] = { 0 };
    size_t total = len + 32;

    memset(more, 'x', total);
    memcpy(more, text, len);
    more[len] = '\n';
    for (size_t at = 0; at < len;) {
        size_t n = rule(text + at, len - at);

        if (rule(more + at, total - at) != n)
            return false;
        at += n;
    }
    return true;
}

static void
test_ends(void)
{
    static const char parts[] = "aabzAZ ' .\n0_{@[`";
    uint64_t state = 5;
    size_t differ = 0;
    const struct vocab_split_name *s;

    for (int round = 0; round < 20000; round++) {
        size_t len = 1 + text_below(&state, 20);
        uint8_t text[21];

        for (size_t i = 0; i < len; i++)
            text[i] = (uint8_t)parts[text_below(&state, sizeof(parts) - 1)];
        text[len - 1] = "aZ"[round % 2];
        for (size_t r = 0; (s = vocab_split_name(r)); r++)
            if (!s->ends && (r == 0 || s->rule != s[-1].rule))
                differ += !same_near_the_end(s->rule, text, len);
    }
    is(differ, 0, "words are the same with more text behind them");
}

int
main(void)
{
    struct texts t = {
        .mixed = make(text_mixed, TEXT_MIXED, "the mixed text"),
        .damaged = make(text_mixed, TEXT_MIXED, "and again"),
        .pieces = make(text_pieces, TEXT_PIECES, "the text of pieces"),
        .rare = make(text_rare, TEXT_RARE, "the text of what is rare"),
    };

    text_damage(t.damaged, TEXT_MIXED);
    test_rules(&t);
    test_names();
    test_shared();
    test_linear();
    test_ends();
    free(t.mixed);
    free(t.damaged);
    free(t.pieces);
    free(t.rare);
    return tap_done();
}
