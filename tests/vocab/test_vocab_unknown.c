/* test_vocab_unknown.c - what a vocabulary has no token for
 *
 * It becomes the unknown token where the vocabulary's maker meant one, else it
 * is left out and counted; and a control token never. */
#include <config.h>

#include "harness/tap.h"
#include "fixtures/vocab_make.h"

#define KEY(name) "tokenizer.ggml." name

enum {
    CAP = 4096
};

static struct gg_vocab *
load(struct make *m)
{
    struct gg_vocab *v = NULL;
    struct gg_error err;

    make_lists(m);
    if (vocab_load(m->gguf, &v, &err) != GG_OK)
        printf("# %s\n", err.message);
    return v;
}

static void
drop(struct gg_vocab *v, struct make *m)
{
    gg_vocab_free(v);
    make_free(m);
}

static void
rename_token(struct make *m, size_t id, const char *text)
{
    free(m->tokens[id]);
    m->tokens[id] = strdup(text);
}

/* The text becomes ids[0..n), and `left_out` bytes are left out. */
static bool
encodes(const struct gg_vocab *v, const char *text, unsigned flags,
        const int32_t *ids, size_t n, size_t left_out)
{
    int32_t got[64];
    struct gg_encoded made;

    if (gg_vocab_encode(v, text, strlen(text), flags, got, 64, &made, NULL) !=
        GG_OK)
        return false;
    if (made.n != n || made.left_out != left_out)
        printf("# %zu ids, %zu bytes left out\n", made.n, made.left_out);
    return made.n == n && made.left_out == left_out &&
           (n == 0 || memcmp(got, ids, n * sizeof(*got)) == 0);
}

#define IDS(...)                                                               \
    (const int32_t[]){ __VA_ARGS__ },                                          \
        sizeof((int32_t[]){ __VA_ARGS__ }) / sizeof(int32_t)
#define NO_IDS NULL, 0

static bool
strict_says(const struct gg_vocab *v, const char *text, unsigned flags,
            const char *word)
{
    struct gg_error err = { "" };
    struct gg_encoded made;
    int32_t ids[64];

    return gg_vocab_encode(v, text, strlen(text), flags | GG_ENCODE_STRICT, ids,
                           64, &made, &err) == GG_ERR_UNSUPPORTED &&
           strstr(err.message, word);
}

/* ---- control tokens ---- */

static bool
has_control(const struct gg_vocab *v, const char *text, size_t len)
{
    int32_t ids[CAP];
    struct gg_encoded made;
    bool found =
        gg_vocab_encode(v, text, len, 0, ids, CAP, &made, NULL) != GG_OK;

    for (size_t i = 0; !found && i < made.n; i++)
        found = gg_vocab_type(v, ids[i]) == GG_TOKEN_CONTROL ||
                ids[i] == gg_vocab_bos(v) || gg_vocab_is_eog(v, ids[i]);
    return found;
}

/* All bytes, alone and between others, many characters, and the names of all
 * tokens. */
static bool
never_has_control(const struct gg_vocab *v)
{
    char text[] = "a?b";
    bool found = false;

    for (unsigned b = 0; b < 256; b++) {
        text[1] = (char)b;
        found = found || has_control(v, text, 3) || has_control(v, text + 1, 1);
    }
    for (unsigned c = 0x80; c < 0x10000; c += 5) {
        const char p[] = { (char)(0xe0 | c >> 12),
                           (char)(0x80 | (c >> 6 & 0x3f)),
                           (char)(0x80 | (c & 0x3f)) };

        found = found || has_control(v, p, 3);
    }
    for (int32_t id = 0; id < gg_vocab_size(v); id++) {
        size_t n;
        const char *p = gg_vocab_token(v, id, &n);

        found = found || has_control(v, p, n);
    }
    return !found;
}

/* ---- bytes ---- */

/* Without a token for 0x04 and 0xff; what is unknown is an end of text. */
static struct gg_vocab *
load_holes(struct make *m)
{
    int32_t end;

    make_bpe(m);
    end = (int32_t)(256 + m->n_merges);
    m->types[0x04] = m->types[0xff] = GG_TOKEN_CONTROL;
    gguf_set_val_u32(m->gguf, KEY("unknown_token_id"), (uint32_t)end);
    gguf_set_val_u32(m->gguf, KEY("bos_token_id"), (uint32_t)end);
    gguf_set_val_u32(m->gguf, KEY("eos_token_id"), (uint32_t)end);
    return load(m);
}

