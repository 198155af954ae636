/* answer.c - parts an answer, as it comes, into thoughts, text and calls
 *
 * What comes is held back as long as it may be the beginning of a mark, or
 * white space in front of one: how it was cut into pieces makes no
 * difference. */
#include <config.h>

#include "chat/answer.h"

#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "vocab/vocab.h"

/* ---- marks --------------------------------------------------------------- */

#define KIND(kind) (1u << CHAT_MARK_##kind)

/* The marks that are looked for. */
static const unsigned marks_in[] = {
    [CHAT_ANSWER_TEXT] =
        KIND(OPEN) | KIND(CLOSE) | KIND(END) | KIND(START) | KIND(CALL),
    [CHAT_ANSWER_THOUGHT] = KIND(OPEN) | KIND(CLOSE) | KIND(CALL),
    [CHAT_ANSWER_HEADER] = KIND(OPEN) | KIND(TEXT) | KIND(START) | KIND(CALL),
    [CHAT_ANSWER_CALLS] = KIND(STOP),
};

static bool
is_framed(const struct gg_chat_reader *r)
{
    return r->thoughts && r->thoughts->text;
}

/* A thought opens at the beginning, or by a control token anywhere; what closes
 * one may stand at the beginning of a text; calls begin in a thought by a
 * control token only. */
static bool
is_wanted(const struct chat_answer *a, const struct chat_reader_mark *m)
{
    bool thought = a->state == CHAT_ANSWER_THOUGHT;

    if (!(marks_in[a->state] & 1u << m->kind))
        return false;
    if (m->first)
        return a->begins && !thought;
    if (m->kind == CHAT_MARK_CALL)
        return !thought || m->control[0];
    if (m->kind == CHAT_MARK_CLOSE)
        return thought || (a->begins && !is_framed(a->reader));
    return m->kind != CHAT_MARK_OPEN || a->begins || is_framed(a->reader) ||
           (!thought && m->control[0]);
}

static bool
is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* White space that is held at `at` between a control token and a word. */
static size_t
skip_between(const struct chat_answer *a, size_t at,
             const struct chat_reader_mark *m, size_t i)
{
    if (i == 0 || m->control[i - 1] == m->control[i] || is_space(m->s[i]))
        return at;
    while (at < a->n && !a->control[at] && is_space(a->held[at]))
        at++;
    return at;
}

/* How much of the mark stands at `at`, in bytes of it; *end gets where that
 * ends. */
static size_t
count_same(const struct chat_answer *a, size_t at,
           const struct chat_reader_mark *m, size_t *end)
{
    size_t i = 0;

    for (; i < m->n; i++, at++) {
        at = skip_between(a, at, m, i);
        if (at == a->n || a->held[at] != m->s[i] ||
            a->control[at] != m->control[i])
            break;
    }
    *end = at;
    return i;
}

/* The longest mark at `at`, and where it ends; NULL: none. *open: another may
 * be there once more has come. */
static const struct chat_reader_mark *
find_mark(const struct chat_answer *a, size_t at, bool *open, size_t *end)
{
    const struct gg_chat_reader *r = a->reader;
    const struct chat_reader_mark *best = NULL;

    *open = false;
    for (size_t i = 0; i < r->n_marks; i++) {
        const struct chat_reader_mark *m = &r->marks[i];
        size_t n, to;

        if (m->s[0] != a->held[at] || !is_wanted(a, m))
            continue;
        n = count_same(a, at, m, &to);
        if (n == m->n && (!best || to > *end)) {
            best = m;
            *end = to;
        } else if (n < m->n && to == a->n) {
            *open = true;
        }
    }
    return best;
}

static bool
may_have_marks(const struct chat_answer *a)
{
    for (size_t i = 0; i < a->reader->n_marks; i++)
        if (is_wanted(a, &a->reader->marks[i]))
            return true;
    return false;
}

/* ---- reading ------------------------------------------------------------- */

static void
enter(struct chat_answer *a, enum chat_answer_state state, bool after_thought)
{
    a->state = state;
    a->begins = true;
    a->after_thought = after_thought;
    a->blank = state == CHAT_ANSWER_HEADER;
    a->fresh = a->fresh && state != CHAT_ANSWER_THOUGHT;
}

static void
pass_mark(struct chat_answer *a, enum chat_mark_kind kind)
{
    bool framed = is_framed(a->reader);
    enum chat_answer_state was = a->state;

    if (kind == CHAT_MARK_OPEN)
        enter(a, CHAT_ANSWER_THOUGHT, false);
    else if (kind == CHAT_MARK_CLOSE)
        enter(a, framed ? CHAT_ANSWER_HEADER : CHAT_ANSWER_TEXT, true);
    else if (kind == CHAT_MARK_TEXT)
        enter(a, CHAT_ANSWER_TEXT, false);
    else if (kind == CHAT_MARK_CALL)
        enter(a, CHAT_ANSWER_CALLS, false);
    else if (kind == CHAT_MARK_STOP)
        a->ended = true;
    else
        enter(a, CHAT_ANSWER_HEADER, false);
    if (was == CHAT_ANSWER_HEADER && kind == CHAT_MARK_START)
        a->begins = false; /* of the message that is to come */
}

