/* test_characters_folder.c - tokenizer.json that merges characters by rank: the
 * steps before that give tokenizer.ggml.pre, and the ids of texts
 *
 * The ids are what characters_golden.py prints (tokenizers 0.23.3). */
#include <config.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fixtures/characters_golden.h"
#include "harness/encode.h"
#include "harness/scratch.h"

#define MARK             "\xe2\x96\x81"
#define STEP(type, more) "{\"type\":\"" type "\"" more "}"
#define BLANKS                                                                 \
    STEP("Replace", ",\"pattern\":{\"String\":\" \"},\"content\":\"" MARK "\"")
#define SPLIT(pattern, how)                                                    \
    STEP("Split", ",\"pattern\":{" pattern "},\"behavior\":\"" how             \
                  "\",\"invert\":false")
#define META                                                                   \
    STEP("Metaspace", ",\"replacement\":\"" MARK                               \
                      "\",\"prepend_scheme\":\"always\",\"split\":true")

enum {
    CAP = 64,
    FIRST = 259, /* of the tokens that are no bytes */
    USER = 274,
    TAKING = 275, /* of those that take white space */
    N_TAKING = 4,
};

static struct gg_error err;

/* `kind`: of the golden ids, by its name. */
static const struct {
    const char *what, *kind, *normalizer, *steps;
    bool ends; /* of lines are added tokens */
} folders[] = {
    { "granite-embed-multi-311m", "granite-embed-multi-311m", BLANKS, "null",
      true },
    { "granite-embed-multi-311m, with Gemma's step", "granite-embed-multi-311m",
      BLANKS, SPLIT("\"String\":\" \"", "MergedWithPrevious"), true },
    { "sarvam-moe", "sarvam-moe", BLANKS, "null", false },
    { "sarvam-moe, with Gemma's step", "sarvam-moe", BLANKS,
      SPLIT("\"String\":\" \"", "MergedWithPrevious"), false },
    { "sarvam-moe, cut at lines", "sarvam-moe", BLANKS,
      SPLIT("\"Regex\":\"\\\\n+\"", "Isolated"), false },
    { "mmbert", "mmbert", "null", META, true },
    { "mmbert, in sequences", "mmbert",
      STEP("Sequence", ",\"normalizers\":[" BLANKS "]"),
      STEP("Sequence", ",\"pretokenizers\":[" META "]"), true },
    { "whitespace", "whitespace", "null", STEP("WhitespaceSplit", ""), false },
    { "whitespace, lower", "whitespace, lower", STEP("Lowercase", ""),
      STEP("WhitespaceSplit", ""), false },
};

static const char *const tokens[] = {
    MARK,
    "a",
    "b",
    "c",
    "\xc3\xa9",
    "\n",
    "ab",
    MARK "ab",
    MARK MARK,
    "abc",
    "c" MARK,
    "\n\n",
    MARK "a",
    "\xc3\xa9"
    "c",
    "\n\n\n",
};

static json_t *
vocab(void)
{
    json_t *v = json_pack("{si si si}", "<unk>", 0, "<s>", 1, "</s>", 2);
    char name[8];

    for (int b = 0; b < 256; b++) {
        snprintf(name, sizeof(name), "<0x%02X>", b);
        json_object_set_new(v, name, json_integer(3 + b));
    }
    for (int i = FIRST; i < USER; i++)
        json_object_set_new(v, tokens[i - FIRST], json_integer(i));
    return v;
}

static json_t *
merges(void)
{
    static const char *const pairs[][2] = {
        { "a", "b" },  { MARK, "ab" }, { MARK, MARK }, { "ab", "c" },
        { "c", MARK }, { "\n", "\n" }, { MARK, "a" },  { "\xc3\xa9", "c" },
    };
    json_t *list = json_array();

    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
        json_array_append_new(list,
                              json_pack("[ss]", pairs[i][0], pairs[i][1]));
    return list;
}

/* Bits of their numbers: of the left, of the right. */
static const char *const taking[N_TAKING] = { "<none>", "<left>", "<right>",
                                              "<both>" };

static json_t *
added(bool ends)
{
    static const struct {
        const char *text;
        int id;
    } lines[] = { { "\n", 264 }, { "\n\n", 270 }, { "\n\n\n", 273 } };
    json_t *list = json_pack("[{si ss sb}]", "id", USER, "content", "<user>",
                             "special", 0);

    for (int i = 0; i < N_TAKING; i++)
        json_array_append_new(list,
                              json_pack("{si ss sb sb sb}", "id", TAKING + i,
                                        "content", taking[i], "special", i != 2,
                                        "lstrip", i & 1, "rstrip", i & 2));
    for (int i = 0; ends && i < 3; i++)
        json_array_append_new(list, json_pack("{si ss sb}", "id", lines[i].id,
                                              "content", lines[i].text,
                                              "special", 0));
    return list;
}

