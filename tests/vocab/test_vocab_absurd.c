/* test_vocab_absurd.c - vocabularies that lie, of all kinds: row 9 of what
 * a reader must do
 *
 * What only byte-level BPE or SentencePiece can have is in
 * test_vocab_hostile.c. */
#include <config.h>

#include <float.h>
#include <math.h>

#include "core/mem.h"
#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"

#define KEY(name) "tokenizer.ggml." name

enum {
    KINDS = 5,
    LONG = 200000 /* bytes of a text that must not take long */
};

static void (*const makers[KINDS])(struct make *m) = { make_bpe, make_spm,
                                                       make_wpm, make_ugm,
                                                       make_world };
static const char *const names[KINDS] = { "gpt2", "llama", "bert", "t5",
                                          "rwkv" };

static struct make
made(int kind)
{
    struct make m;

    makers[kind](&m);
    make_lists(&m);
    return m;
}

static const char *
named(int kind, const char *what)
{
    static char name[128];

    snprintf(name, sizeof(name), "%s: %s", names[kind], what);
    return name;
}

/* It loads, and encodes a text; the ids are tokens. */
static bool
works(struct make *m, const char *text, size_t len)
{
    struct gg_error err = { "" };
    struct gg_vocab *v = NULL;
    size_t cap = 2 * len + 3, n = 0;
    int32_t *ids = malloc(cap * sizeof(*ids));
    bool good = vocab_load(m->gguf, &v, &err) == GG_OK &&
                encode_ids(v, text, len, GG_ENCODE_SPECIAL, ids, cap, &n,
                           &err) == GG_OK &&
                n <= cap;

    for (size_t i = 0; good && i < n; i++)
        good = ids[i] >= 0 && ids[i] < gg_vocab_size(v);
    if (!good)
        printf("# %s\n", err.message);
    free(ids);
    gg_vocab_free(v);
    make_free(m);
    return good;
}

static void
set_token(struct make *m, size_t i, const char *text)
{
    free(m->tokens[i]);
    m->tokens[i] = strdup(text);
    make_lists(m);
}

static void
test_lists(int kind)
{
    struct make m = made(kind);
    int32_t ints[] = { 0, 0 };

    gguf_set_arr_data(m.gguf, KEY("token_type"), GGUF_TYPE_INT32, m.types,
                      m.n - 1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("token_type")),
       named(kind, "fewer types than tokens"));
    m = made(kind);
    m.types[m.n - 1] = -1;
    make_lists(&m);
    ok(make_fails(&m, GG_ERR_FORMAT, "is no type of a token"),
       named(kind, "a type that is none"));
    m = made(kind);
    gguf_set_arr_data(m.gguf, KEY("tokens"), GGUF_TYPE_INT32, ints, 2);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("tokens")),
       named(kind, "tokens that are no strings"));
    m = made(kind);
    gguf_set_arr_str(m.gguf, KEY("tokens"), NULL, 0);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("tokens")), named(kind, "no tokens"));
}

static void
test_ids(int kind)
{
    static const char *const keys[] = {
        KEY("bos_token_id"),       KEY("eos_token_id"),
        KEY("unknown_token_id"),   KEY("cls_token_id"),
        KEY("seperator_token_id"), KEY("separator_token_id"),
    };
    bool good = true;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        struct make m = made(kind);

        gguf_set_val_u32(m.gguf, keys[i], (uint32_t)m.n);
        good = make_fails(&m, GG_ERR_FORMAT, keys[i]) && good;
        m = made(kind);
        gguf_set_val_i64(m.gguf, keys[i], INT64_MIN);
        good = make_fails(&m, GG_ERR_FORMAT, keys[i]) && good;
    }
    ok(good, named(kind, "ids beyond the tokens, and below"));
}

/* Tokens that are written alike, and empty ones: nothing to refuse. */
static void
test_alike(int kind)
{
    static const char text[] = "aab <user>hello<pad> A\xff";
    struct make m;

    makers[kind](&m);
    for (int i = 0; i < 20; i++) {
        make_token(&m, "a", GG_TOKEN_NORMAL, -1);
        make_token(&m, "", i % 2 ? GG_TOKEN_NORMAL : GG_TOKEN_USER_DEFINED, -1);
        make_token(&m, "<user>", GG_TOKEN_USER_DEFINED, -1);
        make_token(&m, MARK, GG_TOKEN_USER_DEFINED, -1);
        make_token(&m, "", GG_TOKEN_CONTROL, -1);
    }
    make_lists(&m);
    ok(works(&m, text, sizeof(text) - 1),
       named(kind, "equal tokens and empty ones"));
}

/* Wherever memory ends, loading and encoding say so and leave nothing. */
static void
test_memory(int kind)
{
    struct make m = made(kind);
    enum gg_status st = GG_ERR_NOMEM;
    int32_t ids[16];
    long after = 0;

    for (; st == GG_ERR_NOMEM && after < 1000; after++) {
        struct gg_vocab *v = NULL;
        size_t n;

        mem_fail_after(after);
        st = vocab_load(m.gguf, &v, NULL);
        if (st == GG_OK)
            st = encode_ids(v, "ab<user>", 8, 0, ids, 16, &n, NULL);
        mem_fail_after(-1);
        gg_vocab_free(v);
    }
    ok(st == GG_OK && after > 5, named(kind, "no memory"));
    make_free(&m);
}

