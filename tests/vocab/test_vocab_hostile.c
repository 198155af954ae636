/* test_vocab_hostile.c - vocabularies that lie: a message, never a crash */
#include <config.h>

#include <math.h>

#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"

#define KEY(name) "tokenizer.ggml." name

static struct make
bpe(void)
{
    struct make m;

    make_bpe(&m);
    make_lists(&m);
    return m;
}

static struct make
spm(void)
{
    struct make m;

    make_spm(&m);
    make_lists(&m);
    return m;
}

static void
set_tokens(struct make *m)
{
    gguf_set_arr_str(m->gguf, KEY("tokens"), (const char **)m->tokens, m->n);
}

static void
test_kind(void)
{
    struct make m = bpe();

    gguf_set_val_str(m.gguf, KEY("model"), "rwkv\x1b");
    ok(make_fails(&m, GG_ERR_UNSUPPORTED,
                  "'rwkv\\x1b' is not known; known: gpt2"),
       "an unknown kind is named, safely");
    m = bpe();
    gguf_remove_key(m.gguf, KEY("model"));
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("model")), "no kind");
    m = bpe();
    gguf_set_val_u32(m.gguf, KEY("model"), 1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("model")), "a kind that is no string");
    m = bpe();
    gguf_set_val_u32(m.gguf, KEY("pre"), 1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("pre")),
       "a split rule that is no string");
}

/* Another rule stands in, and a note says so. */
static bool
notes(const char *pre, const char *want)
{
    struct make m = bpe();
    struct gg_vocab *v = NULL;
    bool good;

    if (pre)
        gguf_set_val_str(m.gguf, KEY("pre"), pre);
    else
        gguf_remove_key(m.gguf, KEY("pre"));
    good = vocab_load(m.gguf, &v, NULL) == GG_OK;
    if (good && gg_vocab_note(v))
        printf("# %s\n", gg_vocab_note(v));
    if (good)
        good = want ? gg_vocab_note(v) && strstr(gg_vocab_note(v), want)
                    : !gg_vocab_note(v);
    gg_vocab_free(v);
    make_free(&m);
    return good;
}

static void
test_split(void)
{
    ok(notes("gpt-2", NULL) && notes("default", NULL),
       "of a split rule that is known, no word");
    ok(notes("klingon\x1b", "the split rule 'klingon\\x1b' is not known"),
       "one that is not known is named, safely, and 'default' stands in");
    ok(notes(NULL, KEY("pre") " names no split rule") &&
           notes("", "names no split rule"),
       "where none is named, too");
    ok(notes("gpt-22", "'gpt-22'") && notes("gpt-", "'gpt-'"),
       "names are whole");
}

static void
test_tokens(void)
{
    struct make m = bpe();
    int32_t one = 1;
    char *large;

    gguf_remove_key(m.gguf, KEY("tokens"));
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("tokens")), "no tokens");
    m = bpe();
    gguf_set_arr_str(m.gguf, KEY("tokens"), NULL, 0);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("tokens")), "a list of none");
    m = bpe();
    gguf_set_arr_data(m.gguf, KEY("tokens"), GGUF_TYPE_INT32, &one, 1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("tokens")),
       "tokens that are no strings");
    m = bpe();
    large = malloc(VOCAB_MAX_TOKEN_BYTES + 2);
    memset(large, 'x', VOCAB_MAX_TOKEN_BYTES + 1);
    large[VOCAB_MAX_TOKEN_BYTES + 1] = '\0';
    free(m.tokens[5]);
    m.tokens[5] = large;
    set_tokens(&m);
    ok(make_fails(&m, GG_ERR_FORMAT, "token 5 has 65536 bytes"),
       "a token that is too long");
}

static void
test_types(void)
{
    struct make m = bpe();

    gguf_set_arr_data(m.gguf, KEY("token_type"), GGUF_TYPE_INT32, m.types,
                      m.n - 1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("token_type")),
       "fewer types than tokens");
    m = bpe();
    gguf_set_arr_data(m.gguf, KEY("token_type"), GGUF_TYPE_UINT8, m.types, m.n);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("token_type")),
       "types of another size");
    m = bpe();
    m.types[3] = 7;
    gguf_set_arr_data(m.gguf, KEY("token_type"), GGUF_TYPE_INT32, m.types, m.n);
    ok(make_fails(&m, GG_ERR_FORMAT, "7, of token 3"), "a type that is none");
}

static void
test_bytes(void)
{
    static const char *const bad[] = { "<0x-1>", "<0x1>", "<0x123>", "<0xG0>",
                                       "0x41",   "",      "<0x4\n>" };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct make m = spm();

        free(m.tokens[3]);
        m.tokens[3] = strdup(bad[i]);
        set_tokens(&m);
        ok(make_fails(&m, GG_ERR_FORMAT, "byte token 3 is not written <0xHH>"),
           "a byte token without two hex digits");
    }
}

static void
test_ids(void)
{
    static const char *const keys[] = {
        KEY("bos_token_id"), KEY("eos_token_id"),     KEY("eot_token_id"),
        KEY("eom_token_id"), KEY("unknown_token_id"), KEY("padding_token_id"),
        KEY("cls_token_id"), KEY("mask_token_id"),    KEY("fim_pre_token_id"),
    };
    struct make m;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        m = bpe();
        gguf_set_val_u32(m.gguf, keys[i], (uint32_t)m.n);
        ok(make_fails(&m, GG_ERR_FORMAT, keys[i]), keys[i]);
    }
    m = spm();
    gguf_set_val_i32(m.gguf, KEY("bos_token_id"), -1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("bos_token_id")), "a negative id");
    m = spm();
    gguf_set_val_str(m.gguf, KEY("add_bos_token"), "yes");
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("add_bos_token")),
       "a flag that is none");
}

