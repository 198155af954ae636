/* chat_encode.c - turns conversations into ids
 *
 * Markup and contents between two control tokens are one text for the
 * tokenizer, as they are where the whole conversation is written out; but that
 * text is never searched for control tokens: only markup makes them. */
#include <config.h>

#include "vocab/chat.h"

#include <string.h>

#include "core/mem.h"
#include "vocab/vocab.h"

const char *const vocab_chat_roles[CHAT_ROLES] = {
    [GG_ROLE_SYSTEM] = "system",
    [GG_ROLE_USER] = "user",
    [GG_ROLE_ASSISTANT] = "assistant",
    [GG_ROLE_TOOL] = "tool",
};

/* One call of gg_chat_encode(). */
struct writer {
    const struct gg_vocab *v;
    const struct gg_chat_template *t;
    unsigned flags;
    struct vocab_out out;
    int32_t last; /* id; -1: none, or text */
    char *text;   /* since the last control token */
    size_t len, cap_text;
    bool own_blank;   /* the text begins with a blank of the markup */
    bool after_token; /* it follows a control token */
    bool after_user;  /* which is of the user-defined sort */
    struct gg_error *err;
};

static enum gg_status
add_text(struct writer *w, const char *p, size_t len, bool markup)
{
    if (len == 0)
        return GG_OK;
    if (w->len == 0)
        w->own_blank = markup && p[0] == ' ';
    if (len > SIZE_MAX - w->len ||
        !mem_grow(&w->text, &w->cap_text, w->len + len, 1))
        return error_nomem(w->err);
    memcpy(w->text + w->len, p, len);
    w->len += len;
    return GG_OK;
}

static bool
is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Encodes the text that has gathered. The blank that SentencePiece puts in
 * front of a text is the one that markup has there, if it has one. */
static enum gg_status
flush(struct writer *w)
{
    bool spm = w->v->kind == VOCAB_SPM;
    bool blank = spm && w->v->add_blank && !w->after_user && !w->own_blank;
    size_t skip = 0;
    enum gg_status st;

    while (spm && w->t->strip && w->after_token && skip < w->len &&
           is_space(w->text[skip]))
        skip++;
    if (skip == w->len) {
        w->len = 0;
        return GG_OK;
    }
    st = vocab_encode_part(w->v, w->text + skip, w->len - skip, &w->v->contents,
                           blank, &w->out, w->err);
    if (st == GG_OK) {
        w->last = -1;
        w->len = 0;
    }
    return st;
}

static enum gg_status
write_id(struct writer *w, int32_t id)
{
    enum gg_status st = flush(w);

    if (st != GG_OK)
        return st;
    vocab_emit(&w->out, id);
    w->last = id;
    w->after_token = true;
    w->after_user = vocab_type(w->v, id) == GG_TOKEN_USER_DEFINED;
    return GG_OK;
}

static enum gg_status
missing(struct writer *w, const char *what, size_t len)
{
    return error_set(w->err, GG_ERR_UNSUPPORTED,
                     "chat template %s: the vocabulary has no token %.*s",
                     w->t->name, (int)len, what);
}

/* BOS where the markup has it inside: the first one of a conversation is the
 * business of begin_conversation(). */
static enum gg_status
add_inner_bos(struct writer *w)
{
    enum gg_status st = flush(w);

    if (st != GG_OK || w->out.n == 0 || w->last == w->v->bos)
        return st;
    return w->v->bos < 0 ? missing(w, "BOS", 3) : write_id(w, w->v->bos);
}

/* The token at *s, which moves past it. */
static enum gg_status
add_token(struct writer *w, const char **s)
{
    const char *name = *s + 1, *end = strchr(name, CHAT_END);
    size_t len = (size_t)(end - name);
    int32_t id = vocab_find_other(w->v, name, len);
    bool maybe = **s == CHAT_MAYBE;

    if (id >= 0 && vocab_type(w->v, id) != GG_TOKEN_CONTROL &&
        vocab_type(w->v, id) != GG_TOKEN_USER_DEFINED)
        id = -1;
    *s = end + 1;
    if (id >= 0)
        return write_id(w, id);
    return maybe ? add_text(w, name, len, true) : missing(w, name, len);
}

static enum gg_status
add_markup(struct writer *w, const char *s)
{
    enum gg_status st = GG_OK;

    while (st == GG_OK && *s) {
        size_t plain = strcspn(s, TOKEN("") MAYBE("") BOS EOS);

        if (plain) {
            st = add_text(w, s, plain, true);
            s += plain;
        } else if (*s == CHAT_BOS) {
            st = add_inner_bos(w);
            s++;
        } else if (*s == CHAT_EOS) {
            st = w->v->eos < 0 ? missing(w, "EOS", 3) : write_id(w, w->v->eos);
            s++;
        } else {
            st = add_token(w, &s);
        }
    }
    return st;
}

