/* tool_read_pairs.c - calls whose arguments are keys and values, one after
 * another */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "chat/tool_reader.h"
#include "chat/tool_types.h"

enum {
    KEY_MOST = 4096,
};

/* ---- keys ---- */

/* Text before a value, without attributes of a tag: what is before the
 * first blank, and after the last quotation mark. */
static size_t
bare_before(const struct tool_reader *r, size_t at, const char *before)
{
    const char *blank = strchr(before, ' '), *quote = strrchr(before, '"');
    size_t to;

    if (!blank || !quote || quote < blank || blank == before ||
        !strchr(quote, '>'))
        return TOOL_NOT_THERE;
    to = chat_tool_match_part(r->s, r->n, at, before, (size_t)(blank - before));
    return to == TOOL_NOT_THERE
               ? to
               : chat_tool_match_before(r->s, r->n, to, quote + 1);
}

/* The longest that begins at `at` with what stands before its values. */
static const struct tool_variant *
variant_at(const struct tool_reader *r, size_t at, size_t *to)
{
    const struct tool_variant *best = NULL;

    for (size_t i = 0; i < r->f->n_variants; i++) {
        const struct tool_variant *v = &r->f->variants[i];
        size_t end = chat_tool_match_before(r->s, r->n, at, v->before);

        if (end == TOOL_NOT_THERE)
            end = bare_before(r, at, v->before);
        if (end != TOOL_NOT_THERE && (!best || end > *to)) {
            best = v;
            *to = end;
        }
    }
    return best;
}

static char
first_character(const char *s)
{
    return s[chat_tool_space_end(s, strlen(s), 0)];
}

/* Whether a character stands in no key: it begins what stands around them. */
static bool
is_foreign(const struct tool_reader *r, char c)
{
    return c == '<' || c == '\n' || c == first_character(r->f->next) ||
           c == first_character(r->f->close);
}

/* The end of a key in quotation marks; `at`: there is none. */
static size_t
quoted_end(const struct tool_reader *r, size_t at)
{
    const char *end;

    if (at == r->n || (r->s[at] != '"' && r->s[at] != '\''))
        return at;
    end = memchr(r->s + at + 1, r->s[at], r->n - at - 1);
    return end ? (size_t)(end - r->s) + 1 : at;
}

/* A key that begins at `at`, without blanks and quotation marks around it; *to
 * gets where its value begins. NULL: there is none. */
static const struct tool_variant *
key_at(const struct tool_reader *r, size_t at, struct tool_span *key,
       size_t *to)
{
    size_t from = chat_tool_space_end(r->s, r->n, at);
    size_t end = quoted_end(r, from);
    const struct tool_variant *v = NULL;

    if (end > from && (v = variant_at(r, end, to))) {
        *key = (struct tool_span){ r->s + from + 1, end - from - 2 };
        return v;
    }
    for (end = from; end < r->n && end - from < KEY_MOST && !v; end += !v) {
        v = variant_at(r, end, to);
        if (!v && is_foreign(r, r->s[end]))
            return NULL;
    }
    while (end > from && chat_tool_is_space(r->s[end - 1]))
        end--;
    *key = (struct tool_span){ r->s + from, end - from };
    return end > from ? v : NULL;
}

/* Whether a key is one of the tool's arguments, as far as they are known. */
static bool
is_argument(const struct tool_reader *r, const struct tool_call *c,
            struct tool_span key)
{
    return chat_tool_has_argument(r->tools, c->name.s, c->name.n, key.s, key.n);
}

/* ---- where values end ---- */

/* Where a value ends, and what follows. */
struct ending {
    size_t value; /* after it */
    size_t to;    /* where the next key begins, or the call has ended */
    bool more;    /* another key follows */
};

/* Text between the last value and the end: a comma in Python. */
static size_t
last_comma(const struct tool_reader *r, size_t at)
{
    size_t to = first_character(r->f->next) == ','
                    ? chat_tool_read_match(r, at, ",")
                    : TOOL_NOT_THERE;

    return to == TOOL_NOT_THERE ? at : to;
}

/* Whether a value ends at `at`, with `after` next. At the end of the
 * answer what closes the call may be missing, after a tag. */
static bool
ends_at(const struct tool_reader *r, const struct tool_call *c, size_t at,
        const char *after, struct ending *e)
{
    size_t past = chat_tool_read_match(r, at, after), key;
    struct tool_span name;
    bool declared = *after != '\0';

    if (past == TOOL_NOT_THERE)
        return false;
    e->value = at;
    e->to = chat_tool_read_match(r, past, r->f->next);
    e->more = e->to != TOOL_NOT_THERE && key_at(r, e->to, &name, &key) &&
              (declared || is_argument(r, c, name));
    if (!e->more)
        e->to = chat_tool_read_closing(r, last_comma(r, past), r->f->close);
    if (e->to == TOOL_NOT_THERE && chat_tool_last_tag(after) &&
        chat_tool_space_end(r->s, r->n, past) == r->n)
        e->to = r->n;
    return e->to != TOOL_NOT_THERE;
}

/* Whether another call begins at `at`. */
static bool
is_call(const struct tool_reader *r, size_t at)
{
    size_t name = chat_tool_read_opening(r, at), end;

    if (name == TOOL_NOT_THERE || name == at)
        return false;
    end = chat_tool_read_name_end(r, name);
    return end > name &&
           chat_tool_is_declared(
               r, (struct tool_span){ r->s + name, end - name }) &&
           (chat_tool_read_match(r, end, r->f->first) != TOOL_NOT_THERE ||
            chat_tool_read_closing(r, end, r->f->none) != TOOL_NOT_THERE);
}

