/* test_vocab_cut.c - texts that are cut give the ids of the whole, and what
 * each id stands for */
#include <config.h>

#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"
#include "fixtures/vocab_text.h"

enum {
    TEXT = 240,
    IDS = 2 * TEXT + 2,
    ROUNDS = 20,
};

/* Texts that rules, SentencePiece and special tokens treat in special ways. */
static const char *const pieces[] = {
    " ",
    " ",
    "  ",
    "   ",
    "\n",
    "\n",
    "\r\n",
    "\t",
    "a",
    "b",
    "ab",
    "hello",
    "World",
    "B",
    "AB",
    "1",
    "12",
    "345",
    "\xc2\xb2",
    "'",
    "'s",
    "'LL",
    "'",
    ".",
    "...",
    "!",
    "$",
    "`",
    "/",
    "_",
    "\x1c",
    "\xff",
    "\xe2\x96",
    "\xe2",
    "\xf0\x9f",
    "\xc3\xa9",
    "x",
    "</s>",
    "</",
    "<s>",
    "<",
    "<x>",
    "<x> y",
    "aaab",
    "<cc>",
    "<cc> ",
    "<unk>",
    "<|endof",
    "text|>",
    "\xe2\x96\x81",
    "\xe3\x80\x80",
    "\xe2\x80\x83",
    "\xe3\x80\x82",
    "\xe4\xbd\xa0",
    "\xe5\xa5\xbd",
    "\xe3\x81\x82",
    "\xd8\xa8",
    "\xd9\x8e",
    "\xcc\x81",
    "\xf0\x9f\x98\x80",
    "\xd0\xb0",
    "\xd0\x90",
};

/* Few different ones side by side in each text. */
static size_t
make_text(uint64_t *state, char *text)
{
    const char *some[6];
    size_t n = 0, k = 2 + text_below(state, 5);

    for (size_t i = 0; i < k; i++)
        some[i] = pieces[text_below(state, TEXT_COUNT(pieces))];
    while (n < TEXT - 20)
        n = text_append((uint8_t *)text, n, some[text_below(state, k)]);
    return n;
}

static size_t
encode(const struct gg_vocab *v, const char *text, size_t len, unsigned flags,
       int32_t *ids)
{
    size_t n = 0;

    if (encode_ids(v, text, len, flags, ids, IDS, &n, NULL) != GG_OK)
        n = 0;
    return n;
}

