/* test_unigram_folder.c - tokenizer.json of a vocabulary that SentencePiece has
 * trained: the ids of texts */
#include <config.h>

#include "harness/tap.h"

#ifdef HAVE_JANSSON
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fixtures/unigram_golden.h"
#include "fixtures/vocab_text.h"
#include "harness/encode.h"
#include "harness/scratch.h"

enum {
    N = sizeof(unigram_pieces) / sizeof(unigram_pieces[0]),
    UNKNOWN = 2, /* types of pieces */
    CONTROL = 3,
    USER = 4,
};

static struct gg_error err;

/* Bytes in base 64. */
static json_t *
in_base64(const unsigned char *p, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "abcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc(n / 3 * 4 + 5), *to = text;
    json_t *v;

    for (size_t i = 0; i < n; i += 3) {
        size_t k = n - i < 3 ? n - i : 3;
        uint32_t bits = 0;

        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < k ? p[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            *to++ = j > k ? '=' : digits[bits >> (18 - 6 * j) & 63];
    }
    *to = '\0';
    v = json_string(text);
    free(text);
    return v;
}

static json_t *
model(void)
{
    json_t *vocab = json_array();
    int unknown = 0;

    for (int i = 0; i < N; i++) {
        if (unigram_pieces[i].type == UNKNOWN)
            unknown = i;
        json_array_append_new(vocab,
                              json_pack("[sf]", unigram_pieces[i].text,
                                        (double)unigram_pieces[i].score));
    }
    return json_pack("{ss si sb so}", "type", "Unigram", "unk_id", unknown,
                     "byte_fallback", 1, "vocab", vocab);
}

static json_t *
added(void)
{
    json_t *list = json_array();

    for (int i = 0; i < N; i++)
        if (unigram_pieces[i].type == CONTROL || unigram_pieces[i].type == USER)
            json_array_append_new(list,
                                  json_pack("{si ss sb}", "id", i, "content",
                                            unigram_pieces[i].text, "special",
                                            unigram_pieces[i].type == CONTROL));
    return list;
}

static void
put(const char *folder, const char *name, json_t *value)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    if (json_dump_file(value, path, 0))
        exit(99);
    json_decref(value);
}

/* `words`: as XLM-R's, cut at blanks, one in front of each. */
static void
put_tokenizer(const char *folder, bool words)
{
    json_t *map = in_base64(unigram_charsmap, sizeof(unigram_charsmap));
    json_t *step =
        json_pack("{ss ss ss}", "type", "Metaspace", "replacement",
                  "\xe2\x96\x81", "prepend_scheme", words ? "always" : "never");
    json_t *pre = step;

    if (words)
        pre = json_pack("{ss s[{ss}o]}", "type", "Sequence", "pretokenizers",
                        "type", "WhitespaceSplit", step);
    put(folder, "tokenizer.json",
        json_pack("{so so s{ss so} so}", "model", model(), "added_tokens",
                  added(), "normalizer", "type", "Precompiled",
                  "precompiled_charsmap", map, "pre_tokenizer", pre));
}

static struct gg_vocab *
open_folder(const char *folder)
{
    struct gg_vocab *v = NULL;

    if (gg_vocab_open(folder, &v, &err) != GG_OK)
        printf("# %s\n", err.message);
    return v;
}

static bool
gives(const struct gg_vocab *v, const uint8_t *text, size_t len, int which)
{
    size_t cap = 3 * len, got = 0;
    int32_t *ids = calloc(cap, sizeof(*ids));
    uint64_t h = HASH_START;

    if (!v || encode_ids(v, (const char *)text, len, 0, ids, cap, &got, &err) !=
                  GG_OK)
        got = 0;
    for (size_t i = 0; i < got; i++)
        h = text_hash(h, (uint32_t)ids[i]);
    free(ids);
    return got == unigram_ids[1][which].n && h == unigram_ids[1][which].hash;
}

static void
check_ids(const struct gg_vocab *v)
{
    uint8_t *text = malloc(TEXT_CAP);
    size_t n = text_mixed(text);

    ok(gives(v, text, n, 0), "ids of mixed text");
    text_damage(text, n);
    ok(gives(v, text, n, 1), "ids of damaged text");
    ok(gives(v, text, text_pieces(text), 2), "ids of pieces");
    free(text);
}

/* Blanks beyond the first, and those at either end, change nothing. */
static void
check_words(const struct gg_vocab *v)
{
    static const char *const texts[] = { "a model", "  a \t model " };
    int32_t ids[2][32];
    size_t n[2] = { 0 };

    for (int i = 0; v && i < 2; i++)
        if (encode_ids(v, texts[i], strlen(texts[i]), 0, ids[i], 32, &n[i],
                       &err) != GG_OK)
            n[i] = 0;
    ok(n[0] && n[0] == n[1] &&
           !memcmp(ids[0], ids[1], n[0] * sizeof(ids[0][0])),
       "words: blanks are one");
}

int
main(void)
{
    const char *folder = scratch_file("unigram");
    struct gg_vocab *v;

    mkdir(folder, 0777);
    put(folder, "config.json",
        json_pack("{s[s] si si si si si si}", "architectures",
                  "XLMRobertaModel", "vocab_size", N, "hidden_size", 8,
                  "num_hidden_layers", 1, "num_attention_heads", 1,
                  "max_position_embeddings", 514, "pad_token_id", 1));
    put_tokenizer(folder, false);
    v = open_folder(folder);
    check_ids(v);
    gg_vocab_free(v);
    put_tokenizer(folder, true);
    v = open_folder(folder);
    check_words(v);
    gg_vocab_free(v);
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
