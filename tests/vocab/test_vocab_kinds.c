/* test_vocab_kinds.c - WordPiece and Unigram: small vocabularies, and one that
 * SentencePiece has trained */
#include <config.h>

#include <stdio.h>

#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"
#include "fixtures/vocab_text.h"
/* After those. */
#include "fixtures/unigram_golden.h"

#define KEY(name) "tokenizer.ggml." name

enum {
    MAX_IDS = 512
};

/* The pieces of a text, "|" between two. */
static bool
cuts(const struct gg_vocab *v, const char *text, size_t len, unsigned flags,
     const char *want)
{
    char got[4096] = "";
    int32_t ids[MAX_IDS];
    size_t n, k, used = 0;

    if (encode_ids(v, text, len, flags, ids, MAX_IDS, &n, NULL) != GG_OK ||
        n > MAX_IDS)
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *token = gg_vocab_token(v, ids[i], &k);

        used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%.*s",
                                 i ? "|" : "", (int)k, token);
    }
    if (strcmp(got, want) != 0)
        printf("# %s\n", got);
    return strcmp(got, want) == 0;
}

static bool
encodes_as(const struct gg_vocab *v, const char *text, const char *want)
{
    return cuts(v, text, strlen(text), 0, want);
}

static bool
comes_out(const struct gg_vocab *v, const char *text, unsigned encode,
          unsigned decode, const char *want)
{
    struct gg_decode_state state = { .no_bos = true };
    int32_t ids[MAX_IDS];
    char got[4096] = "";
    size_t n, k, used = 0;

    if (encode_ids(v, text, strlen(text), encode, ids, MAX_IDS, &n, NULL) !=
        GG_OK)
        return false;
    for (size_t i = 0; i < n; i++, used += k)
        if (gg_vocab_decode(v, &state, ids[i], decode, got + used,
                            sizeof(got) - used - 1, &k, NULL) != GG_OK)
            return false;
    got[used] = '\0';
    if (strcmp(got, want) != 0)
        printf("# '%s'\n", got);
    return strcmp(got, want) == 0;
}

/* `text` n times. */
static char *
repeat(const char *text, size_t n)
{
    size_t len = strlen(text);
    char *all = malloc(n * len + 1);

    for (size_t i = 0; i < n; i++)
        memcpy(all + i * len, text, len);
    all[n * len] = '\0';
    return all;
}

/* ---- WordPiece ---- */

static void
test_words(const struct gg_vocab *v)
{
    char *longest = repeat("a", 100), *longer = repeat("a", 101);
    int32_t ids[MAX_IDS];
    size_t n = 0;

    ok(encodes_as(v, "hello  a\tab\n", MARK "hello|" MARK "a|" MARK "a|b"),
       "words begin with a piece of their own, the longest goes first");
    ok(encodes_as(v, "helloo hellq hello", MARK "hello|o|[UNK]|" MARK "hello"),
       "a word of which a part is unknown is unknown");
    ok(encodes_as(v, "a,b.a='",
                  MARK "a|" MARK ",|" MARK "b|" MARK ".|" MARK "a|" MARK
                       "=|" MARK "'"),
       "punctuation and symbols of ASCII are words");
    ok(encodes_as(v,
                  "a\xe4\xb8\xad\xe4\xb8\xad"
                  "b",
                  MARK "a|" MARK "\xe4\xb8\xad|" MARK "\xe4\xb8\xad|" MARK "b"),
       "so are Chinese characters");
    ok(encodes_as(v, "H\xc3\x89LLO h\x65\xcc\x81llo \xe2\x89\xa0",
                  MARK "hello|" MARK "hello|" MARK "="),
       "no accents, no capital letters");
    ok(encodes_as(v, "\xed\x95\x9c \xc3\x9f",
                  MARK "\xe1\x84\x92|\xe1\x85\xa1|\xe1\x86\xab|" MARK
                       "\xc3\x9f"),
       "Hangul is decomposed; what has no accent stays");
    ok(cuts(v, "a\0\x01\xc2\xad\xef\xbf\xbd\xff\xc2\x85\x62\xe2\x80\xa8\x61",
            17, 0, MARK "a|b|" MARK "a"),
       "control characters and broken ones are dropped; all blanks part words");
    ok(encodes_as(v, "", "") && encodes_as(v, " \n ", "") &&
           encodes_as(v, "\xcc\x81 \x01", ""),
       "of nothing and of blanks nothing is left");
    ok(encodes_as(v, "a\xe2\x96\x81\x62 \xe2\x96\x81",
                  MARK "a|" MARK "|b|[UNK]"),
       "the mark in a text is no blank");
    ok(encodes_as(v, "[unused0]", "[UNK]|[UNK]|[UNK]"),
       "nor is an unused token found");
    ok(encode_ids(v, longest, 100, 0, ids, MAX_IDS, &n, NULL) == GG_OK &&
           n == 100 && encodes_as(v, longer, "[UNK]"),
       "words of more than 100 characters are unknown");
    free(longest);
    free(longer);
}

