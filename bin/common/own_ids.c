/* own_ids.c - whether ids that are read are those of the model's vocabulary */
#include <config.h>

#include "common/own_ids.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/utf8.h"

enum {
    LEAST = 16,   /* ids: of fewer nothing is known */
    STRETCH = 16, /* ids that come back together, or do not; of few ids fewer */
    STRETCHES = 4,
    ODD = 2, /* ids of an own text that may not: where it was cut */
    PIECE = 1 << 16,
};

/* A text that ids stand for, and where each of them ends in it. */
struct text {
    char *bytes;
    size_t len, cap;
    const int32_t *ids;
    size_t ends[OWN_IDS_SEEN], n;
};

/* The result for all ids so far. */
struct found {
    bool back[OWN_IDS_SEEN];
    bool whole[OWN_IDS_SEEN]; /* its bytes are whole characters */
    size_t n;
};

/* ---- ids to text --------------------------------------------------------- */

static bool
is_text(const struct gg_vocab *vocab, int32_t id)
{
    enum gg_token_type type = gg_vocab_type(vocab, id);

    return type == GG_TOKEN_NORMAL || type == GG_TOKEN_USER_DEFINED ||
           type == GG_TOKEN_BYTE;
}

/* False: a token that is too long for a text. */
static bool
add_id(struct text *t, const struct gg_vocab *vocab,
       struct gg_decode_state *state, int32_t id)
{
    size_t n;

    if (t->cap - t->len < PIECE)
        t->bytes = cli_alloc(t->bytes, t->cap = 2 * t->cap + PIECE, 1);
    if (gg_vocab_decode(vocab, state, id, 0, t->bytes + t->len, PIECE, &n,
                        NULL) != GG_OK ||
        n > PIECE)
        return false;
    t->len += n;
    t->ends[t->n++] = t->len;
    return true;
}

/* ---- and back ------------------------------------------------------------ */

/* Ids of the text that end where the same one did. */
static void
compare_ids(const struct text *t, const int32_t *ids,
            const struct gg_range *ranges, size_t n, bool *back)
{
    size_t k = 0;

    for (size_t i = 0; i < t->n; i++) {
        while (k < n && ranges[k].end < t->ends[i])
            k++;
        back[i] = false;
        for (size_t j = k; j < n && ranges[j].end == t->ends[i]; j++)
            back[i] |= ids[j] == t->ids[i];
    }
}

/* False: the text has no ids that can be compared. */
static bool
encode_text(const struct text *t, const struct gg_vocab *vocab, unsigned flags,
            bool *back)
{
    size_t cap = 2 * t->len + 8;
    int32_t *ids = cli_alloc(NULL, cap, sizeof(*ids));
    struct gg_range *ranges = cli_alloc(NULL, cap, sizeof(*ranges));
    struct gg_encoded got;
    bool done = gg_vocab_encode(vocab, t->bytes, t->len, flags, ids, cap, &got,
                                NULL) == GG_OK &&
                got.n <= cap &&
                gg_vocab_offsets(vocab, t->bytes, t->len, flags, ids, got.n,
                                 ranges, NULL) == GG_OK;

    if (done)
        compare_ids(t, ids, ranges, got.n, back);
    free(ids);
    free(ranges);
    return done;
}

/* Which ids have no part of a byte sequence that is no UTF-8. */
static void
mark_whole(const struct text *t, bool *whole)
{
    size_t i = 0;

    memset(whole, true, t->n * sizeof(*whole));
    for (size_t at = 0; at < t->len && i < t->n;) {
        bool valid;
        size_t n = utf8_next(t->bytes + at, t->len - at, &valid);

        if (n == 0)
            break; /* cut off */
        while (i < t->n && t->ends[i] <= at)
            i++;
        for (size_t k = i; !valid && k < t->n; k++) {
            whole[k] = false;
            if (t->ends[k] >= at + n)
                break;
        }
        at += n;
    }
}

static size_t
count_true(const bool *p, size_t n)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += p[i];
    return count;
}

/* The ids of a text, by the rule that brings more of them back. */
static void
try_text(const struct text *t, const struct gg_vocab *vocab, unsigned flags,
         struct found *f)
{
    bool *back = f->back + f->n, greedy[OWN_IDS_SEEN];

