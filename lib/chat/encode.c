/* encode.c - the ids of what a template has written */
#include <config.h>

#include "chat/encode.h"

#include "chat/placeholder.h"
#include "chat/text.h"
#include "vocab/vocab.h"

struct writer {
    const struct gg_vocab *v;
    const struct chat_string *s;
    struct vocab_out out;
    int32_t last;                 /* the id before; -1: text, or nothing */
    bool media;                   /* placeholders are found: */
    struct chat_placeholder next; /* the next one, or the end */
    struct gg_error *err;
};

/* Whether bytes at..at + n may be a special token. */
static bool
is_trusted(const struct chat_string *s, size_t at, size_t n)
{
    bool trusted = chat_origin_at(s, at) == CHAT_TRUSTED &&
                   chat_origin_at(s, at + n - 1) == CHAT_TRUSTED;

    for (size_t i = at; trusted && s->origins && i < at + n; i++)
        trusted = !chat_is_text(s->origins[i]);
    return trusted;
}

/* The next special token from `at` on; -1: none. *where gets its place. */
static int32_t
next_token(const struct writer *w, size_t at, size_t *where, size_t *n)
{
    const uint8_t *p = (const uint8_t *)w->s->s;

    while (at < w->s->n) {
        size_t skip;
        int32_t id =
            vocab_special_find(&w->v->all, w->v, p + at, w->s->n - at, &skip);

        if (id < 0)
            break;
        *where = at + skip;
        vocab_bytes(w->v, id, n);
        if (is_trusted(w->s, *where, *n))
            return id;
        at = *where + 1;
    }
    *where = w->s->n;
    *n = 0;
    return -1;
}

/* As next_token(), or a placeholder, where that comes first. */
static int32_t
next_mark(struct writer *w, size_t at, size_t *where, size_t *n)
{
    int32_t id = next_token(w, at, where, n);

    if (!w->media)
        return id;
    if (at == 0 || w->next.at < at)
        w->next = chat_placeholder_next(w->s, at);
    if (w->next.n == 0 || w->next.at > *where)
        return id;
    *where = w->next.at;
    *n = w->next.n;
    return w->next.id;
}

/* The blank that SentencePiece puts in front of a text is the one that the
 * template has there, if it has one. */
static enum gg_status
put_text(struct writer *w, size_t from, size_t to)
{
    const struct gg_vocab *v = w->v;
    const struct chat_string *s = w->s;
    bool user = w->last >= 0 && vocab_type(v, w->last) == GG_TOKEN_USER_DEFINED;
    bool own, blank;

    while (w->last >= 0 && v->types[w->last] & VOCAB_STRIPS && from < to &&
           chat_is_space((uint8_t)s->s[from]))
        from++;
    if (from == to)
        return GG_OK;
    own = s->s[from] == ' ' && chat_origin_at(s, from) == CHAT_TRUSTED;
    blank = v->kind == VOCAB_SPM && v->add_blank && !user && !own;
    w->last = -1;
    return vocab_encode_part(v, s->s + from, to - from, &v->contents, blank,
                             &w->out, w->err);
}

/* BOS is the template's, unless the flags say otherwise, and never doubled. */
static void
put_token(struct writer *w, int32_t id, unsigned flags, bool first)
{
    bool again = first && w->out.n == 1; /* that which the flags put there */

    w->last = id;
    if (first && id == w->v->bos && (again || flags & GG_CHAT_NO_BOS))
        return;
    vocab_emit(&w->out, id);
}

enum gg_status
chat_encode_string(const struct gg_vocab *v, const struct chat_string *s,
                   unsigned flags, bool goes_on, int32_t *ids, size_t cap,
                   struct gg_encoded *result, struct gg_error *err)
{
    struct writer w = { .v = v,
                        .s = s,
                        .out = { .ids = ids, .cap = cap },
                        .last = -1,
                        .media = flags & GG_CHAT_MEDIA,
                        .err = err };
    enum gg_status st = GG_OK;

    if (flags & GG_CHAT_BOS && !goes_on) {
        if (v->bos < 0)
            return error_set(err, GG_ERR_UNSUPPORTED,
                             "the vocabulary has no BOS token");
        vocab_emit(&w.out, v->bos);
        w.last = v->bos;
    }
    for (size_t at = 0, where, n; st == GG_OK && at < s->n; at = where + n) {
        int32_t id = next_mark(&w, at, &where, &n);

        st = put_text(&w, at, where);
        if (id != -1 && st == GG_OK)
            put_token(&w, id, flags, where == 0 && !goes_on);
    }
    return st == GG_OK
               ? vocab_encoded(&w.out, flags & GG_CHAT_STRICT, result, err)
               : st;
}