/* Whether a value that nothing closes ends at `at`: before the next argument,
 * the end of the call, or another call. */
static bool
breaks_at(const struct tool_reader *r, const struct tool_call *c, size_t at,
          struct ending *e)
{
    if (first_character(r->f->next) != '<')
        return false;
    if (!ends_at(r, c, at, "", e)) {
        e->value = e->to = at;
        e->more = false;
        return is_call(r, at);
    }
    return e->more || chat_tool_read_border(r, e->to);
}

/* Where the value ends that begins at `at`. One that is not closed ends where
 * it breaks; the mark that closes it counts where the call goes on, or ends as
 * calls do, or else, if there is no such, by itself. */
static bool
find_end(struct tool_reader *r, const struct tool_call *c,
         const struct tool_variant *v, size_t at, struct ending *e)
{
    struct ending loose = { .to = TOOL_NOT_THERE };
    size_t i = at;

    for (; i <= r->n; i++) {
        if (i < r->n && chat_tool_is_space(r->s[i]))
            continue;
        if (ends_at(r, c, i, v->after, e)) {
            if (e->more || chat_tool_read_border(r, e->to))
                return true;
            loose = loose.to == TOOL_NOT_THERE ? *e : loose;
        } else if (breaks_at(r, c, i, e)) {
            if (loose.to == TOOL_NOT_THERE)
                return true;
            break;
        }
    }
    *e = loose;
    chat_tool_spend(r, i - at);
    return e->to != TOOL_NOT_THERE;
}

/* ---- values ---- */

/* The end of s[from..to) without white space: that with which the mark after
 * the value begins, and blanks in the mark's line; all where there is no
 * mark. */
static size_t
without_space(const struct tool_reader *r, const struct tool_variant *v,
              size_t from, size_t to)
{
    size_t n = chat_tool_space_end(v->after, strlen(v->after), 0), end = to;
    bool closed = chat_tool_read_match(r, to, v->after) != TOOL_NOT_THERE;

    while (end > from && chat_tool_is_space(r->s[end - 1]) &&
           (!closed || (r->s[end - 1] != '\n' && *v->after == '\n')))
        end--;
    if (!closed)
        return end;
    return n && n <= end - from && memcmp(r->s + end - n, v->after, n) == 0
               ? end - n
               : to;
}

void
chat_tool_read_put_delimited(struct tool_reader *r, struct tool_text *out,
                             unsigned types, size_t from, size_t to)
{
    size_t had = out->n, at = from, end = to;

    while (end > from && chat_tool_is_space(r->s[end - 1]))
        end--;
    at = chat_tool_space_end(r->s, end, from);
    if ((!(types & TOOL_STRING) ||
         (types & chat_tool_type_by_look(r->s + at, end - at) &
          ~(unsigned)TOOL_STRING)) &&
        chat_tool_value(out, r->s, end, &at) && at == end)
        return;
    chat_tool_text_cut(out, had);
    chat_tool_put_string(out, r->s + from, to - from);
}

/* A value in the notation of JSON, Python or Gemma, which says where it ends:
 * one without a mark, or one in quotation marks. False: it does not end as it
 * should. */
static bool
put_notation(struct tool_reader *r, struct tool_call *c,
             const struct tool_variant *v, size_t at, struct ending *e)
{
    size_t had = c->arguments.n, from = at;
    char quote = *v->after;
    bool quoted =
        (quote == '\'' || quote == '"') && at > 0 && r->s[at - 1] == quote;

    if (quote && !quoted)
        return false;
    at -= quoted;
    if (chat_tool_value(&c->arguments, r->s, r->n, &at) &&
        ends_at(r, c, at, v->after + quoted, e))
        return true;
    chat_tool_text_cut(&c->arguments, had);
    chat_tool_spend(r, at > from ? at - from : 0);
    return false;
}

/* Types of a value by the tool's schema and by the marks around it: where they
 * have none in common, text is what the schema says, and all else what the
 * marks say. */
static unsigned
value_types(unsigned schema, unsigned marks)
{
    if (schema & marks)
        return schema & marks;
    return marks == TOOL_STRING && schema ? schema : marks;
}

/* A key and its value; returns where the next key begins, or the call has
 * ended. */
static size_t
pair(struct tool_reader *r, struct tool_call *c, size_t at, bool *more)
{
    struct tool_span key;
    size_t from, end;
    const struct tool_variant *v = key_at(r, at, &key, &from);
    struct ending e = { 0 };
    unsigned types;

    if (!v)
        return TOOL_NOT_THERE;
    types = chat_tool_types_of(r->tools, c->name.s, c->name.n, key.s, key.n);
    chat_tool_put_string(&c->arguments, key.s, key.n);
    chat_tool_puts(&c->arguments, ": ");
    if (!put_notation(r, c, v, from, &e)) {
        if (r->work == 0 || !find_end(r, c, v, from, &e))
            return TOOL_NOT_THERE;
        end = without_space(r, v, from, e.value);
        chat_tool_read_put_delimited(r, &c->arguments,
                                     value_types(types, v->types), from, end);
    }
    *more = e.more;
    return e.to;
}

size_t
chat_tool_read_pairs(struct tool_reader *r, struct tool_call *c, size_t at)
{
    size_t to = chat_tool_read_closing(r, at, r->f->none);
    bool more = to == TOOL_NOT_THERE;

    chat_tool_puts(&c->arguments, "{");
    if (more)
        to = chat_tool_read_match(r, at, r->f->first);
    for (bool first = true; more && to != TOOL_NOT_THERE; first = false) {
        if (!first)
            chat_tool_puts(&c->arguments, ", ");
        to = pair(r, c, to, &more);
    }
    chat_tool_puts(&c->arguments, "}");
    return to;
}

#endif