/* `inside`: something else stands in front of them. */
static enum gg_status
add_contents(struct writer *w, const struct gg_message *m, bool inside)
{
    const char *p = m->content;
    size_t len = m->len;

    if (w->t->trim & 1u << m->role) {
        while (len && is_space(p[0]) && !(inside && w->t->joint))
            p++, len--;
        while (len && is_space(p[len - 1]))
            len--;
    }
    return add_text(w, p, len, false);
}

static enum gg_status
add_around(struct writer *w, const struct gg_message *system)
{
    const struct chat_turn *turn = &w->t->turns[GG_ROLE_SYSTEM];
    enum gg_status st = add_markup(w, turn->before);

    if (st == GG_OK)
        st = add_contents(w, system, false);
    return st == GG_OK ? add_markup(w, turn->after) : st;
}

/* A message; `system`, or NULL, stands in it; `end`: its turn ends. */
static enum gg_status
add_message(struct writer *w, const struct gg_message *m,
            const struct gg_message *system, bool end)
{
    const struct chat_turn *turn = &w->t->turns[m->role];
    enum gg_status st;

    if (!turn->before)
        return error_set(w->err, GG_ERR_UNSUPPORTED,
                         "chat template %s has no message of "
                         "role %s",
                         w->t->name, vocab_chat_roles[m->role]);
    st = add_markup(w, turn->before);
    if (st == GG_OK && system)
        st = add_around(w, system);
    if (st == GG_OK)
        st = add_contents(w, m, system != NULL);
    return st == GG_OK && end ? add_markup(w, turn->after) : st;
}

/* BOS, and what stands before all messages. */
static enum gg_status
begin_conversation(struct writer *w)
{
    const struct gg_vocab *v = w->v;
    bool bos = w->flags & GG_CHAT_BOS || w->t->bos || v->add_bos;
    enum gg_status st = GG_OK;

    if (bos && !(w->flags & GG_CHAT_NO_BOS))
        st = v->bos < 0 ? missing(w, "BOS", 3) : write_id(w, v->bos);
    return st == GG_OK && w->t->prelude ? add_markup(w, w->t->prelude) : st;
}

/* Whether messages[i] may stand there. */
static enum gg_status
check_order(const struct writer *w, const struct gg_message *messages, size_t n,
            size_t i)
{
    if (!w->t->merged || messages[i].role != GG_ROLE_SYSTEM)
        return GG_OK;
    if (i > 0)
        return error_set(w->err, GG_ERR_UNSUPPORTED,
                         "chat template %s: a message of role system must be "
                         "the first",
                         w->t->name);
    if (n == 1 || messages[1].role != GG_ROLE_USER)
        return error_set(w->err, GG_ERR_UNSUPPORTED,
                         "chat template %s: the message of role system needs "
                         "a user's after it",
                         w->t->name);
    return GG_OK;
}

static enum gg_status
add_messages(struct writer *w, const struct gg_message *messages, size_t n,
             size_t first)
{
    bool answer = w->flags & GG_CHAT_ANSWER;
    const struct gg_message given = { GG_ROLE_SYSTEM, w->t->system,
                                      w->t->system ? strlen(w->t->system) : 0 };
    const struct gg_message *system = NULL;
    enum gg_status st = GG_OK;

    if (first == 0 && w->t->system && messages[0].role != GG_ROLE_SYSTEM)
        st = add_message(w, &given, NULL, true);
    for (size_t i = first; st == GG_OK && i < n; i++) {
        const struct gg_message *m = &messages[i];

        st = check_order(w, messages, n, i);
        if (st == GG_OK && w->t->merged && m->role == GG_ROLE_SYSTEM) {
            system = m;
            continue;
        }
        if (st == GG_OK)
            st = add_message(w, m, system,
                             !answer || i + 1 < n ||
                                 m->role != GG_ROLE_ASSISTANT);
        system = NULL;
    }
    if (st == GG_OK && answer && messages[n - 1].role != GG_ROLE_ASSISTANT)
        st = add_markup(w, w->t->open);
    return st == GG_OK ? flush(w) : st;
}

enum gg_status
vocab_chat_encode(const struct gg_vocab *v, const struct gg_chat_template *t,
                  const struct gg_message *messages, size_t n_messages,
                  size_t first, unsigned flags, int32_t *ids, size_t cap,
                  struct gg_encoded *result, struct gg_error *err)
{
    struct writer w = { .v = v,
                        .t = t,
                        .flags = flags,
                        .out = { .ids = ids, .cap = cap },
                        .last = -1,
                        .err = err };
    enum gg_status st;

    st = first ? add_markup(&w, t->turns[GG_ROLE_ASSISTANT].after)
               : begin_conversation(&w);
    if (st == GG_OK)
        st = add_messages(&w, messages, n_messages, first);
    mem_free(w.text);
    return st == GG_OK
               ? vocab_encoded(&w.out, flags & GG_CHAT_STRICT, result, err)
               : st;
}