static void
test_scores(int kind)
{
    static const float bad[] = { NAN, INFINITY, -INFINITY };
    struct make m;
    char *text = malloc(LONG);
    bool good = true;

    for (size_t i = 0; i < 3; i++) {
        m = made(kind);
        m.scores[5] = bad[i];
        make_lists(&m);
        good = make_fails(&m, GG_ERR_FORMAT, "score of token 5") && good;
    }
    ok(good, named(kind, "scores that are not finite"));
    m = made(kind);
    gguf_set_arr_data(m.gguf, KEY("scores"), GGUF_TYPE_FLOAT32, m.scores,
                      m.n - 1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("scores")),
       named(kind, "fewer scores than tokens"));
    for (int sign = -1; sign <= 1; sign += 2) {
        m = made(kind);
        for (size_t i = 0; i < m.n; i++)
            m.scores[i] = i % 3 ? (float)sign * FLT_MAX : -0.0f;
        make_lists(&m);
        memset(text, 'a', LONG);
        ok(works(&m, text, LONG), named(kind, "huge scores"));
    }
    free(text);
}

static void
test_merges(void)
{
    struct make m;
    char *text = malloc(LONG);

    memset(text, 'a', LONG);
    make_bpe(&m);
    for (; m.n_merges < 200; m.n_merges++)
        m.merges[m.n_merges] = m.n_merges % 2 ? "a a" : "aa aa";
    make_lists(&m);
    ok(works(&m, text, LONG), "gpt2: the same merges again and again");
    free(text);
}

static void
test_long_pieces(void)
{
    struct make m = made(3);
    char *text = malloc(LONG), piece[1026];

    memset(piece, 'a', sizeof(piece));
    piece[1025] = '\0';
    set_token(&m, 3, piece);
    ok(make_fails(&m, GG_ERR_FORMAT, "token 3 stands for 1025 bytes"),
       "t5: a piece that is too long");
    m = made(3);
    piece[1024] = '\0';
    set_token(&m, 3, piece);
    memset(text, 'a', LONG);
    text[LONG - 1] = 'z';
    ok(works(&m, text, LONG), "t5: one that is nearly so");
    free(text);
}

/* ---- character maps ---- */

static bool
refused(const uint8_t *map, size_t n, const char *word)
{
    struct make m = made(3);

    make_set_charsmap(&m, map, n);
    return make_fails(&m, GG_ERR_FORMAT, word);
}

static bool
accepted(const uint8_t *map, size_t n, const char *text, size_t len)
{
    struct make m = made(3);

    make_set_charsmap(&m, map, n);
    return works(&m, text, len);
}

static void
test_map_sizes(void)
{
    uint8_t map[MAKE_CHARSMAP];
    struct make m = made(3);

    make_charsmap(map);
    ok(refused(map, 3, "does not fit") &&
           refused(map, MAKE_CHARSMAP - 20, "does not fit"),
       "t5: a character map that is cut off");
    ok(refused(map, MAKE_CHARSMAP - 16, "the texts do not end") &&
           refused(map, MAKE_CHARSMAP - 11, "the texts do not end"),
       "t5: one whose texts are");
    map[0] = 1;
    ok(refused(map, MAKE_CHARSMAP, "a trie of"), "t5: half a unit");
    memset(map, 0xff, 4);
    ok(refused(map, MAKE_CHARSMAP, "a trie of"), "t5: a trie beyond the end");
    gguf_set_arr_data(m.gguf, KEY("precompiled_charsmap"), GGUF_TYPE_INT32, map,
                      8);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("precompiled_charsmap")),
       "t5: one that is not of bytes");
    m = made(3);
    gguf_set_val_u32(m.gguf, KEY("remove_extra_whitespaces"), 1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("remove_extra_whitespaces")),
       "t5: a flag that is none");
    memset(map, 0, sizeof(map));
    ok(accepted(map, 0, "aA", 2) && accepted(map, 5, "aA", 2),
       "t5: an empty one maps nothing");
}

static void
test_map_units(void)
{
    uint8_t map[MAKE_CHARSMAP], *longer = calloc(1, MAKE_CHARSMAP + 300);
    char *text = malloc(LONG);

    make_charsmap(map);
    make_unit(map, 7, 1u << 31 | 16);
    ok(refused(map, MAKE_CHARSMAP, "unit 7 points outside the texts"),
       "t5: a value outside the texts");
    make_charsmap(map);
    make_unit(map, 256 ^ 'A', UINT32_C(0x1fffff) << 10 | 0x300 | 'A');
    make_unit(map, 256 ^ 'B', 0x100 | 'B');
    ok(accepted(map, MAKE_CHARSMAP, "AABaB", 5),
       "t5: children outside the trie, and a value that is none");
    make_charsmap(map); /* from 'a' to 'a' to 'a' */
    make_unit(map, 256 ^ 'a', (uint32_t)'a' << 10 | 'a');
    memset(text, 'a', LONG);
    ok(accepted(map, MAKE_CHARSMAP, text, LONG),
       "t5: a trie that goes round in circles");
    memcpy(longer, map, MAKE_CHARSMAP);
    memset(longer + MAKE_CHARSMAP, 'x', 256);
    ok(refused(longer, MAKE_CHARSMAP + 257, "a text of 256 bytes"),
       "t5: a text that is too long");
    free(longer);
    free(text);
}

int
main(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        test_lists(kind);
        test_ids(kind);
        test_alike(kind);
        test_memory(kind);
    }
    test_scores(1);
    test_scores(3);
    test_merges();
    test_long_pieces();
    test_map_sizes();
    test_map_units();
    return tap_done();
}
