/* test_vocab_ranked.c - Gemma 4's kind of vocabulary: characters merged by the
 * ranks of pairs, lines apart; against merging done in the plainest way */
#include "harness/encode.h"
#include "harness/tap.h"
#include "fixtures/vocab_make.h"

enum {
    MAX = 64
};

static struct gg_error err;

/* Has the tokens of make_spm(), and ends of lines. The order of the merges
 * goes against that of the scores. */
static void
make_ranked(struct make *m)
{
    static const char *const merges[] = {
        "c c",  MARK " " MARK, MARK " a",    "a b",      "b a",      "b c",
        "cc c", "ab ab",       "b \xc3\xa9", MARK "a b", MARK " ab", "c cc",
    };

    make_spm(m);
    make_token(m, "\n", GG_TOKEN_NORMAL, 0);
    make_token(m, "\n\n\n", GG_TOKEN_NORMAL, 0);
    for (size_t i = 0; i < sizeof(merges) / sizeof(merges[0]); i++)
        m->merges[m->n_merges++] = merges[i];
    gguf_set_val_str(m->gguf, "tokenizer.ggml.model", "gemma4");
}

/* ---- the plainest way ---------------------------------------------------- */

struct part {
    char text[MAX];
};

static int
rank_of(const struct make *m, const struct part *a, const struct part *b)
{
    char pair[2 * MAX + 2];

    snprintf(pair, sizeof(pair), "%s %s", a->text, b->text);
    for (size_t i = 0; i < m->n_merges; i++)
        if (strcmp(m->merges[i], pair) == 0)
            return (int)i;
    return -1;
}

static int32_t
token(const struct make *m, const char *text)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->types[i] != GG_TOKEN_BYTE && strcmp(m->tokens[i], text) == 0)
            return (int32_t)i;
    return -1;
}

static size_t
put(const struct make *m, const char *text, int32_t *ids)
{
    int32_t id = token(m, text);
    size_t n = 0;

    if (id >= 0) {
        ids[0] = id;
        return 1;
    }
    for (; *text; text++) /* the byte tokens come after three others */
        ids[n++] = 3 + (uint8_t)*text;
    return n;
}

/* A line without its end, blanks written as marks. */
static size_t
merge_line(const struct make *m, const char *line, size_t len, int32_t *ids)
{
    static struct part parts[256];
    size_t n = 0, n_ids = 0;

    for (size_t i = 0; i < len;) {
        size_t k = 1;

        while (i + k < len && ((uint8_t)line[i + k] & 0xc0) == 0x80)
            k++;
        if (line[i] == ' ')
            strcpy(parts[n].text, MARK);
        else
            snprintf(parts[n].text, MAX, "%.*s", (int)k, line + i);
        n++;
        i += k;
    }
    for (;;) {
        struct part joined;
        int best = -1, rank;
        size_t at = 0;

        for (size_t i = 0; i + 1 < n; i++) {
            rank = rank_of(m, &parts[i], &parts[i + 1]);
            if (rank >= 0 && (best < 0 || rank < best)) {
                best = rank;
                at = i;
            }
        }
        if (best < 0)
            break;
        snprintf(joined.text, MAX, "%.*s%.*s", MAX / 2, parts[at].text,
                 MAX / 2 - 1, parts[at + 1].text);
        parts[at] = joined;
        memmove(&parts[at + 1], &parts[at + 2],
                (n - at - 2) * sizeof(parts[0]));
        n--;
    }
    for (size_t i = 0; i < n; i++)
        n_ids += put(m, parts[i].text, ids + n_ids);
    return n_ids;
}

static size_t
plainly(const struct make *m, const char *text, int32_t *ids)
{
    size_t n = 0;

    while (*text) {
        size_t ends = strspn(text, "\n"), line = strcspn(text, "\n");
        char run[MAX];

        if (!ends) {
            n += merge_line(m, text, line, ids + n);
            text += line;
            continue;
        }
        snprintf(run, sizeof(run), "%.*s", (int)ends, text);
        if (token(m, run) >= 0)
            n += put(m, run, ids + n);
        else
            for (size_t i = 0; i < ends; i++)
                n += put(m, "\n", ids + n);
        text += ends;
    }
    return n;
}

/* ------------------------------------------------------------------------- */

static size_t
encode(const struct gg_vocab *v, const char *text, int32_t *ids)
{
    size_t n = 0;

    if (encode_ids(v, text, strlen(text), 0, ids, 1024, &n, &err) != GG_OK)
        return 0;
    return n;
}

static void
test_random(const struct make *m, const struct gg_vocab *v)
{
    static const char *const pieces[] = {
        "a", "b",  "c",        " ", "a", "b",
        "c", "\n", "\xc3\xa9", " ", "x", "\xe4\xb8\xad"
    };
    int32_t want[1024], got[1024];
    uint64_t state = 7;
    bool same = true, back = true;

    for (int i = 0; i < 20000 && same; i++) {
        struct gg_decode_state decode = { 0 };
        char text[256] = "", out[512];
        size_t n, len = 0, done = 0;

        for (uint32_t k = make_random(&state) % 40; k-- > 0;)
            strcat(text, pieces[make_random(&state) % 12]);
        n = encode(v, text, got);
        same = n == plainly(m, text, want) &&
               memcmp(want, got, n * sizeof(*got)) == 0;
        if (!same)
            printf("# %s\n", text);
        back = back &&
               gg_vocab_decode_ids(v, &decode, got, n, 0, out, sizeof(out),
                                   &done, &len, &err) == GG_OK &&
               done == n && len == strlen(text) && !memcmp(out, text, len);
    }
    ok(same, "random texts give the ids of merging in the plainest way");
    ok(back, "and come back from them");
}

static void
test_bytes(const struct gg_vocab *v)
{
    int32_t ids[1024];
    size_t n = encode(v, "\xff", ids);

    ok(n == 1 && ids[0] == 3 + 0xff, "a byte that is no character");
    n = encode(v, "\n\n", ids);
    ok(n == 2 && ids[0] == ids[1], "ends of lines that are no token");
    n = encode(v, "\n\n\n", ids);
    is(n, 1, "and those that are");
    n = encode(v, "", ids);
    is(n, 0, "no text");
    is(encode(v, "a", ids), 1, "no blank goes in front");
}

static void
test_refused(void)
{
    struct make m;

    make_ranked(&m);
    m.merges[0] = "c x";
    make_lists(&m);
    ok(make_fails(&m, GG_ERR_FORMAT, "merge 0"), "a merge that makes no token");
    make_ranked(&m);
    m.n_merges = 0; /* writes scores in their place */
    make_lists(&m);
    ok(make_fails(&m, GG_ERR_FORMAT, "merges"), "no merges");
}

int
main(void)
{
    struct make m;
    struct gg_vocab *v = NULL;

    make_ranked(&m);
    if (make_load(&m, &v, &err) != GG_OK) {
        printf("Bail out! %s\n", err.message);
        return 99;
    }
    test_random(&m, v);
    test_bytes(v);
    gg_vocab_free(v);
    make_free(&m);
    test_refused();
    return tap_done();
}
