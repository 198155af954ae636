/* test_vocab_characters.c - vocabularies "gpt2" and "whitespace" that merge
 * characters by rank: by the name of tokenizer.ggml.pre
 *
 * The ids are what characters_golden.py prints, and tokenizers 0.23.3 of texts
 * with a mask and with longer runs of lines. */
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
encodes_with(const struct gg_vocab *v, unsigned flags, const char *text,
             const struct characters_ids *want)
{
    int32_t got[CAP];
    size_t n = 0;
    bool same =
        encode_ids(v, text, strlen(text), flags, got, CAP, &n, &err) == GG_OK &&
        n == want->n && !memcmp(got, want->id, n * sizeof(*got));

    for (size_t i = 0; i < n && !same; i++)
        printf("# %s: %d\n", text, got[i]);
    return same;
}

static bool
encodes(const struct gg_vocab *v, const char *text,
        const struct characters_ids *want)
{
    return encodes_with(v, 0, text, want);
}

/* Ranges of the ids cover the text but for white space, in order. */
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

/* Ends of lines that are found in the text before merging, and that merges
 * name, too. */
static void
test_user_lines(size_t k, const struct characters_ids *longest)
{
    static const int32_t ends[] = { 264, 270, 273 };
    struct make m;
    struct gg_vocab *v = NULL;
    bool same = true;

    make_characters(&m, characters_kinds[k].model, characters_kinds[k].pre);
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        m.types[ends[i]] = GG_TOKEN_USER_DEFINED;
    ok(make_load(&m, &v, &err) == GG_OK && !gg_vocab_note(v),
       "merges that name what the user defined");
    for (size_t i = 0; v && i < CHARACTERS_TEXTS; i++)
        same = encodes(v, characters_texts[i], &characters_kinds[k].ids[i]) &&
               same;
    ok(v && same, "the ids of tokenizers");
    ok(v && encodes(v, "a\n\n\n\n\n\n\n\nb", longest),
       "of a long run the longest first");
    gg_vocab_free(v);
    make_free(&m);
}

/* Merges that name a control token do nothing. */
static void
test_control(void)
{
    static const struct characters_ids apart = { 5,
                                                 { 271, 264, 264, 259, 261 } };
    struct make m;
    struct gg_vocab *v = NULL;

    make_characters(&m, "gpt2", "mmbert");
    m.types[270] = GG_TOKEN_CONTROL;
    ok(make_load(&m, &v, &err) == GG_OK, "a merge that makes a control token");
    ok(v && encodes(v, "a\n\nb", &apart), "does not make it");
    gg_vocab_free(v);
    make_free(&m);
}

static bool
spans(const struct gg_vocab *v, const char *text, const int32_t *ids, size_t n,
      const struct gg_range *want)
{
    struct gg_range got[CAP];
    bool same = gg_vocab_offsets(v, text, strlen(text), GG_ENCODE_SPECIAL, ids,
                                 n, got, &err) == GG_OK;

    for (size_t i = 0; same && i < n; i++)
        same = got[i].begin == want[i].begin && got[i].end == want[i].end;
    return same;
}

static void
test_mask(void)
{
    static const struct {
        const char *text;
        struct characters_ids ids;
    } texts[] = {
        { "ab  <mask> ab", { 3, { 266, 275, 266 } } },
        { "ab \n <mask>", { 4, { 266, 259, 264, 275 } } },
        { "<mask><mask>", { 2, { 275, 275 } } },
        { " \t\xc2\xa0<mask>b", { 3, { 275, 259, 261 } } },
        { "a<user> <mask>", { 3, { 271, 274, 275 } } },
        { "\n<mask>", { 2, { 264, 275 } } },
    };
    static const struct gg_range want[] = { { 0, 2 }, { 4, 10 }, { 10, 13 } };
    struct make m;
    struct gg_vocab *v = NULL;
    bool same = true;

    make_characters(&m, "gpt2", "mmbert");
    m.types[264] = GG_TOKEN_USER_DEFINED;
    make_token(&m, "<mask>", GG_TOKEN_CONTROL, 0);
    ok(make_load(&m, &v, &err) == GG_OK, "a mask");
    for (size_t i = 0; v && i < sizeof(texts) / sizeof(*texts); i++)
        same =
            encodes_with(v, GG_ENCODE_SPECIAL, texts[i].text, &texts[i].ids) &&
            same;
    ok(v && same, "it takes the white space before it");
    ok(v && spans(v, texts[0].text, texts[0].ids.id, 3, want),
       "which stands for nothing");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    static const struct characters_ids granite = {
        5, { 260, 273, 273, 270, 261 }
    };
    static const struct characters_ids mmbert = {
        6, { 271, 273, 273, 270, 259, 261 }
    };

    for (size_t k = 0; k < CHARACTERS_KINDS; k++)
        test_kind(k);
    test_user_lines(1, &granite);
    test_user_lines(2, &mmbert);
    test_control();
    test_mask();
    return tap_done();
}