static void
test_bytes(void)
{
    struct make m;
    struct gg_vocab *v = load_holes(&m);
    unsigned greedy = GG_ENCODE_GREEDY;

    ok(encodes(v, "a\004b", 0, IDS('a', 'b'), 1), "a byte is left out");
    ok(encodes(v, "\004\xff\004", 0, NO_IDS, 3), "or all of a text");
    ok(encodes(v, "a\004b", greedy, IDS('a', 'b'), 1), "greedy: a byte, too");
    ok(never_has_control(v), "no text has a control token");
    ok(strict_says(v, "a\xff\004", 0, "no token for byte 0xFF"),
       "strictly it is an error");
    ok(strict_says(v, "a\xff", greedy, "no token for byte 0xFF"),
       "greedy: strictly, too");
    ok(encodes(v, "a", GG_ENCODE_STRICT, IDS('a'), 0), "but not where all is");
    drop(v, &m);
}

/* Long enough for a cache of words. */
static void
test_cache(void)
{
    struct make m;
    struct gg_vocab *v = load_holes(&m);
    static char text[40000];
    static int32_t ids[40000];
    struct gg_encoded first = { 0 }, again = { 0 };
    bool good;

    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = " a\004b"[i % 4];
    good = gg_vocab_encode(v, text, sizeof(text), 0, ids, sizeof(text), &first,
                           NULL) == GG_OK &&
           gg_vocab_encode(v, text, sizeof(text), 0, ids, sizeof(text), &again,
                           NULL) == GG_OK;
    ok(good && first.left_out == sizeof(text) / 4 &&
           again.left_out == first.left_out && again.n == first.n,
       "words that are known count as well");
    drop(v, &m);
}

static void
test_offsets(void)
{
    static const char text[] = "\004a\xff\004b\004";
    struct make m;
    struct gg_vocab *v = load_holes(&m);
    int32_t ids[8];
    struct gg_range r[8];
    struct gg_encoded made;
    bool good = gg_vocab_encode(v, text, 6, 0, ids, 8, &made, NULL) == GG_OK &&
                made.n == 2 &&
                gg_vocab_offsets(v, text, 6, 0, ids, 2, r, NULL) == GG_OK;

    ok(good && r[0].begin == 1 && r[0].end == 2 && r[1].begin == 4 &&
           r[1].end == 5,
       "offsets go over what is left out");
    drop(v, &m);
}

static void
test_chat(void)
{
    const struct gg_message message = { GG_ROLE_USER, "a\004b", 3 };
    const struct gg_chat_template *t = gg_chat_find("chatml");
    struct gg_encoded made;
    struct gg_error err = { "" };
    struct make m;
    struct gg_vocab *v;
    const struct gg_chat_params strict = { .flags = GG_CHAT_STRICT };
    int32_t ids[64];
    size_t ends = 0;

    make_bpe(&m);
    m.types[0x04] = GG_TOKEN_CONTROL;
    make_token(&m, "<|im_start|>", GG_TOKEN_CONTROL, 0);
    gguf_set_val_u32(m.gguf, KEY("unknown_token_id"),
                     (uint32_t)(256 + m.n_merges));
    v = load(&m);
    ok(gg_chat_encode(v, t, &message, 1, NULL, ids, 64, &made, &err) == GG_OK &&
           made.left_out == 1,
       "a conversation says what is left out");
    for (size_t i = 0; i < made.n; i++)
        ends += ids[i] == (int32_t)(256 + m.n_merges);
    is(ends, 0, "and does not end there");
    ok(gg_chat_encode(v, t, &message, 1, &strict, ids, 64, &made, &err) ==
               GG_ERR_UNSUPPORTED &&
           strstr(err.message, "0x04"),
       "strictly it is an error there, too");
    drop(v, &m);
}

/* ---- characters ---- */

static void
without_bytes(struct make *m)
{
    make_spm(m);
    for (size_t i = 3; i < 259; i++)
        m->types[i] = GG_TOKEN_UNUSED;
}

