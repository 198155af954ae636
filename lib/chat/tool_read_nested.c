/* tool_read_nested.c - calls whose arguments stand between tags of their keys,
 * as do values in them */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "chat/tool_reader.h"
#include "chat/tool_types.h"

enum {
    KEY_MOST = 1024,
    NESTED_DEPTH = 100, /* of values in values */
};

/* The key and schema that a value is read for. */
struct element {
    struct tool_span key;
    const json_t *schema; /* or NULL */
    const json_t *root;   /* that its references begin at */
    int depth;
};

/* ---- tags ---- */

/* The end of a key in a tag. */
static size_t
key_end(const struct tool_reader *r, size_t at)
{
    size_t most = r->n - at > KEY_MOST ? at + KEY_MOST : r->n;

    if (at < most && r->s[at] == '/')
        return at;
    while (at < most && r->s[at] && !strchr("<>\n", r->s[at]))
        at++;
    return at;
}

/* The end of the tag that opens a value at `at`. */
static size_t
opening_tag_end(const struct tool_reader *r, size_t at, struct tool_span *key)
{
    size_t from = chat_tool_read_match(r, at, r->f->next), to;

    if (from == TOOL_NOT_THERE)
        return from;
    to = key_end(r, from);
    *key = (struct tool_span){ r->s + from, to - from };
    return to > from ? chat_tool_match_before(r->s, r->n, to,
                                              r->f->variants[0].before)
                     : TOOL_NOT_THERE;
}

/* The end of a tag at `at` that closes a value; *own: one of this key. */
static size_t
closing_tag_end(const struct tool_reader *r, size_t at, struct tool_span key,
                bool *own)
{
    size_t from = chat_tool_read_match(r, at, r->f->closing), to;

    if (from == TOOL_NOT_THERE)
        return from;
    to = key_end(r, from);
    *own = to - from == key.n && memcmp(r->s + from, key.s, key.n) == 0;
    return to > from ? chat_tool_read_match(r, to, r->f->closed)
                     : TOOL_NOT_THERE;
}

/* Where a text ends: before the tag of its key, or, where there is none before
 * the call ends, before any that closes; *to is after its own. */
static size_t
text_end(struct tool_reader *r, size_t at, struct tool_span key, size_t *to)
{
    const char *closing = r->f->closing, *p;
    size_t space = chat_tool_space_end(closing, strlen(closing), 0);
    size_t other = TOOL_NOT_THERE, i = at;
    bool own = false;

    for (; !own && i < r->n && (p = memchr(r->s + i, closing[space], r->n - i));
         i += !own) {
        i = (size_t)(p - r->s);
        *to = closing_tag_end(r, i, key, &own);
        own = own && *to != TOOL_NOT_THERE;
        if (own || *to == TOOL_NOT_THERE)
            continue;
        other = other == TOOL_NOT_THERE ? i : other;
        if (chat_tool_read_match(r, i, r->f->close) != TOOL_NOT_THERE)
            break;
    }
    if (!own) {
        chat_tool_spend(r, r->n - at);
        *to = i = other;
    }
    return i != TOOL_NOT_THERE && space <= i - at &&
                   memcmp(r->s + i - space, closing, space) == 0
               ? i - space
               : i;
}

/* ---- values ---- */

static size_t
read_tagged(struct tool_reader *r, struct tool_text *out,
            const struct element *e, size_t at);

/* The key of list items, unless only objects may stand here. */
static bool
is_list(const struct tool_reader *r, unsigned types, struct tool_span key)
{
    bool item =
        strlen(r->f->item) == key.n && memcmp(r->f->item, key.s, key.n) == 0;

    return (types & TOOL_ARRAY) && (item || !(types & TOOL_DICT));
}

/* Values in a value, one after another; returns where the last one ends. */
static size_t
read_inner(struct tool_reader *r, struct tool_text *out,
           const struct element *e, bool list, size_t at)
{
    struct element inner = { .root = e->root, .depth = e->depth + 1 };
    size_t from;

    chat_tool_puts(out, list ? "[" : "{");
    for (size_t n = 0;
         at != TOOL_NOT_THERE &&
         (from = opening_tag_end(r, at, &inner.key)) != TOOL_NOT_THERE;
         n++) {
        chat_tool_puts(out, n ? ", " : "");
        if (!list) {
            chat_tool_put_string(out, inner.key.s, inner.key.n);
            chat_tool_puts(out, ": ");
        }
        inner.schema = chat_tool_inner_schema(
            e->root, e->schema, list ? NULL : inner.key.s, inner.key.n);
        at = read_tagged(r, out, &inner, from);
    }
    chat_tool_puts(out, list ? "]" : "}");
    return at;
}

/* read_inner() up to the value's own tag. */
static size_t
read_nested_value(struct tool_reader *r, struct tool_text *out,
                  const struct element *e, bool list, size_t at)
{
    size_t to = read_inner(r, out, e, list, at), end;
    bool own = false;

    if (to == TOOL_NOT_THERE)
        return to;
    end = closing_tag_end(r, to, e->key, &own);
    return end == TOOL_NOT_THERE || own ? end : to;
}

/* A value that has no text. */
static void
put_empty(struct tool_text *out, unsigned types)
{
    const char *s = types & TOOL_STRING  ? "\"\""
                    : types & TOOL_ARRAY ? "[]"
                    : types & TOOL_DICT  ? "{}"
                    : types & TOOL_NULL  ? "null"
                                         : "\"\"";

    chat_tool_puts(out, s);
}

/* Reads a value from after its tag on; returns where what closes it ends. */
static size_t
read_tagged(struct tool_reader *r, struct tool_text *out,
            const struct element *e, size_t at)
{
    unsigned types = e->schema ? chat_tool_types(e->schema) : TOOL_ANY;
    size_t had = out->n, to = TOOL_NOT_THERE, end;
    struct tool_span key;

    if (r->work == 0 || out->failed)
        return TOOL_NOT_THERE;
    if (e->depth < NESTED_DEPTH && types & (TOOL_ARRAY | TOOL_DICT) &&
        opening_tag_end(r, at, &key) != TOOL_NOT_THERE)
        to = read_nested_value(r, out, e, is_list(r, types, key), at);
    if (to != TOOL_NOT_THERE)
        return to;
    chat_tool_text_cut(out, had);
    end = text_end(r, at, e->key, &to);
    if (end == TOOL_NOT_THERE)
        return end;
    if (end == at)
        put_empty(out, types);
    else
        chat_tool_read_put_delimited(r, out, types, at, end);
    return to;
}

size_t
chat_tool_read_nested(struct tool_reader *r, struct tool_call *c, size_t at)
{
    const char *first = r->f->first;
    struct element e = { 0 };

    at = chat_tool_match_part(r->s, r->n, at, first,
                              strlen(first) - strlen(r->f->next));
    if (at == TOOL_NOT_THERE)
        return at;
    e.root = e.schema = chat_tool_parameters(r->tools, c->name.s, c->name.n);
    at = read_inner(r, &c->arguments, &e, false, at);
    return at == TOOL_NOT_THERE ? at
                                : chat_tool_read_closing(r, at, r->f->close);
}

#endif
