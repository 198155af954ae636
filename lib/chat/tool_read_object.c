/* tool_read_object.c - calls that are objects of JSON, or nearly so */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "chat/tool_reader.h"

size_t
chat_tool_read_json(struct tool_reader *r, size_t at, struct tool_text *made,
                    struct tool_span *object)
{
    size_t from = chat_tool_space_end(r->s, r->n, at), to;

    if (from == r->n || r->s[from] != '{')
        return TOOL_NOT_THERE;
    to = chat_tool_extent(r->s, r->n, from);
    *object = (struct tool_span){ r->s + from, to ? to - from : 0 };
    if (to && chat_tool_is_json(object->s, object->n))
        return to;
    to = from;
    if (!chat_tool_value(made, r->s, r->n, &to)) {
        chat_tool_spend(r, to - from);
        chat_tool_text_cut(made, 0);
        return TOOL_NOT_THERE;
    }
    *object = (struct tool_span){ made->s, made->n };
    return made->failed ? TOOL_NOT_THERE : to;
}

/* A string of JSON; NULL: it is none. The caller's. */
static json_t *
string_of(struct tool_span value)
{
    json_error_t e;

    return value.n && *value.s == '"'
               ? core_json_load(value.s, value.n,
                                JSON_DECODE_ANY | JSON_ALLOW_NUL, &e)
               : NULL;
}

/* Arguments that are an object in a string. */
static bool
put_quoted(struct tool_text *to, struct tool_span value)
{
    json_t *text = string_of(value);
    const char *s = json_string_value(text);
    size_t n = json_string_length(text), at = 0;
    bool is = false;

    if (text && chat_tool_space_end(s, n, 0) == n) {
        chat_tool_puts(to, "{}");
        is = true;
    } else if (text && s[chat_tool_space_end(s, n, 0)] == '{') {
        is = chat_tool_is_json(s, n);
        if (is)
            chat_tool_put(to, s, n);
        else
            is = chat_tool_value(to, s, n, &at) &&
                 chat_tool_space_end(s, n, at) == n;
    }
    json_decref(text);
    return is;
}

/* The arguments, as text; false: they are none. */
static bool
put_arguments(struct tool_text *to, struct tool_span value)
{
    if (!value.s || (value.n == 4 && memcmp(value.s, "null", 4) == 0)) {
        chat_tool_puts(to, "{}");
        return true;
    }
    if (*value.s != '{')
        return put_quoted(to, value);
    chat_tool_put(to, value.s, value.n);
    return true;
}

/* The member of the first of some keys that the object has. */
static struct tool_span
member_of(struct tool_span object, const char *const keys[], size_t n)
{
    struct tool_span v = { 0 };

    for (size_t i = 0; i < n && !v.s; i++)
        if (keys[i])
            v = chat_tool_member(object, keys[i]);
    return v;
}

/* The parts of a call as text of JSON. */
struct parts {
    struct tool_span name, id, arguments;
};

static struct parts
parts_of(const struct tool_form *f, struct tool_span object)
{
    const char *const names[] = { f->name_key, "name" };
    const char *const arguments[] = { f->arguments_key, "arguments",
                                      "parameters" };
    struct tool_span inner;

    if (!f->name_key) {
        struct tool_span key = chat_tool_first_key(object);

        if (key.s)
            key = (struct tool_span){ key.s - 1, key.n + 2 };
        return (struct parts){ .name = key,
                               .arguments = chat_tool_member(object, NULL) };
    }
    inner = chat_tool_member(object, "function");
    if (inner.n && *inner.s == '{')
        object = inner;
    return (struct parts){
        .name = member_of(object, names, 2),
        .id = member_of(object, &f->id_key, 1),
        .arguments = member_of(object, arguments, 3),
    };
}

static bool
put_object(struct tool_reader *r, struct tool_span object)
{
    struct parts p = parts_of(r->f, object);
    json_t *name = string_of(p.name), *id = string_of(p.id);
    struct tool_call c = {
        .name = { json_string_value(name), json_string_length(name) },
        .id = { json_string_value(id), json_string_length(id) },
    };
    bool is = c.name.n && (p.arguments.s ||
                           (!r->strict && chat_tool_is_declared(r, c.name)));

    is = is && (!r->strict || chat_tool_is_declared(r, c.name)) &&
         put_arguments(&c.arguments, p.arguments);
    if (is)
        chat_tool_read_put(r, &c);
    r->out->failed |= c.arguments.failed;
    chat_tool_text_clear(&c.arguments);
    json_decref(name);
    json_decref(id);
    return is;
}

size_t
chat_tool_read_object(struct tool_reader *r, size_t at)
{
    struct tool_text made = { 0 };
    struct tool_span object;
    size_t to = chat_tool_read_json(r, at, &made, &object);

    if (to != TOOL_NOT_THERE && !put_object(r, object))
        to = TOOL_NOT_THERE;
    r->out->failed |= made.failed;
    chat_tool_text_clear(&made);
    return to;
}

#endif
