/* test_added_folder.c - folders whose files name tokens twice, or have more
 * rows of embeddings than tokens, or fewer
 *
 * The ids are what added_golden.py prints (transformers 5.24). */
#include <config.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures/added_golden.h"
#include "harness/encode.h"
#include "harness/scratch.h"

enum {
    N = 100, /* tokens that were trained */
    ROWS = 110,
    CAP = 64,
    VISIBLE = 94, /* characters of ASCII */
};

static struct gg_error err;

static void
put_file(const char *folder, const char *name, json_t *value)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (value ? json_dump_file(value, path, 0)
              : unlink(path) && !access(path, F_OK))
        exit(99);
    json_decref(value);
}

static void
put_config(const char *folder, const char *class, int rows)
{
    put_file(folder, "config.json",
             json_pack("{s[s] si si si si si si}", "architectures", class,
                       "vocab_size", rows, "hidden_size", 8,
                       "num_hidden_layers", 1, "num_attention_heads", 1,
                       "intermediate_size", 8, "max_position_embeddings", 514));
}

static json_t *
bpe(void)
{
    static const char *const pairs[][2] = {
        { "a", "b" }, { "ab", "c" }, { "x", "z" }, { "xz", "q" }, { "x", "y" },
    };
    json_t *vocab = json_object(), *merges = json_array();
    char text[8];

    for (int i = 0; i < VISIBLE; i++) {
        snprintf(text, sizeof(text), "%c", 33 + i);
        json_object_set_new(vocab, text, json_integer(i));
    }
    json_object_set_new(vocab, "\xc4\xa0", json_integer(VISIBLE));
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        snprintf(text, sizeof(text), "%s%s", pairs[i][0], pairs[i][1]);
        json_object_set_new(vocab, text, json_integer(VISIBLE + 1 + (int)i));
        json_array_append_new(merges,
                              json_pack("[ss]", pairs[i][0], pairs[i][1]));
    }
    return json_pack("{ss so so}", "type", "BPE", "vocab", vocab, "merges",
                     merges);
}

static json_t *
token_of(const struct added_token *t)
{
    return json_pack("{si ss sb sb sb}", "id", t->id, "content", t->text,
                     "special", t->flags & 1, "lstrip", t->flags & 2, "rstrip",
                     t->flags & 4);
}

static json_t *
list_of(const struct added_token *t)
{
    json_t *list = json_array();

    for (; t->text; t++)
        json_array_append_new(list, token_of(t));
    return list;
}

static json_t *
map_of(const struct added_token *t)
{
    json_t *map = json_object();
    char id[16];

    for (; t->text; t++) {
        snprintf(id, sizeof(id), "%d", (int)t->id);
        json_object_set_new(map, id, token_of(t));
    }
    return map;
}

static json_t *
texts_of(const struct added_token *t)
{
    json_t *map = t->text ? json_object() : NULL;

    for (; t->text; t++)
        json_object_set_new(map, t->text, json_integer(t->id));
    return map;
}

static struct gg_vocab *
open_folder(const char *folder)
{
    struct gg_vocab *v = NULL;

    if (gg_vocab_open(folder, &v, &err) != GG_OK)
        printf("# %s\n", err.message);
    return v;
}

static struct gg_vocab *
open_case(const char *folder, const struct added_case *c, int rows)
{
    put_config(folder, "LlamaForCausalLM", rows);
    put_file(folder, "tokenizer.json",
             json_pack("{so so s{ss sb}}", "model", bpe(), "added_tokens",
                       list_of(c->file), "pre_tokenizer", "type", "ByteLevel",
                       "add_prefix_space", 0));
    put_file(folder, "tokenizer_config.json",
             c->config[0].text
                 ? json_pack("{so}", "added_tokens_decoder", map_of(c->config))
                 : NULL);
    put_file(folder, "added_tokens.json", texts_of(c->list));
    return open_folder(folder);
}

static bool
encodes(const struct gg_vocab *v, const char *text, const int32_t *want,
        size_t n)
{
    int32_t got[CAP];
    size_t m = 0;
    bool same = v &&
                encode_ids(v, text, strlen(text), GG_ENCODE_SPECIAL, got, CAP,
                           &m, &err) == GG_OK &&
                m == n && !memcmp(got, want, n * sizeof(*got));

    for (size_t i = 0; i < m && !same; i++)
        printf("# %s: %d\n", text, (int)got[i]);
    return same;
}

/* Without the flag, no text makes a control token. */
static bool
makes_none(const struct gg_vocab *v, const char *text)
{
    int32_t got[CAP];
    size_t n = 0;
    bool none =
        encode_ids(v, text, strlen(text), 0, got, CAP, &n, &err) == GG_OK;

    for (size_t i = 0; i < n; i++)
        none = none && gg_vocab_type(v, got[i]) != GG_TOKEN_CONTROL;
    return none;
}

static bool
is_named(const struct gg_vocab *v, int32_t id, const char *text,
         enum gg_token_type type)
{
    size_t n = 0;
    const char *s = v ? gg_vocab_token(v, id, &n) : NULL;

