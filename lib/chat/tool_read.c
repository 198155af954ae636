/* tool_read.c - reading calls by their form */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_read.h"

#include <string.h>

#include "chat/tool_reader.h"
#include "chat/tool_types.h"

enum {
    TRIES = 16, /* places where calls may begin */
    WORK = 16,  /* bytes looked at in vain, for each one of the text */
};

/* ---- pieces ---- */

/* Text that may follow slot i: the text after it, and, where an id follows,
 * that after the id. */
static const char *
text_after(const struct tool_form *f, size_t i, bool other)
{
    i += other ? 3 : 1;
    if (i >= f->n_pieces || f->pieces[i].slot != TOOL_TEXT ||
        (other && f->pieces[i - 1].slot != TOOL_ID))
        return NULL;
    return f->pieces[i].text;
}

/* Text before arguments: a number in it may be missing, and all before the tag
 * after it. */
static size_t
text_match(const struct tool_reader *r, size_t at, const char *literal)
{
    size_t to = chat_tool_read_match(r, at, literal);
    const char *digits = strchr(literal, '\1');
    const char *tag = digits ? chat_tool_last_tag(digits) : NULL;

    return to == TOOL_NOT_THERE && tag && r->f->kind == TOOL_JSON
               ? chat_tool_read_match(r, at, tag)
               : to;
}

/* Where the name or id of slot i ends: before what stands after it. */
static size_t
slot_end(const struct tool_reader *r, size_t i, size_t at)
{
    const char *next = text_after(r->f, i, false);
    const char *other = text_after(r->f, i, true);
    size_t most = chat_tool_read_name_end(r, at);

    for (size_t to = at + 1; next && *next != '\2' && to < most; to++)
        if (text_match(r, to, next) != TOOL_NOT_THERE ||
            (other && chat_tool_read_match(r, to, other) != TOOL_NOT_THERE))
            return to;
    return most;
}

/* The id that is made of the name and the number after it. */
static void
find_id(const struct tool_reader *r, struct tool_call *c, size_t at)
{
    size_t before = r->f->id_prefix ? strlen(r->f->id_prefix) : 0;
    size_t name = (size_t)(c->name.s - r->s), end = at;

    if (!r->f->id_prefix || name < before)
        return;
    while (end > name && !(r->s[end - 1] >= '0' && r->s[end - 1] <= '9'))
        end--;
    c->id.s = c->name.s - before;
    c->id.n = (size_t)(r->s + end - c->id.s);
}

/* Whether a call ends at `at`, of which the arguments are missing. */
static bool
is_bare(const struct tool_reader *r, const struct tool_call *c, size_t at)
{
    const struct tool_piece *last = &r->f->pieces[r->f->n_pieces - 1];

    return last->slot == TOOL_TEXT && c->name.s &&
           chat_tool_is_declared(r, c->name) &&
           chat_tool_read_closing(r, at, last->text) != TOOL_NOT_THERE;
}

/* Arguments that are an object. */
static size_t
object(struct tool_reader *r, struct tool_call *c, size_t at)
{
    struct tool_text made = { 0 };
    struct tool_span span;
    size_t to = chat_tool_read_json(r, at, &made, &span);

    if (to != TOOL_NOT_THERE)
        chat_tool_put(&c->arguments, span.s, span.n);
    else if (is_bare(r, c, at)) {
        chat_tool_puts(&c->arguments, "{}");
        to = at;
    }
    c->arguments.failed |= made.failed;
    chat_tool_text_clear(&made);
    return to;
}

/* The end of what there is of the text that closes a call. */
static size_t
closed(const struct tool_reader *r, size_t at, const char *literal)
{
    for (size_t n; (n = chat_tool_unit(literal)) > 0; literal += n) {
        size_t to = chat_tool_match_part(r->s, r->n, at, literal, n);

        at = to == TOOL_NOT_THERE ? at : to;
    }
    return at;
}

/* A piece that is text: where it ends, or `at` where it may be missing. That
 * before an id goes with the id, *i. */
