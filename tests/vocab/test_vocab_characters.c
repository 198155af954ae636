/* test_vocab_characters.c - vocabularies "gpt2" and "whitespace" that merge
 * characters by rank: by the name of tokenizer.ggml.pre
 *
 * The ids are what characters_golden.py prints (tokenizers 0.23.3). */
#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/characters_golden.h"
#include "fixtures/vocab_make.h"

enum {
    CAP = 64
};

static struct gg_error err;

/* The tokens of characters_golden.py. */
static void
make_characters(struct make *m, const char *model, const char *pre)
{
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
    static const char *const merges[] = {
        "a b",     MARK " ab", MARK " " MARK, "ab c",
        "c " MARK, "\n \n",    MARK " a",     "\xc3\xa9 c",
    };
    make_spm(m); /* <unk> <s> </s>, and bytes */
    while (m->n > 259)
        free(m->tokens[--m->n]);
    for (size_t i = 0; i < sizeof(tokens) / sizeof(*tokens); i++)
        make_token(m, tokens[i], GG_TOKEN_NORMAL, 0);
    make_token(m, "<user>", GG_TOKEN_USER_DEFINED, 0);
    for (size_t i = 0; i < sizeof(merges) / sizeof(*merges); i++)
        m->merges[m->n_merges++] = merges[i];
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", model);
    gguf_set_val_str(m->gguf, "tokenizer.ggml.pre", pre);
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

/* What ids stand for covers the text but for white space, in order. */
static bool
covers(const struct gg_vocab *v, const char *text,
       const struct characters_ids *ids)
{
    struct gg_range ranges[CAP];
    size_t at = 0;

    if (gg_vocab_offsets(v, text, strlen(text), 0, ids->id, ids->n, ranges,
                         &err) != GG_OK) {
        printf("# %s: %s\n", text, err.message);
        return false;
    }
    for (size_t i = 0; i < ids->n; i++) {
        while (at < ranges[i].begin)
            if (!strchr(" \n", text[at++]))
                return false;
        at = ranges[i].end > at ? ranges[i].end : at;
    }
    while (text[at])
        if (!strchr(" \n", text[at++]))
            return false;
    return true;
}

static void
test_kind(size_t k)
{
    struct make m;
    struct gg_vocab *v = NULL;
    bool same = true, covered = true;

    make_characters(&m, characters_kinds[k].model, characters_kinds[k].pre);
    gguf_set_val_bool(m.gguf, "tokenizer.ggml.normalizer.lowercase",
                      characters_kinds[k].lower);
    ok(make_load(&m, &v, &err) == GG_OK && !gg_vocab_note(v),
       characters_kinds[k].what);
    for (size_t i = 0; v && i < CHARACTERS_TEXTS; i++) {
        same = encodes(v, characters_texts[i], &characters_kinds[k].ids[i]) &&
               same;
        covered = covers(v, characters_texts[i], &characters_kinds[k].ids[i]) &&
                  covered;
    }
    ok(v && same, "the ids of tokenizers");
    ok(v && covered, "and the parts of a text that they stand for");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    for (size_t k = 0; k < CHARACTERS_KINDS; k++)
        test_kind(k);
    return tap_done();
}
