/* cut.c - where a text can be cut, and its parts still give the ids of the
 * whole
 *
 * Whatever follows the text, a place will do where merging never crosses, where
 * the words on both sides are what they are without the other side, and over
 * which no token goes that is looked for in the text before all else. */
#include <gg.h>

#include <string.h>

#include "vocab/split_scan.h"
#include "vocab/unigram.h"
#include "vocab/wordpiece.h"

enum {
    KEPT = 64,    /* ends of words that are tried */
    TRIES = 1000, /* places over which a token may go */
};

struct text {
    const struct gg_vocab *v;
    const struct special_set *set;
    size_t longest; /* bytes of the longest token of the set */
    const uint8_t *p;
    size_t len;
};

/* A token of the set begins before `at` and ends there or later, or may do so
 * with what follows the text. A control token's end will not do either: white
 * space or a blank in front of the next text may belong to it. */
static bool
special_near(const struct text *t, size_t at)
{
    size_t from = at > t->longest ? at - t->longest : 0;

    for (size_t i = from; i < at; i++)
        if (t->set->first[t->p[i]] &&
            vocab_special_reaches(t->set, t->v, t->p + i, t->len - i, at - i))
            return true;
    return false;
}

/* The character before `at` is white space: a control token before it may be
 * one that takes the white space after it, on both sides of a cut; or one after
 * it that takes the white space before it. */
static bool
after_space(const uint8_t *p, size_t at)
{
    size_t from = at > 4 ? at - 4 : 0, n;

    for (size_t i = from; i < at; i += n) {
        uint32_t c = vocab_unicode_at(p + i, at - i, &n);

        if (i + n == at)
            return vocab_unicode_class(c) == UNICODE_SPACE;
    }
    return false;
}

static bool
is_mark(const uint8_t *p)
{
    return p[0] == 0xe2 && p[1] == 0x96 && p[2] == 0x81;
}

/* SentencePiece: merging never crosses `at`. Its mark is a blank. */
static bool
is_parted(const struct text *t, size_t at)
{
    uint8_t a = t->p[at - 1], b = t->p[at];

    if (at >= 3 && is_mark(t->p + at - 3))
        a = ' ';
    if (b == 0xe2 && t->len - at < 3)
        return false;
    if (b == 0xe2 && is_mark(t->p + at))
        b = ' ';
    return !vocab_joined(t->v, a, b);
}