enum gg_part
chat_answer_part(const struct chat_answer *a)
{
    static const enum gg_part parts[] = {
        [CHAT_ANSWER_TEXT] = GG_PART_TEXT,
        [CHAT_ANSWER_THOUGHT] = GG_PART_REASONING,
        [CHAT_ANSWER_HEADER] = GG_PART_ALL,
        [CHAT_ANSWER_CALLS] = GG_PART_CALLS,
    };

    return parts[a->state];
}

/* Held bytes from..to, in pieces of which all is a control token's, or
 * none. */
static bool
put_held(struct chat_answer *a, size_t from, size_t to, enum gg_part part,
         chat_answer_sink sink, void *data)
{
    while (from < to) {
        size_t end = from + 1;

        while (end < to && a->control[end] == a->control[from])
            end++;
        if (!sink(data, part, a->held + from, end - from, a->control[from]))
            return false;
        from = end;
    }
    return true;
}

static size_t
skip_space(const struct chat_answer *a, size_t at)
{
    while (at < a->n && !a->control[at] && is_space(a->held[at]))
        at++;
    return at;
}

/* The text or mark at `at`. */
struct found {
    size_t end; /* of it; at: one can't tell yet */
    const struct chat_reader_mark *mark;
    enum gg_part part;
};

/* White space: it is no part at the beginning of a thought and after it, nor
 * in front of the mark that ends it, or that opens one at the beginning. */
static void
look_at_space(const struct chat_answer *a, size_t at, bool last,
              struct found *f)
{
    size_t end = skip_space(a, at);
    bool thought = a->state == CHAT_ANSWER_THOUGHT, open = false;
    size_t unused;

    f->end = end;
    if (a->begins && (thought || a->after_thought))
        f->part = GG_PART_ALL;
    else if (!thought && !a->begins)
        return;
    else if (end == a->n)
        f->end = last ? end : at;
    else if (find_mark(a, end, &open, &unused))
        f->part = GG_PART_ALL;
    else if (open && !last)
        f->end = at;
}

static struct found
look(const struct chat_answer *a, size_t at, bool last)
{
    struct found f = { at, NULL, chat_answer_part(a) };
    bool open;
    size_t end;

    f.mark = find_mark(a, at, &open, &end);
    if (open && !last) {
        f.mark = NULL;
    } else if (f.mark) {
        f.end = end;
        f.part = f.mark->kind == CHAT_MARK_CALL ? GG_PART_CALLS : GG_PART_ALL;
    } else if (a->state <= CHAT_ANSWER_THOUGHT && !a->control[at] &&
               is_space(a->held[at])) {
        look_at_space(a, at, last, &f);
    } else {
        f.end = at + 1;
    }
    return f;
}

/* Whether a message has no header: it begins with a word, not with a control
 * token, and is text. */
static bool
lacks_header(const struct chat_answer *a, size_t at, const struct found *f)
{
    return a->blank && !f->mark && !a->control[at] && !is_space(a->held[at]);
}

/* All that can be told. */
static bool
read_held(struct chat_answer *a, bool last, chat_answer_sink sink, void *data)
{
    size_t at = 0;
    bool done = true;

    while (done && at < a->n && !a->ended) {
        struct found f = look(a, at, last);

        if (f.end == at)
            break;
        if (lacks_header(a, at, &f)) {
            enter(a, CHAT_ANSWER_TEXT, false);
            continue;
        }
        a->blank = a->blank && !a->control[at];
        done = put_held(a, at, f.end, f.part, sink, data);
        if (f.mark)
            pass_mark(a, f.mark->kind);
        else if (skip_space(a, at) < f.end && !a->control[at])
            a->begins = a->after_thought = false;
        at = f.end;
    }
    if (a->ended)
        at = a->n;
    a->n -= at;
    memmove(a->held, a->held + at, a->n);
    memmove(a->control, a->control + at, a->n * sizeof(*a->control));
    return done;
}

static bool
hold_back(struct chat_answer *a, const char *p, size_t n, bool control)
{
    if (!mem_grow(&a->held, &a->cap, a->n + n, 1) ||
        !mem_grow(&a->control, &a->cap_control, a->n + n, sizeof(*a->control)))
        return false;
    memcpy(a->held + a->n, p, n);
    for (size_t i = 0; i < n; i++)
        a->control[a->n + i] = control;
    a->n += n;
    return true;
}