    return s && n == strlen(text) && !memcmp(s, text, n) &&
           gg_vocab_type(v, id) == type;
}

static void
test_case(const char *folder, const struct added_case *c)
{
    struct gg_vocab *v = open_case(folder, c, ROWS);
    bool same = v != NULL, none = v != NULL;

    for (int i = 0; v && i < ADDED_TEXTS; i++) {
        same = encodes(v, added_texts[i], c->ids[i].id, c->ids[i].n) && same;
        none = makes_none(v, added_texts[i]) && none;
    }
    ok(same, c->what);
    ok(none, "no text makes a control token");
    ok(v && gg_vocab_size(v) == ROWS &&
           is_named(v, ROWS - 1, "[PAD109]", GG_TOKEN_UNUSED),
       "rows without a token are unused");
    gg_vocab_free(v);
}

/* Trained tokens need a row; others are left out where they have none. */
static void
test_rows(const char *folder)
{
    static const struct added_case c = {
        .file = { { N, "<pad>", 1 }, { N + 1, "<q>", 1 }, { N + 1, "ab", 0 } }
    };
    static const int32_t ids[] = { 64, 100, 65, 27, 80, 29 };
    struct gg_vocab *v = open_case(folder, &c, N + 1);

    ok(v && gg_vocab_size(v) == N + 1, "fewer rows than tokens");
    ok(encodes(v, "a<pad>b<q>", ids, 6), "what has no row is no token");
    gg_vocab_free(v);
    v = open_case(folder, &c, N - 1);
    ok(!v && strstr(err.message, "vocab_size"), "a trained token has no row");
    gg_vocab_free(v);
}

static void
test_hostile(const char *folder)
{
    static const struct added_case cases[] = {
        { .file = { { INT32_MIN, "<a>", 1 }, { INT32_MAX, "<b>", 0 } } },
        { .config = { { INT32_MIN, "<a>", 1 }, { INT32_MAX, "<b>", 0 } } },
        { .list = { { INT32_MIN, "<a>", 1 }, { INT32_MAX, "<b>", 0 } } },
    };
    static const int32_t ids[] = { 100, 101 };
    struct gg_vocab *v;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        v = open_case(folder, &cases[i], ROWS);
        ok(encodes(v, "<a><b>", ids, 2), "ids of files are not read");
        gg_vocab_free(v);
    }
}

/* The last of pieces that are written alike counts. */
static void
test_unigram(const char *folder)
{
    static const int32_t ids[][3] = { { 5 }, { 4, 6, 2 }, { 4, 7, 2 } };
    struct gg_vocab *v;

    put_config(folder, "XLMRobertaModel", 9);
    put_file(
        folder, "tokenizer.json",
        json_pack("{s{ss si s[[sf][sf][sf][sf][sf][sf][sf]]} s[{si ss sb}] "
                  "s{ss ss ss}}",
                  "model", "type", "Unigram", "unk_id", 0, "vocab", "<unk>",
                  0.0, "a", -2.0, "b", -2.0, "ab", -3.5, "a", -1.0, "ab", -2.5,
                  "\xe2\x96\x81", -1.0, "added_tokens", "id", 8, "content",
                  "<pad>", "special", 1, "pre_tokenizer", "type", "Metaspace",
                  "replacement", "\xe2\x96\x81", "prepend_scheme", "never"));
    put_file(folder, "tokenizer_config.json", NULL);
    put_file(folder, "added_tokens.json", NULL);
    v = open_folder(folder);
    ok(encodes(v, "ab", ids[0], 1) && encodes(v, "a b", ids[1], 3) &&
           encodes(v, "a<pad>b", ids[2], 3),
       "pieces that are written alike");
    ok(is_named(v, 1, "[PAD1]", GG_TOKEN_UNUSED), "the first one is unused");
    gg_vocab_free(v);
}

static void
test_lines(const char *folder)
{
    static const char text[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\n##b\n"
                               "a\n##c\n##b\n";
    static const int32_t ids[][3] = { { 8, 10 }, { 8, 6 }, { 8, 10, 9 } };
    char path[4096];
    struct gg_vocab *v;
    FILE *f;

    put_config(folder, "BertModel", 12);
    put_file(folder, "tokenizer.json", NULL);
    snprintf(path, sizeof(path), "%s/vocab.txt", folder);
    f = fopen(path, "w");
    if (!f || fputs(text, f) < 0 || fclose(f))
        exit(99);
    v = open_folder(folder);
    ok(encodes(v, "ab", ids[0], 2) && encodes(v, "a b", ids[1], 2) &&
           encodes(v, "abc", ids[2], 3),
       "lines that are written alike");
    gg_vocab_free(v);
}

int
main(void)
{
    const char *folder = scratch_file("added");

    mkdir(folder, 0777);
    for (size_t i = 0; i < sizeof(added_cases) / sizeof(*added_cases); i++)
        test_case(folder, &added_cases[i]);
    test_rows(folder);
    test_hostile(folder);
    test_unigram(folder);
    test_lines(folder);
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