static void
put_file(const char *folder, const char *name, json_t *value)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (json_dump_file(value, path, 0))
        exit(99);
    json_decref(value);
}

static json_t *
steps_of(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);

    if (!v)
        exit(99);
    return v;
}

static struct gg_vocab *
open_folder(const char *folder, size_t i)
{
    json_t *model =
        json_pack("{ss ss sb so so}", "type", "BPE", "unk_token", "<unk>",
                  "byte_fallback", 1, "vocab", vocab(), "merges", merges());
    struct gg_vocab *v = NULL;

    put_file(folder, "tokenizer.json",
             json_pack("{so so so so}", "model", model, "added_tokens",
                       added(folders[i].ends), "normalizer",
                       steps_of(folders[i].normalizer), "pre_tokenizer",
                       steps_of(folders[i].steps)));
    if (gg_vocab_open(folder, &v, &err) != GG_OK)
        printf("# %s\n", err.message);
    return v;
}

static bool
encodes(const struct gg_vocab *v, const char *text,
        const struct characters_ids *want)
{
    int32_t got[CAP];
    size_t n = 0;
    bool same =
        encode_ids(v, text, strlen(text), 0, got, CAP, &n, &err) == GG_OK &&
        n == want->n && !memcmp(got, want->id, n * sizeof(*got));

    for (size_t i = 0; i < n && !same; i++)
        printf("# %s: %d\n", text, got[i]);
    return same;
}

/* Ids of a run that is no token: the longest one first. */
#define LINES "a\n\n\n\n\n\n\n\nb"
static const struct characters_ids granite = { 5, { 260, 273, 273, 270, 261 } };
static const struct characters_ids mmbert = {
    6, { 271, 273, 273, 270, 259, 261 }
};

static bool
same_ids(const struct gg_vocab *v, const char *a, const char *b)
{
    int32_t x[CAP], y[CAP];
    size_t n = 0, m = 0;

    return encode_ids(v, a, strlen(a), GG_ENCODE_SPECIAL, x, CAP, &n, &err) ==
               GG_OK &&
           encode_ids(v, b, strlen(b), GG_ENCODE_SPECIAL, y, CAP, &m, &err) ==
               GG_OK &&
           n == m && !memcmp(x, y, n * sizeof(*x));
}

static bool
takes_space(const struct gg_vocab *v)
{
    return same_ids(v, "a  <left>  b", "a<left>  b") &&
           same_ids(v, "a  <right>  b", "a  <right>b") &&
           same_ids(v, "a \t<both>\n b", "a<both>b") &&
           !same_ids(v, "a\t<none>", "a<none>") &&
           !same_ids(v, "<left>\tb", "<left>b") &&
           !same_ids(v, "a\t<right>", "a<right>");
}

static void
test_folder(const char *folder, size_t i)
{
    struct gg_vocab *v = open_folder(folder, i);
    bool same = v && !gg_vocab_note(v);

    for (size_t k = 0; k < CHARACTERS_KINDS; k++)
        for (size_t j = 0; v && j < CHARACTERS_TEXTS; j++)
            if (!strcmp(characters_kinds[k].what, folders[i].kind))
                same = encodes(v, characters_texts[j],
                               &characters_kinds[k].ids[j]) &&
                       same;
    if (v && folders[i].ends)
        same =
            encodes(v, LINES,
                    strcmp(folders[i].kind, "mmbert") ? &granite : &mmbert) &&
            same;
    ok(same, folders[i].what);
    if (v && strncmp(folders[i].kind, "whitespace", 10))
        ok(takes_space(v), "added tokens take the white space around them");
    gg_vocab_free(v);
}

int
main(void)
{
    const char *folder = scratch_file("characters");

    mkdir(folder, 0777);
    put_file(folder, "config.json",
             json_pack("{s[s] si si si si si}", "architectures",
                       "ModernBertModel", "vocab_size", TAKING + N_TAKING,
                       "hidden_size", 8, "num_hidden_layers", 1,
                       "num_attention_heads", 1, "intermediate_size", 8));
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        test_folder(folder, i);
    return tap_done();
}
#else
int
main(void)
{
    puts("1..0 # SKIP built without Jansson");
    return 0;
}
#endif