static size_t
text(const struct tool_reader *r, const struct tool_call *c, size_t *i,
     size_t at)
{
    const struct tool_piece *p = &r->f->pieces[*i];
    size_t to = text_match(r, at, p->text);

    if (to != TOOL_NOT_THERE)
        return to;
    if (*i + 1 == r->f->n_pieces)
        return closed(r, at, p->text);
    if (p[1].slot == TOOL_ID) {
        *i += 1;
        return at;
    }
    at = chat_tool_space_end(r->s, r->n, at);
    return p[1].slot == TOOL_ARGUMENTS && c->name.s &&
                   chat_tool_is_declared(r, c->name) && at < r->n &&
                   r->s[at] == '{'
               ? at
               : TOOL_NOT_THERE;
}

static size_t
slot(const struct tool_reader *r, struct tool_call *c, size_t i, size_t at)
{
    size_t from = chat_tool_space_end(r->s, r->n, at);
    size_t end = slot_end(r, i, from);
    struct tool_span *to =
        r->f->pieces[i].slot == TOOL_NAME ? &c->name : &c->id;

    *to = (struct tool_span){ r->s + from, end - from };
    return end > from ? end : TOOL_NOT_THERE;
}

static size_t
read_arguments(struct tool_reader *r, struct tool_call *c, size_t at)
{
    if (r->f->kind != TOOL_PAIRS)
        return object(r, c, at);
    return r->f->item ? chat_tool_read_nested(r, c, at)
                      : chat_tool_read_pairs(r, c, at);
}

static size_t
pieces(struct tool_reader *r, struct tool_call *c, size_t at)
{
    const struct tool_form *f = r->f;
    size_t i = f->pieces[0].slot == TOOL_TEXT;

    at = chat_tool_read_opening(r, at);
    for (; i < f->n_pieces && at != TOOL_NOT_THERE; i++)
        if (f->pieces[i].slot == TOOL_TEXT) {
            at = text(r, c, &i, at);
        } else if (f->pieces[i].slot == TOOL_ARGUMENTS) {
            if (c->name.s)
                find_id(r, c, at);
            at = read_arguments(r, c, at);
        } else {
            at = slot(r, c, i, at);
        }
    return at;
}

/* ---- calls ---- */

/* Whether a name is one of a call: it is declared, or has a mark before it and
 * arguments. */
static bool
is_name(const struct tool_reader *r, const struct tool_call *c)
{
    return chat_tool_is_declared(r, c->name) ||
           (!r->strict && r->f->pieces[0].slot == TOOL_TEXT &&
            c->arguments.n > 2);
}

/* A call in pieces. */
static size_t
other_call(struct tool_reader *r, size_t at)
{
    struct tool_call c = { 0 };

    at = pieces(r, &c, at);
    if (at != TOOL_NOT_THERE && !(c.name.n && is_name(r, &c)))
        at = TOOL_NOT_THERE;
    if (at != TOOL_NOT_THERE)
        chat_tool_read_put(r, &c);
    r->out->failed |= c.arguments.failed;
    chat_tool_text_clear(&c.arguments);
    return at;
}

static size_t
call(struct tool_reader *r, size_t at)
{
    if (r->work == 0 || r->out->failed)
        return TOOL_NOT_THERE;
    return r->f->kind == TOOL_OBJECT ? chat_tool_read_object(r, at)
                                     : other_call(r, at);
}

/* Calls one after another, from where they may begin; returns where what is
 * around the last one ends, TOOL_NOT_THERE: there is none. */
static size_t
calls(struct tool_reader *r, size_t at)
{
    size_t had = r->count, to = at, next;

    while (to != TOOL_NOT_THERE) {
        at = to;
        next = at < r->n ? call(r, at) : TOOL_NOT_THERE;
        to = next == TOOL_NOT_THERE ? chat_tool_read_mark(r, at) : next;
    }
    return r->count > had ? at : TOOL_NOT_THERE;
}

/* ---- where calls begin ---- */

/* The form in which many models write calls, whatever their template says. */
static const struct tool_form common = {
    .name = "hermes",
    .kind = TOOL_OBJECT,
    .open = "",
    .separator = "",
    .end = "",
    .head = TOOL_COMMON_MARK,
    .foot = "</tool_call>",
    .name_key = "name",
    .arguments_key = "arguments",
};