/* The ranges of a part of the text are those of the whole, from `at` on. */
static bool
same_ranges(const struct gg_vocab *v, const char *text, size_t at, size_t len,
            unsigned flags, const int32_t *ids, size_t n,
            const struct gg_range *whole)
{
    struct gg_range part[IDS];

    if (gg_vocab_offsets(v, text + at, len, flags, ids, n, part, NULL) != GG_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        if (part[i].begin + at != whole[i].begin ||
            part[i].end + at != whole[i].end)
            return false;
    return true;
}

/* Cut where gg_vocab_cut() says so for each beginning of the text. Returns how
 * many different cuts there were, or -1. */
static int
cuts_agree(const struct gg_vocab *v, const char *text, size_t len,
           unsigned flags)
{
    const unsigned on = flags | GG_ENCODE_CONTINUE;
    int32_t whole[IDS], parts[IDS];
    struct gg_range ranges[IDS];
    size_t n = encode(v, text, len, flags, whole), last = 0, k, first;
    int cuts = 0;

    if (gg_vocab_offsets(v, text, len, flags, whole, n, ranges, NULL) != GG_OK)
        return -1;

    for (size_t seen = 0; seen <= len; seen++) {
        size_t cut = gg_vocab_cut(v, text, seen, flags);

        if (cut > seen)
            return -1;
        if (cut == 0 || cut == last)
            continue;
        last = cut;
        cuts++;
        first = k = encode(v, text, cut, flags, parts);
        k += encode(v, text + cut, len - cut, on, parts + k);
        if (k != n || memcmp(parts, whole, n * sizeof(*whole)) != 0 ||
            !same_ranges(v, text, 0, cut, flags, whole, first, ranges) ||
            !same_ranges(v, text, cut, len - cut, on, whole + first, n - first,
                         ranges + first)) {
            printf("# %zu of %zu bytes, cut at %zu: ", seen, len, cut);
            for (size_t i = cut > 24 ? cut - 24 : 0; i < len && i < cut + 24;
                 i++)
                printf(i == cut ? "|%02x" : " %02x", (uint8_t)text[i]);
            putchar('\n');
            return -1;
        }
    }
    return cuts;
}

/* Each byte of the text is in one range, in order, but for what is skipped;
 * the bytes of a range are those of its id. */
static bool
ranges_agree(const struct gg_vocab *v, const char *text, size_t len,
             unsigned flags)
{
    struct gg_range ranges[IDS];
    int32_t ids[IDS];
    size_t n = encode(v, text, len, flags, ids), at = 0;

    if (gg_vocab_offsets(v, text, len, flags, ids, n, ranges, NULL) != GG_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct gg_range r = ranges[i];
        size_t bytes, k = r.end - r.begin;
        const char *p = (const char *)vocab_bytes(v, ids[i], &bytes);

        if ((i > 0 && v->types[ids[i - 1]] & VOCAB_STRIPS) ||
            v->types[ids[i]] & VOCAB_LEADS)
            at = r.begin;
        if (r.begin != at || r.end < r.begin || r.end > len)
            return false;
        at = r.end;
        if (ids[i] != v->unk && k == bytes && memcmp(p, text + r.begin, k) &&
            !memmem(text + r.begin, k, "\xe2\x96\x81", 3))
            return false;
        if (ids[i] != v->unk && k != bytes && k + 1 != bytes && at > 0 &&
            !memmem(text + r.begin, k, "\xe2\x96\x81", 3))
            return false;
    }
    return at == len || (n && v->types[ids[n - 1]] & VOCAB_STRIPS);
}

/* Ranges are in order and in the text, where a text is normalised, too. */
static bool
ranges_ascend(const struct gg_vocab *v, const char *text, size_t len,
              unsigned flags)
{
    struct gg_range ranges[IDS], last = { 0, 0 };
    int32_t ids[IDS];
    size_t n = encode(v, text, len, flags, ids);
    bool good =
        gg_vocab_offsets(v, text, len, flags, ids, n, ranges, NULL) == GG_OK;

    for (size_t i = 0; i < n && good; last = ranges[i++])
        good = ranges[i].begin <= ranges[i].end && ranges[i].end <= len &&
               ranges[i].begin >= last.begin && ranges[i].end >= last.end;
    return good;
}

static void
result(bool good, const char *what, const char *of)
{
    char name[200];

    snprintf(name, sizeof(name), "%s: %s", what, of);
    ok(good, name);
}

/* Each vocabulary and rule gets texts of its own. */
static void
test_vocab(const struct gg_vocab *v, const char *what)
{
    static uint64_t state = 7;
    char text[TEXT];
    bool same = v != NULL, ranged = same;
    int cuts = 0;

    for (int round = 0; round < ROUNDS && same && ranged; round++)
        for (unsigned flags = 0; flags <= GG_ENCODE_SPECIAL; flags += 2) {
            size_t len = make_text(&state, text);
            int32_t ids[IDS];
            int n;

            if (encode(v, text, len, flags, ids) == 0)
                continue; /* there is no token for some byte */
            n = cuts_agree(v, text, len, flags);

            same = same && n >= 0;
            cuts += n;
            ranged = ranged &&
                     (v->kind > VOCAB_SPM ? ranges_ascend
                                          : ranges_agree)(v, text, len, flags);
        }
    result(same, what, "cuts");
    result(!same || cuts > ROUNDS / 4, what, "there are some");
    result(ranged, what, "ranges");
}

/* A vocabulary that is ours, with each rule. */
static void
test_rules(struct gg_vocab *v, const char *what)
{
    const struct vocab_split_name before = { .rule = v->split,
                                             .group = v->group,
                                             .ends = v->ends };
    const struct vocab_split_name *done[32];
    const struct vocab_split_name *s;
    size_t n = 0;

    for (size_t i = 0; (s = vocab_split_name(i)); i++) {
        char name[200];
        bool seen = false;

        for (size_t k = 0; k < n; k++)
            seen = seen ||
                   (done[k]->rule == s->rule && done[k]->group == s->group);
        if (seen)
            continue;
        done[n++] = s;
        vocab_set_split(v, s);
        snprintf(name, sizeof(name), "%s, rule %s", what, s->name);
        test_vocab(v, name);
    }
    vocab_set_split(v, &before);
}

/* ---- vocabularies of ours ---- */

static void
make_kind(struct make *m, const char *model, const char *const *tokens,
          size_t n)
{
    memset(m, 0, sizeof(*m));
    make_token(m, "<unk>", GG_TOKEN_UNKNOWN, 0);
    make_token(m, "</s>", GG_TOKEN_CONTROL, 0);
    for (size_t i = 0; i < n; i++)
        make_token(m, tokens[i], GG_TOKEN_NORMAL, -1.0f - (float)i / 4);
    m->gguf = gguf_init_empty();
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", model);
    gguf_set_val_bool(m->gguf, "tokenizer.ggml.add_space_prefix", true);
    gguf_set_val_u32(m->gguf, "tokenizer.ggml.unknown_token_id", 0);
}

/* Byte-level BPE that merges what most rules would part. */
static void
make_across(struct make *m)
{
    static const char *const merges[] = {
        "b \xc4\xa0",
        "\xc4\xa0 a",
        "\xc4\xa0 \xc4\xa0",
        "x \xc4\xa0",
        "a \xc4\x8a",
        "1 2",
        "12 1",
        "5 1",
        "5 \xc4\xa0",
        "\xc4\xa0 1",
        "\xc4\xa0\xc4\xa0 \xc4\xa0\xc4\xa0",
        ". .",
        "I M",
        "A B",
    };

    make_bpe(m);
    for (size_t i = 0; i < TEXT_COUNT(merges); i++)
        make_merge(m, merges[i]);
}

static void
make_words(struct make *m)
{
    static const char *const tokens[] = {
        MARK "a",     MARK "b", MARK "ab", "a",
        "b",          MARK "'", MARK ".",  MARK "hello",
        MARK "world", MARK "1", "2",       MARK "\xe4\xbd\xa0",
        MARK "e",     MARK "<", MARK "s",  MARK ">",
    };

    make_kind(m, "bert", tokens, TEXT_COUNT(tokens));
}

static void
make_unigrams(struct make *m)
{
    static const char *const tokens[] = {
        MARK,    "a",       "b", "ab",    MARK "a", "ba",
        "hello", MARK "he", "o", "World", "." MARK, "\xe4\xbd\xa0",
        "x",     "1",       "2", "s",     MARK "x",
    };

    make_kind(m, "t5", tokens, TEXT_COUNT(tokens));
}

static void
make_squeezed(struct make *m)
{
    make_unigrams(m);
    gguf_set_val_bool(m->gguf, "tokenizer.ggml.remove_extra_whitespaces", true);
}

static void
add_special(struct make *m)
{
    make_token(m, "<x>", GG_TOKEN_USER_DEFINED, 0);
    make_token(m, "<x> y", GG_TOKEN_USER_DEFINED, 0);
    make_token(m, "aaab", GG_TOKEN_USER_DEFINED, 0);
    make_token(m, "<cc>", GG_TOKEN_CONTROL, 0);
}

static void
test_made(void (*make)(struct make *), const char *what, bool special)
{
    struct gg_vocab *v = NULL;
    struct make m;
    char name[100];
    int32_t strips; /* white space, on both sides */

    make(&m);
    if (special)
        add_special(&m);
    if (make_load(&m, &v, NULL) != GG_OK) {
        result(false, what, "loads");
        return;
    }
    snprintf(name, sizeof(name), "%s%s", what, special ? ", special" : "");
    strips = special ? gg_vocab_find(v, "<cc>", 4) : -1;
    if (strips >= 0)
        v->types[strips] |= VOCAB_STRIPS | VOCAB_LEADS;
    v->takes_space = strips >= 0;
    if (v->kind == VOCAB_BPE)
        test_rules(v, name);
    else
        test_vocab(v, name);
    gg_vocab_free(v);
    make_free(&m);
}

static void
test_files(const char *folder)
{
    static const char *const names[] = { "gpt-2", "falcon", "deepseek-llm",
                                         "llama-spm", "bert-bge" };

    for (size_t i = 0; i < TEXT_COUNT(names); i++) {
        struct gg_vocab *v = NULL;
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s.gguf", folder, names[i]);
        if (gg_vocab_open(path, &v, NULL) != GG_OK)
            v = NULL;
        test_vocab(v, names[i]);
        if (i == 0 && v)
            test_rules(v, names[i]);
        gg_vocab_free(v);
    }
}

static void
test_control(void)
{
    struct gg_vocab *v = NULL;
    struct make m;
    size_t at = 0;

    make_bpe(&m);
    add_special(&m);
    ok(make_load(&m, &v, NULL) == GG_OK, "loads");
    is(gg_vocab_find_control(v, "a<x>b<cc", 8, &at), -1,
       "no control token in a text");
    ok(gg_vocab_find_control(v, "a<x>b<cc>", 9, &at) ==
               gg_vocab_find(v, "<cc>", 4) &&
           at == 5,
       "the first one");
    gg_vocab_free(v);
    make_free(&m);
}

/* Tokens that are no part of the text have empty ranges. */
static void
test_added(void)
{
    static const struct gg_range want[] = {
        { 0, 0 }, { 0, 1 }, { 1, 4 }, { 4, 6 }, { 6, 6 }
    };
    const unsigned flags = GG_ENCODE_BOS | GG_ENCODE_EOS;
    struct gg_range ranges[8];
    struct gg_vocab *v = NULL;
    struct make m;
    int32_t ids[8];
    size_t n = 0;

    make_spm(&m);
    ok(make_load(&m, &v, NULL) == GG_OK, "loads");
    v->bos = gg_vocab_find(v, "<s>", 3);
    v->eos = gg_vocab_find(v, "</s>", 4);
    ok(encode_ids(v, "a\xe2\x96\x81\xc3\xa9", 6, flags, ids, 8, &n, NULL) ==
               GG_OK &&
           n == 5 &&
           gg_vocab_offsets(v, "a\xe2\x96\x81\xc3\xa9", 6, flags, ids, n,
                            ranges, NULL) == GG_OK &&
           memcmp(ranges, want, sizeof(want)) == 0,
       "BOS, a blank that was added, a mark for one, EOS");
    ok(gg_vocab_offsets(v, "ab", 2, 0, ids, n, ranges, NULL) == GG_ERR_ARG,
       "ids of another text");
    gg_vocab_free(v);
    make_free(&m);
}

/* "id begin end" of each, as in --offsets, but for the ids the tokens. */
static bool
are(const struct gg_vocab *v, const char *text, size_t len, unsigned flags,
    const char *want)
{
    char got[1000] = "";
    struct gg_range ranges[IDS];
    int32_t ids[IDS];
    size_t n = encode(v, text, len, flags, ids), used = 0, k;

    if (gg_vocab_offsets(v, text, len, flags, ids, n, ranges, NULL) != GG_OK)
        return false;
    for (size_t i = 0; i < n; i++) {
        const char *token = gg_vocab_token(v, ids[i], &k);

        used +=
            (size_t)snprintf(got + used, sizeof(got) - used, "%.*s %zu %zu|",
                             (int)k, token, ranges[i].begin, ranges[i].end);
    }
    if (strcmp(got, want) != 0)
        printf("# %s\n", got);
    return strcmp(got, want) == 0;
}

static bool
stand_for(const struct gg_vocab *v, const char *text, const char *want)
{
    return are(v, text, strlen(text), 0, want);
}

static void
test_wordpiece(void)
{
    struct gg_vocab *v = NULL;
    char many[102] = "";
    struct make m;

    make_wpm(&m);
    ok(make_load(&m, &v, NULL) == GG_OK, "WordPiece loads");
    ok(stand_for(v, "H\xc3\x89LLO  he\xcc\x81llo\xcc\x81",
                 MARK "hello 0 6|" MARK "hello 8 15|"),
       "accents are within a word, not behind it");
    ok(stand_for(v, "\x01\x61\x01\x62\x01,\xff",
                 MARK "a 1 2|b 3 4|" MARK ", 5 6|"),
       "so are control characters");
    ok(stand_for(v, "a \xed\x95\x9c",
                 MARK "a 0 1|" MARK "\xe1\x84\x92 2 5|\xe1\x85\xa1 2 5|"
                      "\xe1\x86\xab 2 5|"),
       "what becomes several pieces is the range of each");
    ok(stand_for(v, "q\xcc\x81q\xcc\x81 a\xe4\xb8\xad",
                 "[UNK] 0 4|" MARK "a 7 8|" MARK "\xe4\xb8\xad 8 11|"),
       "a word that is unknown; Chinese");
    ok(are(v, "a[SEP]<user>b", 13,
           GG_ENCODE_BOS | GG_ENCODE_EOS | GG_ENCODE_SPECIAL,
           "[CLS] 0 0|" MARK "a 0 1|[SEP] 1 6|<user> 6 12|" MARK
           "b 12 13|[SEP] 13 13|"),
       "special tokens");
    memset(many, 'a', 101);
    ok(stand_for(v, many, "[UNK] 0 101|"), "a word of 101 characters");
    gg_vocab_free(v);
    make_free(&m);
}

static void
test_unigram(void)
{
    struct gg_vocab *v = NULL;
    struct make m;

    make_ugm(&m);
    ok(make_load(&m, &v, NULL) == GG_OK, "Unigram loads");
    ok(stand_for(v, "A\t\xef\xac\x81  b",
                 MARK "a 0 1|" MARK " 1 2|f 2 5|i 2 5|" MARK MARK
                      " 5 7|b 7 8|"),
       "what a character becomes has its range; blanks have theirs");
    ok(stand_for(v, "qq\xff" MARK "a", MARK " 0 0|<unk> 0 3|" MARK "a 3 7|"),
       "a blank that is added has none; a run of unknown characters");
    ok(stand_for(v, "\xc3\xa9\xff\xc3", MARK " 0 0|\xc3\xa9 0 2|<unk> 2 4|"),
       "broken bytes");
    ok(are(v, "a<user>ab</s>", 13, GG_ENCODE_SPECIAL | GG_ENCODE_EOS,
           MARK "a 0 1|<user> 1 7|ab 7 9|</s> 9 13|</s> 13 13|"),
       "special tokens");
    gg_vocab_free(v);
    gguf_set_val_bool(m.gguf, "tokenizer.ggml.remove_extra_whitespaces", true);
    ok(make_load(&m, &v, NULL) == GG_OK &&
           stand_for(v, "  ab \t a  ", MARK "ab 1 4|" MARK "a 6 8|"),
       "of blanks that become one the last counts");
    gg_vocab_free(v);
    make_free(&m);
}

int
main(void)
{
    const char *folder = getenv("GG_TEST_VOCAB");

    for (int special = 0; special < 2; special++) {
        test_made(make_bpe, "BPE", special);
        test_made(make_across, "BPE across words", special);
        test_made(make_spm, "SentencePiece", special);
        test_made(make_wpm, "WordPiece", special);
        test_made(make_words, "WordPiece of other words", special);
        test_made(make_ugm, "Unigram as SentencePiece is", special);
        test_made(make_world, "RWKV's", special);
        test_made(make_unigrams, "Unigram", special);
        test_made(make_squeezed, "Unigram, blanks squeezed", special);
    }
    test_control();
    test_added();
    test_wordpiece();
    test_unigram();
    if (folder && *folder)
        test_files(folder);
    else
        printf("# GG_TEST_VOCAB is not set\n");
    return tap_done();
}