static void
test_merges(void)
{
    static const char *const bad[] = { "",     " ",    "a",    "a ",  " a",
                                       "a ?!", "qq q", "q qq", "a q", "a b c" };
    struct make m = bpe();

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        m.merges[2] = bad[i];
        gguf_set_arr_str(m.gguf, KEY("merges"), m.merges, m.n_merges);
        ok(make_fails(&m, GG_ERR_FORMAT, "merge 2 does not name"),
           "a merge of what is no token");
        m = bpe();
    }
    m.merges[2] = "<|endoftext|> a";
    gguf_set_arr_str(m.gguf, KEY("merges"), m.merges, m.n_merges);
    ok(make_fails(&m, GG_ERR_FORMAT, "merge 2"),
       "a merge of a control token that makes none");
    m = bpe();
    gguf_remove_key(m.gguf, KEY("merges"));
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("merges")), "no merges");
}

/* The ids of a text where merge `odd` is written `times` times in front of all
 * merges, and again after them. */
static size_t
encode_repeated(size_t odd, size_t times, int32_t *ids, size_t cap)
{
    static const char text[] = "hello abc abab cccc aabc bcc baab world";
    struct make m = bpe();
    const char **merges = malloc((2 * times + m.n_merges) * sizeof(*merges));
    struct gg_vocab *v = NULL;
    size_t n = 0, count = 0;

    for (size_t i = 0; i < times; i++)
        merges[n++] = m.merges[odd];
    for (size_t i = 0; i < m.n_merges; i++)
        merges[n++] = m.merges[i];
    for (size_t i = 0; i < times; i++)
        merges[n++] = m.merges[odd];
    gguf_set_arr_str(m.gguf, KEY("merges"), merges, n);
    if (vocab_load(m.gguf, &v, NULL) != GG_OK ||
        encode_ids(v, text, strlen(text), 0, ids, cap, &count, NULL) != GG_OK)
        count = 0;
    gg_vocab_free(v);
    make_free(&m);
    free(merges);
    return count;
}

static void
test_repeated_merges(void)
{
    struct make m = bpe();
    size_t n_merges = m.n_merges;
    bool same = true;

    make_free(&m);
    for (size_t odd = 0; odd < n_merges; odd++) {
        int32_t once[64], often[64];
        size_t n = encode_repeated(odd, 1, once, 64);

        same = same && n > 0 && n <= 64 &&
               encode_repeated(odd, 50, often, 64) == n &&
               memcmp(once, often, n * sizeof(*once)) == 0;
    }
    ok(same, "of a merge that is written many times the first one counts");
}

static void
test_scores(void)
{
    static const float bad[] = { NAN, INFINITY, -INFINITY };
    struct make m = spm();

    for (size_t i = 0; i < 3; i++) {
        m.scores[4] = bad[i];
        gguf_set_arr_data(m.gguf, KEY("scores"), GGUF_TYPE_FLOAT32, m.scores,
                          m.n);
        ok(make_fails(&m, GG_ERR_FORMAT, "the score of token 4 is not finite"),
           "a score that is not finite");
        m = spm();
    }
    gguf_set_arr_data(m.gguf, KEY("scores"), GGUF_TYPE_FLOAT32, m.scores,
                      m.n - 1);
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("scores")),
       "fewer scores than tokens");
    m = spm();
    gguf_remove_key(m.gguf, KEY("scores"));
    ok(make_fails(&m, GG_ERR_FORMAT, KEY("scores")), "no scores");
}

/* Unusual vocabularies, which need not be refused. */
static void
test_odd(void)
{
    struct make m;
    struct gg_vocab *v = NULL;
    int32_t ids[8];
    size_t n;

    make_spm(&m);
    for (size_t i = 3; i < 259; i++) /* no byte tokens, but <unk> */
        m.types[i] = GG_TOKEN_CONTROL;
    ok(make_load(&m, &v, NULL) == GG_OK &&
           encode_ids(v, "\xff", 1, 0, ids, 8, &n, NULL) == GG_OK && n == 2 &&
           ids[1] == 0,
       "without byte tokens, unknown bytes are unknown");
    gg_vocab_free(v);
    make_free(&m);

    make_bpe(&m);
    m.types['q'] = GG_TOKEN_CONTROL;
    ok(make_load(&m, &v, NULL) == GG_OK &&
           encode_ids(v, "aq", 2, 0, ids, 8, &n, NULL) == GG_ERR_UNSUPPORTED,
       "a byte without a token is said when it comes");
    gg_vocab_free(v);
    make_free(&m);

    make_bpe(&m);
    make_token(&m, "a", GG_TOKEN_NORMAL, 0);
    make_token(&m, "", GG_TOKEN_NORMAL, 0);
    make_token(&m, "", GG_TOKEN_USER_DEFINED, 0);
    make_token(&m, "<user>", GG_TOKEN_USER_DEFINED, 0);
    ok(make_load(&m, &v, NULL) == GG_OK &&
           encode_ids(v, "a<user>", 7, 0, ids, 8, &n, NULL) == GG_OK &&
           n == 2 && ids[0] == 'a',
       "of equal tokens the first is used, an empty one never");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    test_kind();
    test_split();
    test_tokens();
    test_types();
    test_bytes();
    test_ids();
    test_merges();
    test_repeated_merges();
    test_scores();
    test_odd();
    return tap_done();
}