/* The first place from `from` on where the mark stands, or TOOL_NOT_THERE. */
static size_t
find_mark(const struct tool_reader *r, const struct chat_mark *m, size_t from)
{
    size_t first = chat_tool_space_end(r->s, r->n, 0);
    char c = m->s[chat_tool_space_end(m->s, m->n, 0)];
    const char *p = r->s + from;

    if (m->first)
        return from <= first && first < r->n && r->s[first] == *m->s
                   ? first
                   : TOOL_NOT_THERE;
    for (; (p = memchr(p, c, r->n - (size_t)(p - r->s))); p++)
        if (chat_tool_match_part(r->s, r->n, (size_t)(p - r->s), m->s, m->n) !=
            TOOL_NOT_THERE)
            return (size_t)(p - r->s);
    return TOOL_NOT_THERE;
}

/* The first of all marks from `from` on; *bare: it is no sign of a call by
 * itself. `next` has where each was found before. */
static size_t
find_begin(const struct tool_reader *r, size_t from, size_t *next, bool *bare)
{
    size_t best = TOOL_NOT_THERE;

    for (size_t i = 0; i < r->f->n_begins; i++) {
        if (next[i] < from || from == 0)
            next[i] = find_mark(r, &r->f->begins[i], from);
        if (next[i] < best) {
            best = next[i];
            *bare = r->f->begins[i].first;
        }
    }
    return best;
}

/* The end of the form's marks that stand at `at`. */
static size_t
marks_end(const struct tool_reader *r, size_t at)
{
    for (size_t to = at; to != TOOL_NOT_THERE && at < r->n;
         to = chat_tool_read_mark(r, at))
        at = to;
    return at;
}

/* Calls in the common form, from `at` on, with the form's own marks around
 * them. */
static size_t
common_calls(struct tool_reader *r, size_t at)
{
    const struct tool_form *f = r->f;
    size_t from = marks_end(r, at), to;

    r->f = &common;
    r->strict = true;
    to = calls(r, at);
    if (to == TOOL_NOT_THERE && from > at)
        to = calls(r, from);
    r->f = f;
    return to == TOOL_NOT_THERE ? to : marks_end(r, to);
}

/* Calls from a place where they may begin, in the form or in the common one;
 * what is no call is taken away. Without a mark nothing else may follow. */
static size_t
calls_from(struct tool_reader *r, size_t at, bool bare)
{
    size_t had = r->out->n, count = r->count, to;

    r->strict = bare;
    to = calls(r, at);
    if (bare && to != TOOL_NOT_THERE &&
        chat_tool_space_end(r->s, r->n, to) < r->n)
        to = TOOL_NOT_THERE;
    if (to == TOOL_NOT_THERE && !bare)
        to = common_calls(r, at);
    if (to == TOOL_NOT_THERE) {
        chat_tool_text_cut(r->out, had);
        r->count = count;
    }
    return to;
}

/* The text s[from..to), without white space around it, after other text. */
static void
put_text(struct tool_text *out, const char *s, size_t from, size_t to)
{
    while (to > from && chat_tool_is_space(s[to - 1]))
        to--;
    from = chat_tool_space_end(s, to, from);
    if (out->n && from < to)
        chat_tool_puts(out, "\n");
    chat_tool_put(out, s + from, to - from);
}

size_t
chat_tool_read(const struct tool_form *f, const json_t *tools, const char *s,
               size_t n, struct tool_text *out, size_t *content,
               struct tool_text *after)
{
    struct tool_reader r = { .f = f, .tools = tools, .s = s, .n = n };
    size_t next[TOOL_MARKS], at = 0, end = 0, to;
    bool bare = false;

    r.out = out;
    r.work = WORK * n + 1;
    *content = n;
    chat_tool_puts(out, "[");
    for (int i = 0; n && i < TRIES; i += to == TOOL_NOT_THERE) {
        at = find_begin(&r, at, next, &bare);
        if (at == TOOL_NOT_THERE)
            break;
        to = calls_from(&r, at, bare);
        if (to != TOOL_NOT_THERE && end == 0)
            for (*content = at;
                 *content && chat_tool_is_space(s[*content - 1]);)
                --*content;
        else if (to != TOOL_NOT_THERE)
            put_text(after, s, end, at);
        end = to == TOOL_NOT_THERE ? end : to;
        at = to == TOOL_NOT_THERE ? at + 1 : to;
    }
    if (r.count)
        put_text(after, s, end, n);
    chat_tool_puts(out, "]");
    out->failed |= after->failed;
    return r.count;
}

#endif
