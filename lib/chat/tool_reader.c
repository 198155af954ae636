/* tool_reader.c - parts of the reader of calls that each kind of form uses: the
 * marks around calls, declared names, and the JSON that is written */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_reader.h"

#include <string.h>

#include "chat/tool_read.h"
#include "chat/tool_types.h"

enum {
    ID_LENGTH = 9, /* of ids that are made: what Mistral's templates want */
};

/* A part of an opening that begins at `s`, or, of one that is a tag and the
 * word after it, the tag alone. */
static size_t
opening_end(const struct tool_reader *r, size_t at, const char *s)
{
    size_t n = chat_tool_unit(s), to = chat_tool_read_match(r, at, s);
    const char *tag = chat_tool_is_tag(s, n) ? memrchr(s, '>', n) : NULL;

    if (to != TOOL_NOT_THERE || !tag || s[n] || r->f->kind != TOOL_JSON)
        return to;
    return chat_tool_match_part(r->s, r->n, at, s, (size_t)(tag - s) + 1);
}

size_t
chat_tool_read_opening(const struct tool_reader *r, size_t at)
{
    const struct tool_piece *p = &r->f->pieces[0];
    size_t to = TOOL_NOT_THERE;

    if (p->slot != TOOL_TEXT)
        return chat_tool_space_end(r->s, r->n, at);
    for (const char *s = p->text; *s && to == TOOL_NOT_THERE;) {
        to = opening_end(r, at, s);
        do
            s += chat_tool_unit(s);
        while (*s && !chat_tool_is_tag(s, chat_tool_unit(s)));
    }
    return to == TOOL_NOT_THERE ? to : chat_tool_space_end(r->s, r->n, to);
}

/* Whether a unit of a literal closes a call: a bracket, or a tag that does not
 * stand before the first argument. */
static bool
is_closing(const struct tool_form *f, const char *unit, size_t n)
{
    if (!chat_tool_is_tag(unit, n))
        return n == 1 && strchr(")]}", *unit);
    return !f->first || !memmem(f->first, strlen(f->first), unit, n);
}

size_t
chat_tool_read_closing(const struct tool_reader *r, size_t at,
                       const char *literal)
{
    bool some = false;

    for (size_t n; (n = chat_tool_unit(literal)) > 0; literal += n) {
        bool closes = is_closing(r->f, literal, n);
        size_t to = chat_tool_match_part(r->s, r->n, at, literal, n);

        if (to == TOOL_NOT_THERE && !closes)
            return TOOL_NOT_THERE;
        some = some || (closes && to != TOOL_NOT_THERE);
        at = to == TOOL_NOT_THERE ? at : to;
    }
    return some ? at : TOOL_NOT_THERE;
}

/* Where a unit of a literal ends that stands at `at`, if it is a tag or a
 * bracket, a comma. */
static size_t
unit_end(const struct tool_reader *r, size_t at, const char *literal)
{
    size_t n, to = TOOL_NOT_THERE;

    for (; literal && to == TOOL_NOT_THERE && (n = chat_tool_unit(literal)) > 0;
         literal += n)
        if (chat_tool_is_tag(literal, n) ||
            (n == 1 && strchr("[],;", *literal)))
            to = chat_tool_match_part(r->s, r->n, at, literal, n);
    return to;
}

/* The end of a fence of Markdown at `at`: one before an object or a list, or
 * right after one. */
static size_t
fence_end(const struct tool_reader *r, size_t at)
{
    size_t from = chat_tool_space_end(r->s, r->n, at), to = from + 3, next;

    if (r->n - from < 3 || memcmp(r->s + from, "```", 3) != 0)
        return TOOL_NOT_THERE;
    while (from && chat_tool_is_space(r->s[from - 1]))
        from--;
    if (from && strchr("]}", r->s[from - 1]))
        return to;
    while (to < r->n && r->s[to] >= 'a' && r->s[to] <= 'z')
        to++;
    next = chat_tool_space_end(r->s, r->n, to);
    return next < r->n && strchr("[{", r->s[next]) ? to : TOOL_NOT_THERE;
}

size_t
chat_tool_read_mark(const struct tool_reader *r, size_t at)
{
    const struct tool_form *f = r->f;
    const char *const literals[] = {
        f->open,
        f->open_too,
        f->separator,
        f->end,
        f->end_too,
        f->head,
        f->kind == TOOL_PAIRS ? f->close : f->foot,
        f->n_ends ? f->ends[0].s : NULL,
        f->n_ends > 1 ? f->ends[1].s : NULL,
        f->kind == TOOL_OBJECT ? "[],;" : NULL,
    };
    size_t to = TOOL_NOT_THERE;

    for (size_t i = 0;
         i < sizeof(literals) / sizeof(*literals) && to == TOOL_NOT_THERE; i++)
        to = unit_end(r, at, literals[i]);
    return to == TOOL_NOT_THERE && f->kind == TOOL_OBJECT ? fence_end(r, at)
                                                          : to;
}

bool
chat_tool_read_border(const struct tool_reader *r, size_t at)
{
    at = chat_tool_space_end(r->s, r->n, at);
    return at == r->n || chat_tool_read_mark(r, at) != TOOL_NOT_THERE ||
           (r->f->pieces[0].slot == TOOL_TEXT &&
            chat_tool_read_opening(r, at) != TOOL_NOT_THERE);
}

bool
chat_tool_is_declared(const struct tool_reader *r, struct tool_span name)
{
    return !r->tools || chat_tool_is_there(r->tools, name.s, name.n);
}

size_t
chat_tool_read_name_end(const struct tool_reader *r, size_t at)
{
    size_t most = r->n - at > TOOL_NAME_MOST ? at + TOOL_NAME_MOST : r->n;

    while (at < most && r->s[at] && !chat_tool_is_space(r->s[at]) &&
           !strchr("<>{}()[]\"',=", r->s[at]))
        at++;
    return at;
}

/* Nine letters and digits. */
static void
make_id(const struct tool_reader *r, const struct tool_call *c, char *id)
{
    static const char digits[] =
        "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    uint64_t h = 14695981039346656037u + r->count;

    for (size_t i = 0; i < c->name.n; i++)
        h = (h ^ (unsigned char)c->name.s[i]) * 1099511628211u;
    for (size_t i = 0; i < c->arguments.n; i++)
        h = (h ^ (unsigned char)c->arguments.s[i]) * 1099511628211u;
    h ^= h >> 29;
    for (int i = 0; i + 1 < ID_LENGTH; i++, h /= 62)
        id[i] = digits[h % 62];
    id[ID_LENGTH - 1] = digits[r->count % 62];
}

void
chat_tool_read_put(struct tool_reader *r, const struct tool_call *c)
{
    char made[ID_LENGTH];
    const char *id = c->id.s ? c->id.s : made;

    make_id(r, c, made);
    chat_tool_puts(r->out, r->count++ ? ",{\"id\":" : "{\"id\":");
    chat_tool_put_string(r->out, id, c->id.s ? c->id.n : ID_LENGTH);
    chat_tool_puts(r->out, ",\"type\":\"function\",\"function\":"
                           "{\"name\":");
    chat_tool_put_string(r->out, c->name.s, c->name.n);
    chat_tool_puts(r->out, ",\"arguments\":");
    chat_tool_put_string(r->out, c->arguments.s, c->arguments.n);
    chat_tool_puts(r->out, "}}");
}

#endif