bool
chat_answer_add(struct chat_answer *a, const char *p, size_t n, bool control,
                chat_answer_sink sink, void *data)
{
    if (a->ended || n == 0)
        return true;
    if (a->n == 0 && !may_have_marks(a) && !a->after_thought)
        return sink(data, chat_answer_part(a), p, n, control);
    return hold_back(a, p, n, control) && read_held(a, false, sink, data);
}

bool
chat_answer_end(struct chat_answer *a, chat_answer_sink sink, void *data)
{
    return a->n == 0 || read_held(a, true, sink, data);
}

void
chat_answer_drop(struct chat_answer *a)
{
    a->n = 0;
}

void
chat_answer_clear(struct chat_answer *a)
{
    mem_free(a->held);
    mem_free(a->control);
    *a = (struct chat_answer){ 0 };
}

bool
chat_answer_is_framed(const struct chat_answer *a)
{
    return a->reader && is_framed(a->reader);
}

bool
chat_answer_stops(const struct chat_answer *a, const char *p, size_t n)
{
    for (size_t i = 0; i < a->reader->n_marks; i++) {
        const struct chat_reader_mark *m = &a->reader->marks[i];

        if (m->kind == CHAT_MARK_STOP && m->n == n && !memcmp(m->s, p, n))
            return true;
    }
    return false;
}

/* ---- beginning ----------------------------------------------------------- */

static bool
ignore(void *data, enum gg_part part, const char *p, size_t n, bool control)
{
    (void)data, (void)part, (void)p, (void)n, (void)control;
    return true;
}

/* A control token that is no part of a mark: nothing goes on after it. */
static bool
is_barrier(const struct gg_chat_reader *r, int32_t id)
{
    size_t n;
    const uint8_t *p = vocab_bytes(r->vocab, id, &n);

    if (vocab_type(r->vocab, id) != GG_TOKEN_CONTROL)
        return false;
    for (size_t i = 0; i < r->n_marks; i++)
        if (r->marks[i].kind < CHAT_MARK_CALL && n &&
            memmem(r->marks[i].s, r->marks[i].n, p, n))
            return false;
    return true;
}

/* In a prompt each token is a beginning. */
static bool
read_prompt(struct chat_answer *a, const int32_t *ids, size_t n)
{
    const struct gg_vocab *v = a->reader->vocab;
    bool done = true;

    for (size_t i = 0; done && i < n; i++) {
        size_t len;
        const char *p = (const char *)vocab_bytes(v, ids[i], &len);
        bool control = vocab_type(v, ids[i]) == GG_TOKEN_CONTROL;

        a->begins = a->begins || a->state == CHAT_ANSWER_TEXT;
        done = chat_answer_add(a, p, len, control, ignore, NULL);
    }
    a->begins = a->begins || a->state == CHAT_ANSWER_TEXT;
    return done;
}

static void
start_fresh(struct chat_answer *a, const struct gg_chat_reader *reader)
{
    a->reader = reader;
    a->n = 0;
    a->state = CHAT_ANSWER_TEXT;
    a->begins = a->fresh = true;
    a->after_thought = a->ended = a->blank = false;
}

enum gg_status
chat_answer_begin(struct chat_answer *a, const struct gg_chat_reader *reader,
                  const int32_t *ids, size_t n, struct gg_error *err)
{
    size_t from = n;

    start_fresh(a, reader);
    if (!reader || reader->n_marks == 0)
        return GG_OK;
    while (from > 0 && !is_barrier(reader, ids[from - 1]))
        from--;
    if (n > 0 && !read_prompt(a, ids + from, n - from))
        return error_nomem(err);
    if (a->state == CHAT_ANSWER_CALLS || a->ended)
        start_fresh(a, reader);
    if (is_framed(reader))
        a->fresh = a->state == CHAT_ANSWER_HEADER;
    a->n = 0;
    return GG_OK;
}

/* ---- spills -------------------------------------------------------------- */

/* Whether the mark that ends the thought has come, with text after it. */
static bool
has_text_after(const struct chat_answer *a, const char *p, size_t n)
{
    for (size_t i = 0; i < a->reader->n_marks; i++) {
        const struct chat_reader_mark *m = &a->reader->marks[i];
        const char *at;

        if (m->kind != CHAT_MARK_CLOSE || m->control[m->n - 1])
            continue;
        at = memmem(p, n, m->s, m->n);
        for (at = at ? at + m->n : p + n; at < p + n; at++)
            if (!is_space(*at))
                return true;
    }
    return false;
}

bool
chat_answer_spills(const struct chat_answer *a, const char *p, size_t n,
                   bool *spills)
{
    char *all;

    *spills = false;
    if (a->state != CHAT_ANSWER_THOUGHT || n < 2)
        return true;
    all = mem_alloc(a->n + n);
    if (!all)
        return false;
    if (a->n)
        memcpy(all, a->held, a->n);
    memcpy(all + a->n, p, n);
    *spills = has_text_after(a, all, a->n + n);
    mem_free(all);
    return true;
}