static void
test_ends(const struct gg_vocab *v)
{
    unsigned ends = GG_ENCODE_BOS | GG_ENCODE_EOS;

    ok(gg_vocab_bos(v) == 1 && gg_vocab_eos(v) == 2 && gg_vocab_add_bos(v) &&
           gg_vocab_add_eos(v) && gg_vocab_is_eog(v, 2),
       "[CLS] and [SEP] are known by their names, and wanted");
    ok(cuts(v, "a", 1, ends, "[CLS]|" MARK "a|[SEP]") &&
           cuts(v, "a[SEP]a", 7, GG_ENCODE_SPECIAL, MARK "a|[SEP]|" MARK "a") &&
           encodes_as(v, "[SEP]", "[UNK]|[UNK]|[UNK]"),
       "and are found in the text if asked for");
    ok(encodes_as(v, "a<user>a b", MARK "a|<user>|" MARK "a|" MARK "b"),
       "user-defined tokens always are");
    ok(comes_out(v, "a,  hello. b", ends, 0, "a, hello. b"),
       "decoding puts blanks between words, but for . , ? !");
    ok(comes_out(v, "helloo q b", ends, GG_DECODE_SPECIAL,
                 "[CLS] helloo [UNK] b [SEP]"),
       "control tokens show their names if asked for");
}

static void
test_wordpiece(void)
{
    struct make m;
    struct gg_vocab *v = NULL;

    make_wpm(&m);
    gguf_set_val_u32(m.gguf, KEY("unknown_token_id"), 0);
    ok(make_load(&m, &v, NULL) == GG_OK, "WordPiece loads");
    test_words(v);
    test_ends(v);
    gg_vocab_free(v);
    for (char c = 'A'; c <= 'Z'; c++)
        make_token(&m, (const char[]){ '\xe2', '\x96', '\x81', c, '\0' },
                   GG_TOKEN_NORMAL, 0);
    gguf_set_val_u32(m.gguf, KEY("bos_token_id"), 3);
    gguf_set_val_u32(m.gguf, KEY("eos_token_id"), 3);
    gguf_set_val_u32(m.gguf, KEY("cls_token_id"), 4);
    gguf_set_val_u32(m.gguf, KEY("seperator_token_id"), 5);
    ok(make_load(&m, &v, NULL) == GG_OK &&
           encodes_as(v, "A a \xc3\xa0", MARK "A|" MARK "a|[UNK]"),
       "with capital letters in the vocabulary, text stays as it is");
    ok(gg_vocab_bos(v) == 4 && gg_vocab_eos(v) == 5,
       "keys of BERT's own go before others");
    gg_vocab_free(v);
    make_free(&m);
}

/* ---- Unigram ---- */

static void
test_best(const struct gg_vocab *v)
{
    char *run = repeat("a", 10);

    ok(encodes_as(v, "ab aba", MARK "ab|" MARK "ab|a"),
       "the pieces with the highest sum; a blank in front");
    ok(encodes_as(v, run, MARK "a|a|aaaaaaaa"),
       "of equal sums the first that is found");
    ok(encodes_as(v, "bb qq", MARK "|b|b|" MARK "|<unk>"),
       "what is unused is not found; unknown characters are one token");
    ok(encodes_as(v, "A\t\xef\xac\x81", MARK "a|" MARK "|f|i"),
       "the character map is applied");
    ok(encodes_as(v, "\xc3\xa9\xff\xc3", MARK "|\xc3\xa9|<unk>"),
       "a broken byte is U+FFFD, and unknown");
    ok(cuts(v, "a\0a", 3, 0, MARK "a|<unk>|a"), "NUL is a character");
    ok(encodes_as(v, "a<user>ab  a", MARK "a|<user>|ab|" MARK MARK "|a") &&
           encodes_as(v, "<user>", MARK "|<user>"),
       "user-defined tokens go first");
    ok(cuts(v, "a</s>a", 6, GG_ENCODE_SPECIAL | GG_ENCODE_EOS,
            MARK "a|</s>|" MARK "a|</s>"),
       "after a control token a text begins");
    ok(encodes_as(v, "", "") && encodes_as(v, " ", MARK MARK),
       "nothing, and a blank");
    ok(comes_out(v, "ab A\xef\xac\x81", GG_ENCODE_EOS, 0, "ab afi"),
       "decoding");
    free(run);
}

