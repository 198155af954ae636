/* test_vocab_characters.c - vocabularies "gpt2" and "whitespace" that merge
 * characters by rank: by the name of tokenizer.ggml.pre
 *
 * The ids are what characters_golden.py prints (tokenizers 0.23.3). */
#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"

enum {
    CAP = 64,
    TEXTS = 11
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

static const char *const texts[TEXTS] = {
    "ab ab",
    " ab",
    "c abc  ab",
    "abc\nab",
    "a\n\nb",
    "a\n\n\n b",
    "xA\xc3\x89"
    "c \xe4\xb8\xad",
    "ab<user>ab",
    "<user> ab",
    "c <user>",
    "  ",
};

struct ids {
    size_t n;
    int32_t id[12];
};

static const struct {
    const char *what, *model, *pre;
    bool lower;
    struct ids ids[TEXTS]; /* of each text */
} kinds[] = {
    { "sarvam-moe",
      "gpt2",
      "sarvam-moe",
      false,
      {
          { 2, { 265, 266 } },
          { 1, { 266 } },
          { 4, { 262, 266, 269, 266 } },
          { 3, { 268, 264, 265 } },
          { 3, { 260, 270, 261 } },
          { 5, { 260, 270, 264, 259, 261 } },
          { 8, { 123, 68, 198, 140, 269, 231, 187, 176 } },
          { 3, { 265, 274, 265 } },
          { 2, { 274, 266 } },
          { 2, { 269, 274 } },
          { 1, { 267 } },
      } },
    { "granite-embed-multi-311m",
      "gpt2",
      "granite-embed-multi-311m",
      false,
      {
          { 2, { 265, 266 } },
          { 1, { 266 } },
          { 4, { 262, 266, 269, 266 } },
          { 3, { 268, 264, 265 } },
          { 3, { 260, 270, 261 } },
          { 4, { 260, 273, 259, 261 } },
          { 8, { 123, 68, 198, 140, 269, 231, 187, 176 } },
          { 3, { 265, 274, 265 } },
          { 2, { 274, 266 } },
          { 2, { 269, 274 } },
          { 1, { 267 } },
      } },
    { "mmbert",
      "gpt2",
      "mmbert",
      false,
      {
          { 2, { 266, 266 } },
          { 1, { 266 } },
          { 6, { 259, 262, 266, 262, 259, 266 } },
          { 4, { 266, 262, 264, 266 } },
          { 4, { 271, 270, 259, 261 } },
          { 4, { 271, 273, 259, 261 } },
          { 10, { 259, 123, 68, 198, 140, 262, 259, 231, 187, 176 } },
          { 3, { 266, 274, 266 } },
          { 2, { 274, 266 } },
          { 4, { 259, 262, 259, 274 } },
          { 2, { 259, 259 } },
      } },
    { "whitespace",
      "whitespace",
      "whitespace",
      false,
      {
          { 2, { 265, 265 } },
          { 1, { 265 } },
          { 3, { 262, 268, 265 } },
          { 2, { 268, 265 } },
          { 2, { 260, 261 } },
          { 2, { 260, 261 } },
          { 8, { 123, 68, 198, 140, 262, 231, 187, 176 } },
          { 3, { 265, 274, 265 } },
          { 2, { 274, 265 } },
          { 2, { 262, 274 } },
          { 0, { 0 } },
      } },
    { "whitespace, lower",
      "whitespace",
      "whitespace",
      true,
      {
          { 2, { 265, 265 } },
          { 1, { 265 } },
          { 3, { 262, 268, 265 } },
          { 2, { 268, 265 } },
          { 2, { 260, 261 } },
          { 2, { 260, 261 } },
          { 6, { 123, 260, 272, 231, 187, 176 } },
          { 3, { 265, 274, 265 } },
          { 2, { 274, 265 } },
          { 2, { 262, 274 } },
          { 0, { 0 } },
      } },
};

static bool
encodes(const struct gg_vocab *v, const char *text, const struct ids *want)
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
covers(const struct gg_vocab *v, const char *text, const struct ids *ids)
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

    make_characters(&m, kinds[k].model, kinds[k].pre);
    gguf_set_val_bool(m.gguf, "tokenizer.ggml.normalizer.lowercase",
                      kinds[k].lower);
    ok(make_load(&m, &v, &err) == GG_OK && !gg_vocab_note(v), kinds[k].what);
    for (size_t i = 0; v && i < TEXTS; i++) {
        same = encodes(v, texts[i], &kinds[k].ids[i]) && same;
        covered = covers(v, texts[i], &kinds[k].ids[i]) && covered;
    }
    ok(v && same, "the ids of tokenizers");
    ok(v && covered, "and the parts of a text that they stand for");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
        test_kind(k);
    return tap_done();
}
