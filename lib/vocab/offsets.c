/* offsets.c - which bytes of a text each of its ids stands for
 *
 * Merging does not keep book of it. It is found afterwards, by walking through
 * the text and the bytes of the ids side by side, in the parts into which
 * special tokens cut the text. Where a text is normalised before it is encoded,
 * it is encoded again. */
#include <string.h>

#include "core/error.h"
#include "vocab/split_scan.h"
#include "vocab/vocab.h"

struct walk {
    const struct gg_vocab *v;
    const uint8_t *text;
    size_t at;  /* the byte of the text that comes next */
    bool blank; /* before it stands one that encoding has added */
    const int32_t *ids;
    size_t n, i; /* the id that comes next */
    struct gg_range *ranges;
};

/* The byte of the text in lower case. */
static uint8_t
lower_at(const uint8_t *text, size_t at, size_t end)
{
    uint8_t small[4];
    size_t from = at, n;

    while (from > 0 && at - from < 3 && (text[from] & 0xc0) == 0x80)
        from--;
    vocab_unicode_at(text + from, end - from, &n);
    if (at - from >= n)
        return text[at];
    vocab_unicode_lower(text + from, n, small);
    return small[at - from];
}

/* The bytes of the text, up to `end`, that the byte `b` of a token can stand
 * for at w->at; 0: it cannot. */
static size_t
match_byte(const struct walk *w, size_t end, uint8_t b)
{
    const uint8_t *p = w->text + w->at;

    if (w->at == end)
        return 0;
    if (w->v->kind == VOCAB_SPM && b == ' ' && end - w->at >= 3 &&
        memcmp(p, "\xe2\x96\x81", 3) == 0)
        return 3;
    return (w->v->lower ? lower_at(w->text, w->at, end) : *p) == b;
}

/* The unknown token stands for a character; the same where there is no such
 * token. Of BPE each byte is on its own. */
static bool
take_unknown(struct walk *w, size_t end)
{
    size_t n = 1;

    if (w->blank) {
        w->blank = false;
        return true;
    }
    if (w->at == end)
        return false;
    if (w->v->kind != VOCAB_BPE)
        vocab_unicode_at(w->text + w->at, end - w->at, &n);
    w->at += n;
    return true;
}

/* Skips text that has no token, and so no id. */
static bool
skip_left_out(struct walk *w, size_t end)
{
    const int32_t *byte_ids = w->v->byte_ids;
    size_t at = w->at;

    if (w->v->unk >= 0)
        return false;
    if (w->blank)
        return take_unknown(w, end) && byte_ids[' '] < 0;
    if (!take_unknown(w, end))
        return false;
    while (at < w->at && byte_ids[w->text[at]] >= 0)
        at++;
    return at < w->at;
}

static bool
take_bytes(struct walk *w, size_t end, int32_t id)
{
    size_t len, n;
    const uint8_t *p = vocab_bytes(w->v, id, &len);

    len -= vocab_end_length(w->v, p, len);
    for (size_t k = 0; k < len; k++) {
        if (w->blank && p[k] == ' ') {
            w->blank = false;
            continue;
        }
        n = w->blank ? 0 : match_byte(w, end, p[k]);
        if (n == 0)
            return false;
        w->at += n;
    }
    return len > 0;
}

/* Each line gets a blank in front. */
static bool
lines(const struct gg_vocab *v)
{
    return v->cuts == VOCAB_CUTS_BLANKS;
}

/* The text at w->at needs no blank in front. */
static bool
is_spaced(const struct walk *w, size_t end)
{
    return w->at == end || w->text[w->at] == '\n' ||
           match_byte(w, end, ' ') > 0;
}

/* Steps over what encoding drops or adds between two words. */
static void
take_between(struct walk *w, size_t end, size_t *line)
{
    if (w->v->cuts == VOCAB_CUTS_WORDS)
        w->at = (size_t)(vocab_split_run(w->text + w->at, w->text + end,
                                         UNICODE_SPACE) -
                         w->text);
    if (lines(w->v) && w->at > *line && w->text[w->at - 1] == '\n') {
        *line = w->at;
        w->blank = !is_spaced(w, end);
    }
}

/* The ids of the text up to `end`, where no special token is. */
static bool
take_part(struct walk *w, size_t end)
{
    size_t line = w->at;

    for (;;) {
        struct walk before;
        int32_t id = w->i < w->n ? w->ids[w->i] : -1;
        bool taken;

        take_between(w, end, &line);
        if (!w->blank && w->at >= end)
            return true;
        before = *w;
        taken = id >= 0 && id < w->v->n && take_bytes(w, end, id);

        if (!taken) {
            *w = before;
            taken = id >= 0 && id == w->v->unk && take_unknown(w, end);
        }
        if (!taken) {
            *w = before;
            if (!skip_left_out(w, end))
                return false;
            continue;
        }
        w->ranges[w->i++] = (struct gg_range){ before.at, w->at };
    }
}

