/* own_ids.c - whether ids that are read are those of the model's vocabulary */
#include <config.h>

#include "common/own_ids.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/utf8.h"

enum {
    LEAST = 16, /* ids: of fewer nothing is known */
    ODD = 2,    /* ids of an own text that may not: where it was cut */
    PIECE = 1 << 16,
    SMALL = 2048, /* tokens of a vocabulary that other ones' ids exceed */

    /* An id is frequent if it is one in OFTEN, twice at least. */
    OFTEN = 75,
    /* Percent of all ids that are frequent ones, in what people write. */
    FREQUENT = 15,
    /* Percent of the frequent ones that do not come back, in foreign ids; */
    SPOILT = 10,
    /* or fewer, where SPLIT percent of them stand amid a word, SPOILT_OF_ALL
     * percent of all ids do not come back, and one in CAPITALS is one after a
     * small letter. */
    SPLIT = 15,
    SPOILT_OF_ALL = 4,
    CAPITALS = 125,
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
    int32_t ids[OWN_IDS_SEEN];
    bool back[OWN_IDS_SEEN];
    bool whole[OWN_IDS_SEEN]; /* its bytes are whole characters */
    bool split[OWN_IDS_SEEN]; /* it begins amid a word of Latin letters */
    size_t capitals;          /* of those, after a small letter */
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

static bool
is_letter(char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

static void
mark_split(const struct text *t, struct found *f)
{
    size_t at = 0;

    for (size_t i = 0; i < t->n; at = t->ends[i++]) {
        char before = at > 0 ? t->bytes[at - 1] : ' ';
        char c = at < t->ends[i] ? t->bytes[at] : ' ';

        f->split[f->n + i] = is_letter(before) && is_letter(c);
        f->capitals += f->split[f->n + i] && before >= 'a' && c <= 'Z';
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
    mark_split(t, f);
    memcpy(f->ids + f->n, t->ids, t->n * sizeof(*t->ids));
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

/* Counts of the ids that stand often in the text. */
struct frequent {
    size_t n, spoilt, split;
    size_t kinds; /* of ids, of which some are spoilt */
};

static int
compare_pairs(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;

    return (x[0] > y[0]) - (x[0] < y[0]);
}

static bool
is_spoilt(const struct found *f, size_t i)
{
    return !f->back[i] || !f->whole[i];
}

/* One id that stands n times: pairs of it and its places. */
static void
add_frequent(const struct found *f, int32_t (*pairs)[2], size_t n,
             struct frequent *r)
{
    size_t spoilt = 0;

    for (size_t i = 0; i < n; i++) {
        size_t at = (size_t)pairs[i][1];

        spoilt += is_spoilt(f, at);
        r->split += f->split[at];
    }
    r->n += n;
    r->spoilt += spoilt;
    r->kinds += spoilt > 0;
}

static struct frequent
look_at_frequent(const struct found *f)
{
    size_t least = f->n / OFTEN > 2 ? f->n / OFTEN : 2, n;
    int32_t(*pairs)[2] = cli_alloc(NULL, f->n + 1, sizeof(*pairs));
    struct frequent r = { 0 };

    for (size_t i = 0; i < f->n; i++) {
        pairs[i][0] = f->ids[i];
        pairs[i][1] = (int32_t)i;
    }
    qsort(pairs, f->n, sizeof(*pairs), compare_pairs);
    for (size_t i = 0; i < f->n; i += n) {
        for (n = 1; i + n < f->n && pairs[i + n][0] == pairs[i][0]; n++)
            ;
        if (n >= least)
            add_frequent(f, pairs + i, n, &r);
    }
    free(pairs);
    return r;
}

/* An own text comes back but for its ends, whatever its bytes are. One that a
 * model drew does not where it spelt a word in another way, which happens to
 * rare words; and a text drawn almost at random has hardly any frequent ids.
 * Ids of another vocabulary are a cipher of a text: they are as frequent as its
 * words, and stand anywhere. */
static bool
looks_foreign(const struct found *f)
{
    struct frequent r;
    size_t spoilt = 0;

    for (size_t i = 0; i < f->n; i++)
        spoilt += is_spoilt(f, i);
    if (f->n < LEAST || spoilt <= ODD)
        return false;
    r = look_at_frequent(f);
    if (100 * r.n < FREQUENT * f->n)
        return false;
    if (100 * r.spoilt >= SPOILT * r.n)
        return r.kinds > 1 && r.spoilt > ODD;
    return r.spoilt > 0 && 100 * r.split >= SPLIT * r.n &&
           100 * spoilt >= SPOILT_OF_ALL * f->n &&
           CAPITALS * f->capitals >= f->n;
}

bool
own_ids_look_foreign(const struct own_ids *o)
{
    struct found *f;
    size_t end;
    bool foreign;

    if (gg_vocab_size(o->vocab) < SMALL)
        return false;
    f = cli_alloc(NULL, 1, sizeof(*f));
    f->n = f->capitals = 0;
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
