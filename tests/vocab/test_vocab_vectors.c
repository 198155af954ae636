/* test_vocab_vectors.c - ids of known texts, from $GG_TEST_VOCAB
 *
 * NAME.inp holds texts, NAME.out a line of ids for each, without added tokens,
 * as published with the vocabularies NAME.gguf. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <gg.h>

#include "core/file.h"
#include "harness/encode.h"
#include "harness/tap.h"
#include "vocab/vocab.h"

#define MARK "\n__ggml_vocab_test__\n"

enum {
    MAX_IDS = 4096
};

/* Compares with the decimal numbers on the line at *p, and moves past it. */
static int
line_is(const char **p, const char *end, const int32_t *ids, size_t n)
{
    size_t i = 0;
    int same = 1;

    while (*p < end && **p != '\n') {
        char *after;
        long id = strtol(*p, &after, 10);

        same = same && i < n && ids[i] == id;
        i++;
        *p = after;
    }
    *p += *p < end;
    return same && i == n;
}

/* The text comes back, but for a blank that SentencePiece put in front. */
static int
comes_back(const struct gg_vocab *v, const int32_t *ids, size_t n,
           const char *text, size_t len)
{
    struct gg_decode_state state = { .no_bos = true };
    char back[65536];
    size_t used = 0, got;

    for (size_t i = 0; i < n; i++) {
        if (gg_vocab_decode(v, &state, ids[i], 0, back + used,
                            sizeof(back) - used, &got, NULL) != GG_OK)
            return 0;
        used += got;
    }
    return used == len && memcmp(back, text, len) == 0;
}

static int
compare(const struct gg_vocab *v, const struct file_map *in,
        const struct file_map *out, int *n_texts)
{
    const char *p = in->data, *end = p + in->size;
    const char *want = out->data, *want_end = want + out->size;
    int wrong = 0;

    for (*n_texts = 0; p < end; ++*n_texts) {
        const char *mark = memmem(p, (size_t)(end - p), MARK, strlen(MARK));
        size_t len = (size_t)((mark ? mark : end) - p), n;
        int32_t ids[MAX_IDS];

        if (encode_ids(v, p, len, 0, ids, MAX_IDS, &n, NULL) != GG_OK ||
            n > MAX_IDS || !line_is(&want, want_end, ids, n) ||
            (v->kind != VOCAB_WPM && !comes_back(v, ids, n, p, len))) {
            printf("# text %d differs\n", *n_texts);
            wrong++;
        }
        p += len + (mark ? strlen(MARK) : 0);
    }
    return wrong;
}

static void
test(const char *folder, const char *name)
{
    char gguf[4096], inp[4096], out[4096], what[128];
    struct file_map in = { 0 }, ids = { 0 };
    struct gg_vocab *v = NULL;
    struct gg_error err = { "" };
    int n = 0, wrong = -1;

    snprintf(gguf, sizeof(gguf), "%s/%s.gguf", folder, name);
    snprintf(inp, sizeof(inp), "%s/%s.inp", folder, name);
    snprintf(out, sizeof(out), "%s/%s.out", folder, name);
    if (gg_vocab_open(gguf, &v, &err) == GG_OK &&
        file_map(inp, &in, &err) == GG_OK && file_map(out, &ids, &err) == GG_OK)
        wrong = compare(v, &in, &ids, &n);
    else
        printf("# %s\n", err.message);
    snprintf(what, sizeof(what), "%s: %d texts have their ids", name, n);
    ok(wrong == 0 && n > 40, what);
    file_unmap(&in);
    file_unmap(&ids);
    gg_vocab_free(v);
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_VOCAB");

    if (!folder) {
        puts("1..0 # SKIP GG_TEST_VOCAB names no folder of vocabularies");
        return 0;
    }
    test(folder, "gpt-2");
    test(folder, "llama-spm");
    test(folder, "falcon");
    test(folder, "deepseek-llm");
    test(folder, "bert-bge");
    return tap_done();
}