/* A special token at w->at, and what it takes. */
static bool
take_special(struct walk *w, int32_t id, size_t len)
{
    size_t n;

    if (w->i == w->n || w->ids[w->i] != id)
        return false;
    vocab_bytes(w->v, id, &n);
    w->ranges[w->i++] = (struct gg_range){ w->at, w->at + n };
    w->at = vocab_special_after(w->v, id, w->text, len, w->at);
    return true;
}

static bool
take_text(struct walk *w, size_t len, const struct special_set *set, bool blank)
{
    bool same = true;

    while (w->at < len && same) {
        const uint8_t *p = w->text + w->at;
        size_t at, n;
        int32_t id = vocab_special_find(set, w->v, p, len - w->at, &at);
        bool user = id >= 0 && vocab_type(w->v, id) == GG_TOKEN_USER_DEFINED;

        n = vocab_special_left(w->v, id, p, at);
        w->blank = blank && (n > 0 || (user && !lines(w->v))) &&
                   !(lines(w->v) && is_spaced(w, w->at + n));
        same = take_part(w, w->at + n);
        w->at += same ? at - n : 0;
        if (same && id >= 0)
            same = take_special(w, id, len);
        blank = vocab_blank_after(w->v, user);
    }
    return same;
}

/* WordPiece and Unigram know where bytes come from while they encode. */
static enum gg_status
encode_again(struct walk *w, size_t len, const struct special_set *set,
             bool first, bool *same, struct gg_error *err)
{
    struct vocab_out out = { .cap = w->n - w->i,
                             .known = w->ids + w->i,
                             .ranges = w->ranges + w->i };

    if (!vocab_encode_kind(w->v, w->text, len, set, first, NULL, &out))
        return error_nomem(err);
    *same = !out.differs;
    w->i += out.n;
    return GG_OK;
}

enum gg_status
gg_vocab_offsets(const struct gg_vocab *v, const char *text, size_t len,
                 unsigned flags, const int32_t *ids, size_t n,
                 struct gg_range *ranges, struct gg_error *err)
{
    struct walk w = { .v = v,
                      .text = (const uint8_t *)text,
                      .ids = ids,
                      .n = n,
                      .ranges = ranges };
    const struct special_set *set;
    bool first = !(flags & GG_ENCODE_CONTINUE), same = false;
    enum gg_status st = GG_OK;

    if (!v || (!text && len) || (n && (!ids || !ranges)))
        return error_null(err);
    set = flags & GG_ENCODE_SPECIAL ? &v->all : &v->user;
    if (n && flags & GG_ENCODE_BOS && ids[0] == v->bos)
        ranges[w.i++] = (struct gg_range){ 0, 0 };
    if (v->kind > VOCAB_SPM)
        st = encode_again(&w, len, set, first, &same, err);
    else
        same = take_text(&w, len, set,
                         first && v->kind == VOCAB_SPM && v->add_blank);
    if (st != GG_OK)
        return st;
    if (!same)
        w.i = SIZE_MAX;
    else if (w.i < n && flags & GG_ENCODE_EOS && ids[w.i] == v->eos)
        ranges[w.i++] = (struct gg_range){ len, len };
    while (same && w.i < n && n <= (size_t)v->n_padded && ids[w.i] == v->pad)
        ranges[w.i++] = (struct gg_range){ len, len };
    if (same && w.i == n - 1 && flags & GG_ENCODE_EOS && ids[w.i] == v->start)
        ranges[w.i++] = (struct gg_range){ len, len };
    if (w.i != n)
        return error_set(err, GG_ERR_ARG, "the ids are not those of the text");
    return GG_OK;
}

int32_t
gg_vocab_find_control(const struct gg_vocab *v, const char *text, size_t len,
                      size_t *at)
{
    size_t from = 0, n, found;

    while (v && text && from < len) {
        int32_t id = vocab_special_find(
            &v->all, v, (const uint8_t *)text + from, len - from, &found);

        if (id < 0)
            break;
        if (vocab_type(v, id) != GG_TOKEN_USER_DEFINED) {
            if (at)
                *at = from + found;
            return id;
        }
        vocab_bytes(v, id, &n);
        from += found + n;
    }
    return -1;
}