static bool
is_ascii_letter(uint8_t c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Split rules: see split.h. */
static bool
is_word_end(const struct text *t, size_t at)
{
    uint8_t b = t->p[at];

    return is_ascii_letter(t->p[at - 1]) && b && strchr(t->v->ends, b);
}

static bool
is_ascii_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Greedy: no word has a space after anything else. */
static bool
is_greedy_end(const struct text *t, size_t at)
{
    return !is_ascii_space(t->p[at - 1]) && is_ascii_space(t->p[at]);
}

/* WordPiece: a word begins or ends in front of white space, punctuation of
 * ASCII and the Chinese characters that most texts have; and after the first
 * two. */
static bool
is_wordpiece_end(const struct text *t, size_t at)
{
    const uint8_t *p = t->p + at;
    uint32_t c;
    size_t n;

    if (vocab_wordpiece_parts(t->v, p[-1]) || vocab_wordpiece_parts(t->v, *p))
        return true;
    if (*p < 0x80 || t->len - at < 3)
        return false;
    c = vocab_unicode_at(p, t->len - at, &n);
    return c >= 0x4e00 && c <= 0x9fa5;
}

/* RWKV's: no token goes over `at`. */
static bool
is_world_end(const struct text *t, size_t at)
{
    return !vocab_joined(t->v, t->p[at - 1], t->p[at]);
}

/* No key of the character map goes over `at`, or ends there. */
static bool
is_unmapped(const struct text *t, size_t at)
{
    for (size_t back = 1; back <= at && back < CHARSMAP_MAX_KEY; back++) {
        size_t key, n;

        if (vocab_charsmap_find(&t->v->charsmap, t->p + at - back,
                                t->len - at + back, &key, &n) &&
            key >= back)
            return false;
    }
    return true;
}

/* Unigram: a byte of ASCII stays as it is, or becomes a blank, and no piece has
 * another such after it. A run of unknown characters must not go over the
 * place. */
static bool
is_unigram_end(const struct text *t, size_t at)
{
    const struct gg_vocab *v = t->v;
    uint8_t a = t->p[at - 1], b = t->p[at];

    if (v->plain[a] != UNIGRAM_PLAIN || v->plain[b] == UNIGRAM_OTHER)
        return false;
    b = v->plain[b] == UNIGRAM_BLANK ? ' ' : b;
    return !vocab_joined(v, a, b) &&
           (vocab_unigram_known(v, a) || vocab_unigram_known(v, b)) &&
           is_unmapped(t, at);
}

/* At the last of a run of blanks. Where the run becomes one blank, what stands
 * in front of it must be seen: blanks may vanish at the begin of a text. */
static bool
is_in_blanks(const struct text *t, size_t at)
{
    const struct gg_vocab *v = t->v;
    size_t begin = at;

    while (begin > 0 && v->plain[t->p[begin - 1]] == UNIGRAM_BLANK)
        begin--;
    if (!v->squeeze)
        return !vocab_joined(v, ' ', ' ') &&
               (begin == 0 || is_unmapped(t, begin));
    if (begin == 0)
        return v->words && v->add_blank;
    return v->words && is_unigram_end(t, begin) && !special_near(t, begin);
}

static bool
is_unigram_cut(const struct text *t, size_t at)
{
    const uint8_t *p = t->p + at, *plain = t->v->plain;

    /* The next byte says what this one becomes. */
    if (t->len - at < 2 || p[1] >= 0x80)
        return false;
    if (plain[p[-1]] != UNIGRAM_BLANK)
        return is_unigram_end(t, at);
    return plain[*p] == UNIGRAM_BLANK &&
           (t->len - at == 2 || plain[p[1]] != UNIGRAM_BLANK) &&
           is_in_blanks(t, at);
}

/* The last such place, found without looking at what is far before it, or 0. A
 * vocabulary can be made such that tokens go over any number of places, and
 * that each takes long to look at: so not all of them are tried. */
static size_t
cut_near(const struct text *t, bool (*may_cut)(const struct text *, size_t))
{
    int tries = 0;

    for (size_t at = t->len; --at > 0 && tries < TRIES;) {
        if (!may_cut(t, at) ||
            ((t->v->kind <= VOCAB_SPM || t->v->takes_space) &&
             after_space(t->p, at)))
            continue;
        if (!special_near(t, at))
            return at;
        tries++;
    }
    return 0;
}

/* How far the run reaches that was looked at last. */
struct lookahead {
    unsigned kind; /* of the run, as in vocab_split_run() */
    const uint8_t *end;
};

/* True if the word that ends at p is the same whatever follows `end`, by what
 * split.h says of how far a rule looks. */
static bool
is_settled(struct lookahead *a, const uint8_t *p, const uint8_t *end)
{
    const unsigned letters = UNICODE_LETTER | UNICODE_MARK;
    size_t n;
    unsigned kind =
        vocab_split_class(p, end, &n) & letters ? letters : UNICODE_SPACE;

    if (a->kind != kind || a->end <= p) {
        a->kind = kind;
        a->end =
            vocab_split_run(vocab_split_run(p, end, kind), end, UNICODE_NUMBER);
    }
    return end - a->end >= SPLIT_AHEAD;
}

/* p[0..end) is cut into the same words whether it ends there or at `len`. */
static bool
same_words(const struct gg_vocab *v, const uint8_t *p, size_t end, size_t len)
{
    struct split_at whole = { 0 }, part = { 0 };
    size_t at = 0, n;

    for (; at < end; at += n) {
        n = vocab_split_next(v->split, v->group, &whole, p + at, len - at);
        if (n > end - at ||
            vocab_split_next(v->split, v->group, &part, p + at, end - at) != n)
            return false;
    }
    return true;
}

/* Ends of words of a part of a text, the last ones; the first is its begin. */
struct ends {
    size_t at[KEPT], n;
};

/* The words before ends->at[i % KEPT] are the same if the text ends there. */
static bool
ends_alone(const struct gg_vocab *v, const struct ends *ends, size_t i,
           const uint8_t *p, size_t len)
{
    size_t to = ends->at[i % KEPT];

    for (size_t j = i; j-- > 0 && j + KEPT >= ends->n;) {
        struct lookahead a = { 0 };
        size_t from = ends->at[j % KEPT];

        if (j == 0 || is_settled(&a, p + from, p + to))
            return same_words(v, p + from, to - from, len - from);
    }
    return false;
}

/* The last cut in a part of the text of `len` bytes; 0: none is known.
 * `open`: more may follow. */
static size_t
cut_part(const struct text *t, size_t begin, size_t len, bool open)
{
    const uint8_t *p = t->p + begin;
    struct ends ends = { .n = 1 };
    struct lookahead ahead = { 0 };
    size_t at = 0;

    while (at < len) {
        at += t->v->split(p + at, len - at);
        if (at == len || (open && !is_settled(&ahead, p + at, p + len)))
            break;
        if (!after_space(p, at))
            ends.at[ends.n++ % KEPT] = at;
    }
    for (size_t i = ends.n; --i > 0 && i + KEPT >= ends.n;) {
        at = begin + ends.at[i % KEPT];
        if (ends_alone(t->v, &ends, i, p, len) && !special_near(t, at))
            return at;
    }
    return 0;
}

/* The last cut between two words, found by cutting all of the text into words:
 * for texts without what cut_near() looks for. */
static size_t
cut_words(const struct text *t)
{
    size_t cut = 0;

    for (size_t at = 0; at < t->len;) {
        size_t n, found;
        int32_t id =
            vocab_special_find(t->set, t->v, t->p + at, t->len - at, &n);

        found = n ? cut_part(t, at, n, id < 0) : 0;
        cut = found ? found : cut;
        if (id < 0)
            break;
        at = vocab_special_after(t->v, id, t->p, t->len, at + n);
    }
    return cut;
}

size_t
gg_vocab_cut(const struct gg_vocab *v, const char *text, size_t len,
             unsigned flags)
{
    struct text t = { .v = v, .p = (const uint8_t *)text, .len = len };
    size_t cut;

    if (!v || !text || len < 2)
        return 0;
    t.set = flags & GG_ENCODE_SPECIAL ? &v->all : &v->user;
    t.longest = vocab_special_longest(t.set, v);
    if (flags & GG_ENCODE_GREEDY)
        return cut_near(&t, is_greedy_end);
    switch (v->kind) {
    case VOCAB_SPM:
        return cut_near(&t, is_parted);
    case VOCAB_WPM:
        return cut_near(&t, is_wordpiece_end);
    case VOCAB_UGM:
        return cut_near(&t, is_unigram_cut);
    case VOCAB_WORLD:
        return cut_near(&t, is_world_end);
    default:
        cut = cut_near(&t, is_word_end);
        return cut ? cut : cut_words(&t);
    }
}
