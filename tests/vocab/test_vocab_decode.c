/* test_vocab_decode.c - many ids to bytes at once: as one by one, wherever the
 * buffer ends */
#include <config.h>

#include <stdio.h>

#include "harness/tap.h"
#include "fixtures/vocab_make.h"

enum {
    N_IDS = 60,
    ROUNDS = 200,
    CAP = 1 << 20,
};

static struct gg_vocab *vocab;
static unsigned flags;

static bool
same_state(const struct gg_decode_state *a, const struct gg_decode_state *b)
{
    return a->no_bos == b->no_bos && a->started == b->started &&
           a->drop_blank == b->drop_blank;
}

/* The bytes one id at a time, each in memory of just its size, so that a
 * sanitizer sees what goes beyond. Returns their number. */
static size_t
one_by_one(struct gg_decode_state *state, const int32_t *ids, size_t n,
           char *out)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++) {
        size_t need = 0, got = 0;
        char *p;

        if (gg_vocab_decode(vocab, state, ids[i], flags, NULL, 0, &need,
                            NULL) != GG_OK)
            return 0;
        p = malloc(need);
        if (need && gg_vocab_decode(vocab, state, ids[i], flags, p, need, &got,
                                    NULL) != GG_OK)
            return 0;
        if (got != need)
            return 0;
        memcpy(out + len, p ? p : "", need);
        len += need;
        free(p);
    }
    return len;
}

/* Decodes to buffers of `cap` bytes; of more where one id needs it. */
static size_t
in_rooms(struct gg_decode_state *state, const int32_t *ids, size_t n,
         size_t cap, char *out)
{
    size_t i = 0, total = 0, room = cap;

    while (i < n) {
        struct gg_decode_state before = *state;
        char *p = malloc(room);
        size_t done, len;

        if (gg_vocab_decode_ids(vocab, state, ids + i, n - i, flags, p, room,
                                &done, &len, NULL) != GG_OK)
            return 0;
        if (done == 0 && (len <= room || !same_state(&before, state)))
            return 0;
        if (done && len > room)
            return 0;
        if (done && len)
            memcpy(out + total, p, len);
        free(p);
        total += done ? len : 0;
        room = done ? cap : len;
        i += done;
    }
    return total;
}

static bool
rooms_agree(const int32_t *ids, size_t n, bool no_bos, size_t step)
{
    static char want[CAP], got[CAP];
    const struct gg_decode_state start = { .no_bos = no_bos };
    struct gg_decode_state end = start, state;
    size_t len = one_by_one(&end, ids, n, want);

    for (size_t cap = 0; cap <= len + 20; cap += step) {
        state = start;
        memset(got, '#', len);
        if (in_rooms(&state, ids, n, cap, got) != len ||
            memcmp(got, want, len) != 0 || !same_state(&state, &end)) {
            printf("# rooms of %zu bytes, text of %zu\n", cap, len);
            return false;
        }
    }
    return true;
}

static void
fill(int32_t *ids, size_t n, uint64_t *random)
{
    for (size_t i = 0; i < n; i++)
        ids[i] = (int32_t)(make_random(random) % (uint32_t)vocab->n);
    /* Often, how a sequence really begins. */
    if (make_random(random) % 2 && gg_vocab_bos(vocab) >= 0)
        ids[0] = gg_vocab_bos(vocab);
}

/* Pieces about as long as what is copied at once, empty ones, long ones. */
static void
add_odd(struct make *m)
{
    static const enum gg_token_type types[] = { GG_TOKEN_NORMAL,
                                                GG_TOKEN_USER_DEFINED,
                                                GG_TOKEN_CONTROL,
                                                GG_TOKEN_UNUSED };
    static const size_t lengths[] = { 15, 16, 17, 31, 600 };
    char text[601];

    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
        for (size_t k = 0; k < 4; k++) {
            memset(text, (char)('A' + k + 4 * i), lengths[i]);
            text[lengths[i]] = '\0';
            make_token(m, text, types[k], -30);
        }
    make_token(m, "", GG_TOKEN_NORMAL, -30);
    make_token(m, "", GG_TOKEN_USER_DEFINED, -30);
    make_token(m, MARK ",", GG_TOKEN_NORMAL, -30);
    make_token(m, MARK ".", GG_TOKEN_CONTROL, -30);
    make_token(m, MARK MARK "x", GG_TOKEN_USER_DEFINED, -30);
}