static void
test_spm(void)
{
    struct make m;
    struct gg_vocab *v;
    const int32_t a = 259 + 7;

    without_bytes(&m);
    v = load(&m);
    ok(encodes(v, "a\xe2\x82\xac", 0, IDS(a, 0), 0),
       "SentencePiece: a character is unknown");
    drop(v, &m);
    without_bytes(&m);
    m.types[0] = GG_TOKEN_CONTROL;
    v = load(&m);
    ok(encodes(v, "a\xe2\x82\xac", 0, IDS(a, 0), 0) &&
           gg_vocab_type(v, 0) == GG_TOKEN_UNKNOWN,
       "<unk> is of the unknown type, whatever the file says");
    drop(v, &m);
    without_bytes(&m);
    gguf_set_val_u32(m.gguf, KEY("unknown_token_id"), 2);
    v = load(&m);
    ok(encodes(v, "a\xe2\x82\xac\xff", 0, IDS(a), 4) && never_has_control(v),
       "an end of text is not what is unknown");
    ok(strict_says(v, "a\xe2\x82\xac", 0, "0xE2"), "strictly an error");
    drop(v, &m);
    without_bytes(&m);
    rename_token(&m, 0, "<pad>");
    v = load(&m);
    ok(encodes(v, "a\xe2\x82\xac", 0, IDS(a), 3), "nor is there one");
    drop(v, &m);
}

static void
test_spm_offsets(void)
{
    static const char text[] = "\xe2\x82\xac"
                               "a\xff"
                               "b";
    struct make m;
    struct gg_vocab *v;
    struct gg_encoded made = { 0 };
    struct gg_range r[8];
    int32_t ids[8];

    without_bytes(&m);
    rename_token(&m, 0, "<pad>");
    v = load(&m);
    ok(gg_vocab_encode(v, text, 6, 0, ids, 8, &made, NULL) == GG_OK &&
           made.n == 3 && made.left_out == 4 &&
           gg_vocab_offsets(v, text, 6, 0, ids, made.n, r, NULL) == GG_OK &&
           r[1].begin == 3 && r[1].end == 4 && r[2].begin == 5 && r[2].end == 6,
       "SentencePiece: offsets go over characters");
    drop(v, &m);
}

static void
test_wordpiece(void)
{
    struct make m;
    struct gg_vocab *v;

    make_wpm(&m);
    v = load(&m);
    ok(encodes(v, "a ?", 0, IDS(8, 0), 0) &&
           gg_vocab_type(v, 0) == GG_TOKEN_UNKNOWN && never_has_control(v),
       "WordPiece: [UNK] is of the unknown type");
    drop(v, &m);
    make_wpm(&m);
    rename_token(&m, 0, "[PAD]");
    v = load(&m);
    ok(encodes(v, "a ? zzz", 0, IDS(8), 4) && never_has_control(v),
       "without one, words and punctuation are left out");
    ok(strict_says(v, "a zzz", 0, "0x7A"), "strictly an error");
    drop(v, &m);
}

static void
test_unigram(void)
{
    struct make m;
    struct gg_vocab *v;

    make_ugm(&m);
    v = load(&m);
    ok(encodes(v, "az", 0, IDS(7, 2), 0) && never_has_control(v),
       "Unigram: a character is unknown");
    drop(v, &m);
    make_ugm(&m);
    gguf_set_val_u32(m.gguf, KEY("unknown_token_id"), 0);
    v = load(&m);
    ok(encodes(v, "azz", 0, IDS(7), 2) && never_has_control(v),
       "a control token is not what is unknown");
    ok(strict_says(v, "az", 0, "0x7A"), "strictly an error");
    drop(v, &m);
}

/* ---- tokens with a meaning ---- */

static void
test_defined(void)
{
    struct make m;
    struct gg_vocab *v;
    uint32_t user;

    make_bpe(&m);
    user = (uint32_t)m.n - 2;
    v = load(&m);
    ok(encodes(v, "<user>", 0, IDS((int32_t)user), 0),
       "what the user defined is found in a text");
    drop(v, &m);
    make_bpe(&m);
    gguf_set_val_u32(m.gguf, KEY("eos_token_id"), user);
    gguf_set_val_u32(m.gguf, KEY("bos_token_id"), user + 1);
    v = load(&m);
    ok(never_has_control(v), "but not where it begins or ends one");
    drop(v, &m);
}

/* ---- real vocabularies ---- */

static void
test_real(const char *folder)
{
    static const char *const names[] = { "bert-bge", "deepseek-llm", "falcon",
                                         "gpt-2", "llama-spm" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct gg_vocab *v = NULL;
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s.gguf", folder, names[i]);
        ok(gg_vocab_open(path, &v, NULL) == GG_OK && never_has_control(v),
           names[i]);
        gg_vocab_free(v);
    }
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_VOCAB");

    test_bytes();
    test_cache();
    test_offsets();
    test_chat();
    test_spm();
    test_spm_offsets();
    test_wordpiece();
    test_unigram();
    test_defined();
    if (folder)
        test_real(folder);
    else
        printf("# without GG_TEST_VOCAB no real vocabularies\n");
    return tap_done();
}