    if (t->n == 0 || !encode_text(t, vocab, flags, back))
        return;
    if (count_true(back, t->n) < t->n &&
        encode_text(t, vocab, flags | GG_ENCODE_GREEDY, greedy) &&
        count_true(greedy, t->n) > count_true(back, t->n))
        memcpy(back, greedy, t->n * sizeof(*back));
    mark_whole(t, f->whole + f->n);
    f->n += t->n;
}

/* ids[0..n) of one sequence: texts between control tokens. */
static void
try_sequence(const struct gg_vocab *vocab, const int32_t *ids, size_t n,
             struct found *f)
{
    struct text *t = cli_alloc(NULL, 1, sizeof(*t));
    struct gg_decode_state state = { .no_bos = ids[0] != gg_vocab_bos(vocab) };
    unsigned flags = 0;

    *t = (struct text){ .ids = ids };
    for (size_t i = 0; i < n; i++) {
        if (is_text(vocab, ids[i]) && add_id(t, vocab, &state, ids[i]))
            continue;
        try_text(t, vocab, flags, f);
        flags = GG_ENCODE_CONTINUE;
        t->n = t->len = 0;
        t->ids = ids + i + 1;
    }
    try_text(t, vocab, flags, f);
    free(t->bytes);
    free(t);
}

/* ---- what is found ------------------------------------------------------- */

/* Ids that somebody has counted up are no text. */
static bool
are_counted(const struct own_ids *o)
{
    size_t n = 0;

    for (size_t i = 1; i < o->n; i++)
        n += o->ids[i] == o->ids[i - 1] + 1;
    return 2 * n > o->n;
}

/* An own text comes back but for its ends, whatever its bytes are. */
static bool
looks_foreign(const struct found *f)
{
    size_t length = f->n / STRETCHES, n = 0, broken = 0;

    if (f->n < LEAST || f->n - count_true(f->back, f->n) <= ODD)
        return false;
    if (length > STRETCH)
        length = STRETCH;
    for (size_t i = 0; i + length <= f->n; i += length, n++) {
        bool good = true;

        for (size_t k = i; k < i + length; k++)
            good = good && f->back[k] && f->whole[k];
        broken += !good;
    }
    return broken >= STRETCHES && 2 * broken > n;
}

bool
own_ids_look_foreign(const struct own_ids *o)
{
    struct found *f = cli_alloc(NULL, 1, sizeof(*f));
    size_t end;
    bool foreign;

    f->n = 0;
    for (size_t i = 0; i < o->n; i = end + 1) {
        for (end = i; end < o->n && o->ids[end] >= 0; end++)
            ;
        if (end > i)
            try_sequence(o->vocab, o->ids + i, end - i, f);
    }
    foreign = looks_foreign(f) && !are_counted(o);
    free(f);
    return foreign;
}

static void
judge(struct own_ids *o)
{
    if (own_ids_look_foreign(o))
        cli_warn("%s: the ids look like those of another vocabulary than "
                 "that of %s: gg-tokenize takes the same -m, or $GG_MODEL",
                 o->input, o->model);
    o->model = NULL;
}

void
own_ids_start(struct own_ids *o, const struct gg_vocab *vocab,
              const char *input, const char *model, bool quiet)
{
    o->vocab = vocab;
    o->input = input;
    o->model = quiet ? NULL : model;
    o->sequence = 0;
    o->n = 0;
}

void
own_ids_see(struct own_ids *o, const struct gg_line *line)
{
    bool joins = line->sequence == o->sequence && line->n_ids > 1;

    if (!o->model || line->kind != GG_LINE_IDS)
        return;
    if (o->n && o->ids[o->n - 1] >= 0 && !joins && o->n < OWN_IDS_SEEN)
        o->ids[o->n++] = -1;
    o->sequence = line->sequence;
    if (line->n_ids == 1) /* as it was drawn */
        return;
    for (size_t i = 0; i < line->n_ids && o->n < OWN_IDS_SEEN; i++)
        o->ids[o->n++] = line->ids[i];
    if (o->n == OWN_IDS_SEEN)
        judge(o);
}

void
own_ids_end(struct own_ids *o)
{
    if (o->model)
        judge(o);
}
