/* tool_json.c - JSON as text: what it has need be no number of C */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_json.h"

#include <string.h>

#include "chat/tool_literal.h"
#include "chat/tool_text.h"

enum {
    DEPTH = 1000, /* of values in values */
};

/* ---- whether it is right ---- */

struct scan {
    const char *s;
    size_t n, at;
};

static bool
value(struct scan *r, int depth);

static void
skip_space(struct scan *r)
{
    static const char spaces[] = " \t\n\r";

    while (r->at < r->n && r->s[r->at] && strchr(spaces, r->s[r->at]))
        r->at++;
}

/* Skips white space, and the character if it is there. */
static bool
skip(struct scan *r, char c)
{
    bool is;

    skip_space(r);
    is = r->at < r->n && r->s[r->at] == c;
    r->at += is;
    return is;
}

static bool
word(struct scan *r, const char *w)
{
    size_t n = strlen(w);
    bool is = n <= r->n - r->at && memcmp(r->s + r->at, w, n) == 0;

    r->at += is ? n : 0;
    return is;
}

static bool
digits(struct scan *r)
{
    size_t from = r->at;

    while (r->at < r->n && r->s[r->at] >= '0' && r->s[r->at] <= '9')
        r->at++;
    return r->at > from;
}

static bool
number(struct scan *r)
{
    bool is;

    word(r, "-");
    is = word(r, "0") || digits(r);
    if (is && word(r, "."))
        is = digits(r);
    if (is && (word(r, "e") || word(r, "E"))) {
        (void)(word(r, "+") || word(r, "-"));
        is = digits(r);
    }
    return is;
}

/* The character after a backslash. */
static bool
escape(struct scan *r)
{
    static const char plain[] = "\"\\/bfnrt", hex[] = "0123456789abcdefABCDEF";
    char c = r->at < r->n ? r->s[r->at++] : '\0';

    if (c != 'u')
        return c && strchr(plain, c);
    for (int i = 0; i < 4; i++, r->at++)
        if (r->at == r->n || !r->s[r->at] || !strchr(hex, r->s[r->at]))
            return false;
    return true;
}

static bool
string(struct scan *r)
{
    size_t from = r->at;

    while (r->at < r->n && r->s[r->at] != '"') {
        char c = r->s[r->at++];

        if ((unsigned char)c < ' ' || (c == '\\' && !escape(r)))
            return false;
    }
    return r->at++ < r->n && chat_tool_is_text(r->s + from, r->at - 1 - from);
}

/* Members of an object or items of an array, up to `end`. */
static bool
list(struct scan *r, char end, int depth)
{
    for (bool more = false; !skip(r, end); more = true) {
        if (more && !skip(r, ','))
            return false;
        if (end == '}' && !(skip(r, '"') && string(r) && skip(r, ':')))
            return false;
        if (!value(r, depth - 1))
            return false;
    }
    return true;
}

static bool
value(struct scan *r, int depth)
{
    if (depth == 0)
        return false;
    if (skip(r, '{'))
        return list(r, '}', depth);
    if (skip(r, '['))
        return list(r, ']', depth);
    if (skip(r, '"'))
        return string(r);
    return word(r, "true") || word(r, "false") || word(r, "null") || number(r);
}

bool
chat_tool_is_json(const char *s, size_t n)
{
    struct scan r = { .s = s, .n = n };
    bool is = value(&r, DEPTH);

    skip_space(&r);
    return is && r.at == n;
}

bool
chat_tool_is_number(const char *s, size_t n)
{
    struct scan r = { .s = s, .n = n };

    return number(&r) && r.at == n;
}

/* ---- parts of it ---- */

size_t
chat_tool_extent(const char *s, size_t n, size_t at)
{
    size_t depth = 0;
    bool quoted = false;

    for (; at < n; at++) {
        char c = s[at];

        if (quoted && c == '\\')
            at++;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '{' || c == '['))
            depth++;
        else if (!quoted && (c == '}' || c == ']') && (depth == 0 || !--depth))
            return at + 1;
    }
    return 0;
}

/* The end of a value in JSON that is right. */
static size_t
value_end(const char *s, size_t n, size_t at)
{
    if (at < n && (s[at] == '{' || s[at] == '['))
        return chat_tool_extent(s, n, at);
    if (at < n && s[at] == '"') {
        for (at++; at < n && s[at] != '"'; at++)
            at += s[at] == '\\';
        return at + 1;
    }
    while (at < n && s[at] != ',' && s[at] != '}' && !chat_tool_is_space(s[at]))
        at++;
    return at;
}

struct tool_span
chat_tool_first_key(struct tool_span object)
{
    size_t at = chat_tool_space_end(object.s, object.n, 1);
    size_t end = value_end(object.s, object.n, at);

    if (at >= object.n || object.s[at] != '"')
        return (struct tool_span){ 0 };
    return (struct tool_span){ object.s + at + 1, end - at - 2 };
}

struct tool_span
chat_tool_member(struct tool_span object, const char *key)
{
    const char *s = object.s;
    size_t n = object.n, len = key ? strlen(key) : 0, end;

    for (size_t at = 1; at < n; at = chat_tool_space_end(s, n, end) + 1) {
        size_t name = chat_tool_space_end(s, n, at), to = value_end(s, n, name);
        size_t from =
            chat_tool_space_end(s, n, chat_tool_space_end(s, n, to) + 1);

        if (from >= n)
            break;
        end = value_end(s, n, from);
        if (!key ||
            (to - name == len + 2 && memcmp(s + name + 1, key, len) == 0))
            return (struct tool_span){ s + from, end - from };
    }
    return (struct tool_span){ 0 };
}

#endif