static void
test_kind(void (*maker)(struct make *m), const char *name)
{
    char title[80];
    struct make m;
    int32_t ids[N_IDS];
    uint64_t random = 7;
    bool good = true;

    maker(&m);
    add_odd(&m);
    if (m.n_merges == 0) /* SPM's <s>; others: some control token */
        gguf_set_val_u32(m.gguf, "tokenizer.ggml.bos_token_id", 1);
    snprintf(title, sizeof(title), "%s loads", name);
    ok(make_load(&m, &vocab, NULL) == GG_OK, title);
    for (int i = 0; vocab && good && i < ROUNDS; i++) {
        size_t n = 1 + make_random(&random) % N_IDS;

        flags = i % 2 ? GG_DECODE_SPECIAL : 0;
        fill(ids, n, &random);
        /* Every place in some of the texts. */
        good = rooms_agree(ids, n, i / 2 % 2, i < 8 ? 1 : 97);
    }
    snprintf(title, sizeof(title), "%s: as one by one", name);
    ok(vocab && good, title);
    gg_vocab_free(vocab);
    vocab = NULL;
    make_free(&m);
}

/* Blanks that a sequence begins with: dropped, or not yet. */
static void
test_begin(void)
{
    struct make m;
    int32_t blank, ids[5];
    char text[64];
    struct gg_decode_state state = { 0 };
    size_t done = 0, len = 0;

    make_spm(&m);
    gguf_set_val_u32(m.gguf, "tokenizer.ggml.bos_token_id", 1);
    ok(make_load(&m, &vocab, NULL) == GG_OK, "SentencePiece loads");
    blank = gg_vocab_find(vocab, MARK "a", 4);
    memcpy(ids, (const int32_t[]){ 1, 2, blank, blank, 1 }, sizeof(ids));
    ok(gg_vocab_decode_ids(vocab, &state, ids, 5, 0, text, sizeof(text), &done,
                           &len, NULL) == GG_OK &&
           done == 5 && len == 3 && memcmp(text, "a a", 3) == 0,
       "one blank is dropped behind BOS and what does not show");
    state = (struct gg_decode_state){ 0 };
    ok(gg_vocab_decode_ids(vocab, &state, ids + 2, 2, 0, text, sizeof(text),
                           &done, &len, NULL) == GG_OK &&
           done == 2 && len == 4 && memcmp(text, " a a", 4) == 0,
       "none without BOS");
    state = (struct gg_decode_state){ .no_bos = true };
    ok(gg_vocab_decode_ids(vocab, &state, ids + 2, 2, 0, text, 1, &done, &len,
                           NULL) == GG_OK &&
           done == 1 && len == 1 && text[0] == 'a',
       "but where the caller says so, in as little room as that takes");
    gg_vocab_free(vocab);
    make_free(&m);
}

static void
test_bad(void)
{
    int32_t ids[] = { 'a', 'b', -1, 'c' };
    struct gg_decode_state state = { 0 }, before;
    struct gg_error err = { "" };
    struct make m;
    char text[64];
    size_t done = 9, len = 9;

    make_bpe(&m);
    ok(make_load(&m, &vocab, NULL) == GG_OK, "BPE loads");
    ok(gg_vocab_decode_ids(vocab, &state, ids, 0, 0, NULL, 0, &done, &len,
                           NULL) == GG_OK &&
           done == 0 && len == 0 && !state.started,
       "no ids, no bytes");
    ok(gg_vocab_decode_ids(vocab, &state, ids, 4, 0, text, sizeof(text), &done,
                           &len, NULL) == GG_OK &&
           done == 2 && len == 2,
       "the ids in front of one that is none");
    before = state;
    ok(gg_vocab_decode_ids(vocab, &state, ids + 2, 2, 0, text, sizeof(text),
                           &done, &len, &err) == GG_ERR_FORMAT &&
           strstr(err.message, "-1") && done == 2 && len == 2 &&
           same_state(&before, &state),
       "where it is the first, that is an error, and nothing is set");
    ids[2] = vocab->n;
    ok(gg_vocab_decode_ids(vocab, &state, ids, 4, 0, text, sizeof(text), &done,
                           &len, NULL) == GG_OK &&
           done == 2,
       "one behind the last is none, too");
    ids[0] = INT32_MAX;
    ok(gg_vocab_decode_ids(vocab, &state, ids, 4, 0, NULL, 0, &done, &len,
                           NULL) == GG_ERR_FORMAT,
       "nor is the largest number");
    gg_vocab_free(vocab);
    make_free(&m);
}

int
main(void)
{
    test_kind(make_bpe, "BPE");
    test_kind(make_spm, "SentencePiece");
    test_kind(make_wpm, "WordPiece");
    test_kind(make_ugm, "Unigram");
    test_kind(make_world, "RWKV's");
    test_begin();
    test_bad();
    return tap_done();
}