static void
test_unigram(void)
{
    struct make m;
    struct gg_vocab *v = NULL;

    make_ugm(&m);
    ok(make_load(&m, &v, NULL) == GG_OK, "Unigram loads");
    ok(gg_vocab_bos(v) == -1 && gg_vocab_eos(v) == 1 && !gg_vocab_add_bos(v) &&
           gg_vocab_add_eos(v),
       "EOS is known by its name, and wanted");
    test_best(v);
    gg_vocab_free(v);
    gguf_set_val_bool(m.gguf, KEY("remove_extra_whitespaces"), true);
    gguf_set_val_bool(m.gguf, KEY("add_eos_token"), false);
    ok(make_load(&m, &v, NULL) == GG_OK && !gg_vocab_add_eos(v) &&
           encodes_as(v, "  ab \t a  ", MARK "ab|" MARK "a") &&
           encodes_as(v, "   ", "") &&
           encodes_as(v, " <user>  a <user> ",
                      MARK "|<user>|" MARK "a|" MARK "|<user>"),
       "extra blanks go where the file says so");
    gg_vocab_free(v);
    gguf_set_val_bool(m.gguf, KEY("add_space_prefix"), false);
    ok(make_load(&m, &v, NULL) == GG_OK &&
           encodes_as(v, " ab ab", "ab|" MARK "ab"),
       "no blank in front where the file says so");
    gg_vocab_free(v);
    make_free(&m);
}

/* ---- the trained vocabulary ---- */

static struct gguf_context *
trained(bool plain)
{
    enum {
        N = TEXT_COUNT(unigram_pieces)
    };
    struct gguf_context *g = gguf_init_empty();
    const char *tokens[N];
    float scores[N];
    int32_t types[N];

    for (size_t i = 0; i < N; i++) {
        tokens[i] = unigram_pieces[i].text;
        scores[i] = unigram_pieces[i].score;
        types[i] = unigram_pieces[i].type;
        if (!plain && types[i] == GG_TOKEN_BYTE)
            types[i] = GG_TOKEN_UNUSED;
    }
    gguf_set_val_str(g, KEY("model"), "t5");
    gguf_set_arr_str(g, KEY("tokens"), tokens, N);
    gguf_set_arr_data(g, KEY("scores"), GGUF_TYPE_FLOAT32, scores, N);
    gguf_set_arr_data(g, KEY("token_type"), GGUF_TYPE_INT32, types, N);
    gguf_set_arr_data(g, KEY("precompiled_charsmap"), GGUF_TYPE_UINT8,
                      unigram_charsmap, sizeof(unigram_charsmap));
    gguf_set_val_bool(g, KEY("add_space_prefix"), !plain);
    gguf_set_val_bool(g, KEY("remove_extra_whitespaces"), !plain);
    return g;
}

static void
test_ids(const struct gg_vocab *v, const uint8_t *text, size_t len, size_t n,
         uint64_t want, const char *name)
{
    size_t cap = 3 * len, got = 0;
    int32_t *ids = calloc(cap, sizeof(*ids));
    uint64_t h = HASH_START;

    if (!v ||
        encode_ids(v, (const char *)text, len, 0, ids, cap, &got, NULL) !=
            GG_OK ||
        got > cap)
        got = 0;
    for (size_t i = 0; i < got; i++)
        h = text_hash(h, (uint32_t)ids[i]);
    if (got != n || h != want)
        printf("# %zu ids, hash %016llx\n", got, (unsigned long long)h);
    ok(got == n && h == want, name);
    free(ids);
}

static void
test_trained(void)
{
    uint8_t *text = malloc(TEXT_CAP);
    size_t n;

    for (int plain = 0; plain < 2; plain++) {
        struct gguf_context *g = trained(plain);
        struct gg_vocab *v = NULL;

        ok(vocab_load(g, &v, NULL) == GG_OK,
           plain ? "without a blank in front, with byte tokens"
                 : "a trained vocabulary loads");
        n = text_mixed(text);
        test_ids(v, text, n, unigram_ids[plain][0].n,
                 unigram_ids[plain][0].hash, "mixed text");
        text_damage(text, n);
        test_ids(v, text, n, unigram_ids[plain][1].n,
                 unigram_ids[plain][1].hash, "damaged text");
        n = text_pieces(text);
        test_ids(v, text, n, unigram_ids[plain][2].n,
                 unigram_ids[plain][2].hash, "pieces");
        gg_vocab_free(v);
        gguf_free(g);
    }
    free(text);
}

int
main(void)
{
    test_wordpiece();
    test_unigram();
    test_trained();
    return tap_done();
}
