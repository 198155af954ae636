/* reader.c - what an answer is read by: a template's marks, as its vocabulary
 * has them */
#include <config.h>

#include <string.h>

#include "chat/answer.h"
#include "chat/tool_form.h"
#include "core/error.h"
#include "core/mem.h"
#include "vocab/chat.h"
#include "vocab/vocab.h"

/* Which bytes are control tokens'. */
static void
find_control(const struct gg_vocab *v, struct chat_reader_mark *m)
{
    size_t at = 0;

    while (at < m->n) {
        size_t skip, n;
        int32_t id = vocab_special_find(&v->all, v, (const uint8_t *)m->s + at,
                                        m->n - at, &skip);

        if (id < 0)
            return;
        vocab_bytes(v, id, &n);
        for (size_t i = 0; i < n; i++)
            m->control[at + skip + i] = vocab_type(v, id) == GG_TOKEN_CONTROL;
        at += skip + n;
    }
}

static bool
add_mark(struct gg_chat_reader *r, enum chat_mark_kind kind, const char *s,
         size_t n, bool first)
{
    struct chat_reader_mark m = { .kind = kind, .n = n, .first = first };
    size_t cap = r->n_marks;

    if (n == 0)
        return true;
    if (!mem_grow(&r->marks, &cap, r->n_marks + 1, sizeof(m)))
        return false;
    m.s = mem_strndup(s, n);
    m.control = mem_array(n, sizeof(*m.control));
    r->marks[r->n_marks++] = m;
    if (!m.s || !m.control)
        return false;
    find_control(r->vocab, &m);
    return true;
}

static bool
add_string(struct gg_chat_reader *r, enum chat_mark_kind kind, const char *s)
{
    return !s || add_mark(r, kind, s, strlen(s), false);
}

static bool
add_thoughts(struct gg_chat_reader *r, const struct chat_thoughts *f)
{
    return !f || (add_string(r, CHAT_MARK_OPEN, f->open) &&
                  add_string(r, CHAT_MARK_CLOSE, f->close) &&
                  add_string(r, CHAT_MARK_TEXT, f->text) &&
                  add_string(r, CHAT_MARK_TEXT, f->other) &&
                  add_string(r, CHAT_MARK_END, f->end) &&
                  add_string(r, CHAT_MARK_START, f->start));
}

static bool
add_calls(struct gg_chat_reader *r, const struct chat_call_marks *c)
{
    bool done = true;

    for (size_t i = 0; c && done && i < c->n_begins; i++)
        done = add_mark(r, CHAT_MARK_CALL, c->begins[i].s, c->begins[i].n,
                        c->begins[i].first);
    for (size_t i = 0; c && done && i < c->n_ends; i++)
        done = add_mark(r, CHAT_MARK_STOP, c->ends[i].s, c->ends[i].n, false);
    return done;
}

/* The ids of some marks in a row. */
static enum gg_status
find_ids(const struct gg_vocab *v, const char *a, const char *b,
         struct chat_ids *out, struct gg_error *err)
{
    const unsigned flags = GG_ENCODE_SPECIAL | GG_ENCODE_CONTINUE;
    char text[256];
    struct gg_encoded made;
    enum gg_status st;
    int n = snprintf(text, sizeof(text), "%s%s", a ? a : "", b ? b : "");

    out->p = mem_array(2 * sizeof(text) + 3, sizeof(*out->p));
    if (!out->p)
        return error_nomem(err);
    st = gg_vocab_encode(v, text, (size_t)n, flags, out->p,
                         2 * sizeof(text) + 3, &made, err);
    if (st == GG_OK && !made.left_out)
        out->n = made.n;
    return st;
}

static enum gg_status
find_all_ids(struct gg_chat_reader *r, struct gg_error *err)
{
    const struct chat_thoughts *f = r->thoughts;
    enum gg_status st = find_ids(r->vocab, f->open, NULL, &r->open, err);

    if (st == GG_OK)
        st = find_ids(r->vocab, f->close, NULL, &r->close, err);
    if (st == GG_OK)
        st = find_ids(r->vocab, f->start, NULL, &r->start, err);
    if (st == GG_OK)
        st = find_ids(r->vocab, f->start, f->text, &r->text, err);
    if (st == GG_OK && r->open.n > 1 &&
        vocab_type(r->vocab, r->open.p[0]) != GG_TOKEN_CONTROL)
        r->open.n = 0;
    return st;
}

enum gg_status
chat_reader_new(const struct gg_vocab *vocab,
                const struct gg_chat_template *template,
                const struct chat_call_marks *calls,
                struct gg_chat_reader **out, struct gg_error *err)
{
    struct gg_chat_reader *r = mem_zalloc(sizeof(*r));
    enum gg_status st = r ? GG_OK : error_nomem(err);

    if (st != GG_OK)
        return st;
    r->vocab = vocab;
    r->thoughts = chat_thoughts_of(vocab, template);
    if (!add_thoughts(r, r->thoughts) || !add_calls(r, calls))
        st = error_nomem(err);
    if (st == GG_OK && r->thoughts)
        st = find_all_ids(r, err);
    if (st == GG_OK)
        *out = r;
    else
        gg_chat_reader_free(r);
    return st;
}

enum gg_status
gg_chat_reader_new(const struct gg_vocab *vocab,
                   const struct gg_chat_template *chat,
                   const struct gg_chat_calls *calls,
                   struct gg_chat_reader **out, struct gg_error *err)
{
    if (!vocab || !chat || !out)
        return error_null(err);
    return chat_reader_new(vocab, chat, calls ? chat_calls_marks(calls) : NULL,
                           out, err);
}

void
gg_chat_reader_free(struct gg_chat_reader *reader)
{
    if (!reader)
        return;
    for (size_t i = 0; i < reader->n_marks; i++) {
        mem_free(reader->marks[i].s);
        mem_free(reader->marks[i].control);
    }
    mem_free(reader->marks);
    mem_free(reader->open.p);
    mem_free(reader->close.p);
    mem_free(reader->start.p);
    mem_free(reader->text.p);
    mem_free(reader);
}

bool
gg_chat_reader_thinks(const struct gg_chat_reader *reader)
{
    return reader && reader->thoughts;
}
