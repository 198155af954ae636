/* test_vocab_golden.c - ids of hundreds of kilobytes of text against others'
 *
 * The figures are what vocab_golden.py prints (tokenizers 0.23.3,
 * sentencepiece 0.2.3): how many ids, and their hash. The vocabularies are
 * those of $GG_TEST_VOCAB. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include <gg.h>

#include "gguf/reader.h"
#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_text.h"
#include "vocab/unicode.h"
#include "vocab/vocab.h"

#define KEY(name) "tokenizer.ggml." name

struct text {
    uint8_t *p;
    size_t len;
};

/* Without broken characters: SentencePiece's own program has no ids for them
 * that could be compared. */
static struct text
make(size_t (*fill)(uint8_t *))
{
    struct text t = { malloc(TEXT_CAP), 0 };
    size_t all = fill(t.p), n;

    for (size_t i = 0; i < all; i += n ? n : 1) {
        n = vocab_unicode_length(t.p + i, all - i);
        memmove(t.p + t.len, t.p + i, n);
        t.len += n;
    }
    return t;
}

static void
test_ids(const struct gg_vocab *v, struct text text, size_t n_want,
         uint64_t want, const char *name)
{
    int32_t *ids = calloc(text.len, sizeof(*ids));
    uint64_t h = HASH_START;
    size_t n = 0;

    if (!v || encode_ids(v, (const char *)text.p, text.len, 0, ids, text.len,
                         &n, NULL) != GG_OK)
        n = 0;
    for (size_t i = 0; i < n; i++)
        h = text_hash(h, (uint32_t)ids[i]);
    if (n != n_want || h != want)
        printf("# %zu ids, hash %016llx\n", n, (unsigned long long)h);
    ok(n == n_want && h == want, name);
    free(ids);
}

static struct gg_vocab *
open_vocab(const char *folder, const char *name)
{
    struct gg_vocab *v = NULL;
    char path[4096];

    snprintf(path, sizeof(path), "%s/%s.gguf", folder, name);
    return gg_vocab_open(path, &v, NULL) == GG_OK ? v : NULL;
}

/* ---- LLaMA's vocabulary as Gemma's files are: no blank in front, and runs of
 * blanks and newlines that the user defined ---- */

enum {
    RUNS = 7 /* of two to eight newlines */
};

static bool
is_blanks(const char *s)
{
    size_t n = 0;

    while (strncmp(s + n, "\xe2\x96\x81", 3) == 0)
        n += 3;
    return n > 3 && s[n] == '\0';
}

/* Its arrays, longer by RUNS, into another. */
static struct gguf_context *
gemma_from(const struct gguf_context *llama)
{
    static const char newlines[] = "\n\n\n\n\n\n\n\n";
    struct gguf_context *g = gguf_init_empty();
    int64_t key = gguf_find_key(llama, KEY("tokens"));
    size_t n = gguf_get_arr_n(llama, key), all = n + RUNS;
    const char **tokens = calloc(all, sizeof(*tokens));
    int32_t *types = calloc(all, sizeof(*types));
    float *scores = calloc(all, sizeof(*scores));

    memcpy(types,
           gguf_get_arr_data(llama, gguf_find_key(llama, KEY("token_type"))),
           n * sizeof(*types));
    memcpy(scores,
           gguf_get_arr_data(llama, gguf_find_key(llama, KEY("scores"))),
           n * sizeof(*scores));
    for (size_t i = 0; i < all; i++) {
        tokens[i] = i < n ? gguf_get_arr_str(llama, key, i)
                          : newlines + RUNS - 1 - (i - n);
        if (i >= n || is_blanks(tokens[i]))
            types[i] = GG_TOKEN_USER_DEFINED;
    }
    gguf_set_val_str(g, KEY("model"), "llama");
    gguf_set_val_bool(g, KEY("add_space_prefix"), false);
    gguf_set_arr_str(g, KEY("tokens"), tokens, all);
    gguf_set_arr_data(g, KEY("token_type"), GGUF_TYPE_INT32, types, all);
    gguf_set_arr_data(g, KEY("scores"), GGUF_TYPE_FLOAT32, scores, all);
    free(tokens);
    free(types);
    free(scores);
    return g;
}

static void
test_gemma(const char *folder, struct text mixed, struct text pieces)
{
    struct gguf_init_params params = { .no_alloc = true };
    struct gguf_context *llama, *gemma = NULL;
    struct gg_vocab *v = NULL;
    char path[4096];

    snprintf(path, sizeof(path), "%s/llama-spm.gguf", folder);
    llama = gguf_init_from_file(path, params);
    if (llama)
        gemma = gemma_from(llama);
    ok(gemma && vocab_load(gemma, &v, NULL) == GG_OK,
       "a vocabulary of Gemma's kind loads");
    test_ids(v, mixed, 198047, UINT64_C(0xaf33e201244761c8),
             "Gemma's kind: mixed text");
    test_ids(v, pieces, 80064, UINT64_C(0x833a9236beb906d5),
             "Gemma's kind: blanks and newlines");
    gg_vocab_free(v);
    gguf_free(gemma);
    gguf_free(llama);
}

static void
test_all(const char *folder)
{
    struct text mixed = make(text_mixed), pieces = make(text_pieces);
    struct gg_vocab *v = open_vocab(folder, "gpt-2");

    test_ids(v, mixed, 201042, UINT64_C(0x96636db4e4d7ea0e), "gpt-2");
    gg_vocab_free(v);
    v = open_vocab(folder, "llama-spm");
    test_ids(v, mixed, 199163, UINT64_C(0x2b81eb5cceda8e4d), "llama-spm");
    test_ids(v, pieces, 80271, UINT64_C(0xa9e36772d00cce1d),
             "llama-spm: blanks and newlines");
    gg_vocab_free(v);
    v = open_vocab(folder, "bert-bge");
    test_ids(v, mixed, 56299, UINT64_C(0x385bde11c7788e18), "bert-bge");
    test_ids(v, pieces, 37544, UINT64_C(0xfead1f32762e6d56),
             "bert-bge: blanks, marks, punctuation");
    gg_vocab_free(v);
    test_gemma(folder, mixed, pieces);
    free(mixed.p);
    free(pieces.p);
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_VOCAB");

    if (!folder) {
        puts("1..0 # SKIP GG_TEST_VOCAB names no folder of vocabularies");
        return 0;
    }
    test_all(folder);
    return tap_done();
}
