/* tool_value.c - values as JSON, Python or Gemma write them become JSON */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "chat/text.h"
#include "chat/tool_text.h"
#include "core/json.h"

enum {
    DEPTH = 100, /* of values in values */
};

/* What Gemma writes for quotation marks. */
static const char gemma[] = "<|\"|>";

enum {
    GEMMA = sizeof(gemma) - 1
};

struct source {
    const char *s;
    size_t n, at;
    struct tool_text *out;
};

static bool
value(struct source *r, int depth);

static void
skip_space(struct source *r)
{
    while (r->at < r->n && chat_tool_is_space(r->s[r->at]))
        r->at++;
}

/* Skips white space, and the character if it is there. */
static bool
skip(struct source *r, char c)
{
    bool is;

    skip_space(r);
    is = r->at < r->n && r->s[r->at] == c;
    r->at += is;
    return is;
}

static bool
begins(const struct source *r, const char *word, size_t n)
{
    return n <= r->n - r->at && memcmp(r->s + r->at, word, n) == 0;
}

/* ---- strings ---- */

/* The value of n digits in base 16; false: they are none. */
static bool
hexadecimal(struct source *r, size_t n, uint32_t *c)
{
    static const char digits[] = "0123456789abcdef0123456789ABCDEF";

    *c = 0;
    if (n > r->n - r->at)
        return false;
    for (size_t i = 0; i < n; i++) {
        char d = r->s[r->at++];
        const char *p = d ? strchr(digits, d) : NULL;

        if (!p)
            return false;
        *c = *c << 4 | (uint32_t)((p - digits) & 15);
    }
    return true;
}

/* A character by its number, with the second half of a pair of UTF-16. */
static bool
numbered(struct source *r, size_t digits)
{
    char s[CHAT_UTF8];
    uint32_t c, low;

    if (!hexadecimal(r, digits, &c))
        return false;
    if (c >> 10 == 0x36 && begins(r, "\\u", 2)) {
        r->at += 2;
        if (!hexadecimal(r, 4, &low) || low >> 10 != 0x37)
            return false;
        c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff);
    }
    if (c > 0x10ffff || c >> 11 == 27)
        c = 0xfffd;
    chat_tool_put_escaped(r->out, s, chat_utf8(s, c));
    return true;
}

/* What stands behind a backslash. */
static bool
escaped(struct source *r)
{
    static const char from[] = "nrtbfav0", to[] = "\n\r\t\b\f\a\v";
    char c = r->s[r->at++];
    const char *p = c ? strchr(from, c) : NULL;

    if (c == 'u' || c == 'U' || c == 'x')
        return numbered(r, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (p)
        c = to[p - from]; /* its NUL is that of \0 */
    chat_tool_put_escaped(r->out, &c, 1);
    return true;
}

/* Behind the mark that began it. */
static bool
quoted(struct source *r, char mark)
{
    chat_tool_puts(r->out, "\"");
    while (r->at < r->n && r->s[r->at] != mark) {
        size_t from = r->at;

        while (r->at < r->n && r->s[r->at] != mark && r->s[r->at] != '\\')
            r->at++;
        chat_tool_put_escaped(r->out, r->s + from, r->at - from);
        if (r->at < r->n && r->s[r->at] == '\\')
            if (++r->at == r->n || !escaped(r))
                return false;
    }
    chat_tool_puts(r->out, "\"");
    return r->at++ < r->n;
}

static bool
quoted_by_gemma(struct source *r)
{
    const char *from = r->s + r->at + GEMMA;
    const char *end = memmem(from, r->n - r->at - GEMMA, gemma, GEMMA);

    r->at = end ? (size_t)(end - r->s) + GEMMA : r->n;
    if (end)
        chat_tool_put_string(r->out, from, (size_t)(end - from));
    return end != NULL;
}

static bool
string(struct source *r)
{
    if (begins(r, gemma, GEMMA))
        return quoted_by_gemma(r);
    return quoted(r, r->s[r->at++]);
}

/* ---- the rest ---- */

static bool
is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' ||
           c == '+' || (unsigned char)c >= 0x80;
}

/* A number, or the name of a value. */
static bool
word(struct source *r)
{
    static const struct {
        const char *word, *json;
    } known[] = {
        { "true", "true" }, { "false", "false" }, { "null", "null" },
        { "True", "true" }, { "False", "false" }, { "None", "null" },
    };
    size_t from = r->at, n;

    while (r->at < r->n && is_name(r->s[r->at]))
        r->at++;
    n = r->at - from;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strlen(known[i].word) == n &&
            memcmp(known[i].word, r->s + from, n) == 0) {
            chat_tool_puts(r->out, known[i].json);
            return true;
        }
    if (n == 0 || n > 400 || !chat_tool_is_json(r->s + from, n))
        return false;
    chat_tool_put(r->out, r->s + from, n);
    return true;
}

/* A key without quotation marks, up to its colon. */
static bool
bare_key(struct source *r)
{
    const char *from = r->s + r->at;
    const char *end = memchr(from, ':', r->n - r->at);

    r->at = end ? (size_t)(end - r->s) : r->n;
    if (!end || memchr(from, '}', (size_t)(end - from)))
        return false;
    chat_tool_put_string(r->out, from, (size_t)(end - from));
    return true;
}

static bool
key(struct source *r)
{
    char c;

    skip_space(r);
    if (r->at == r->n)
        return false;
    c = r->s[r->at];
    return c == '"' || c == '\'' || begins(r, gemma, GEMMA) ? string(r)
                                                            : bare_key(r);
}

static bool
members(struct source *r, int depth)
{
    chat_tool_puts(r->out, "{");
    for (bool more = false; !skip(r, '}'); more = true) {
        if (more)
            chat_tool_puts(r->out, ", ");
        if ((more && !skip(r, ',')) || !key(r) || !skip(r, ':'))
            return false;
        chat_tool_puts(r->out, ": ");
        if (!value(r, depth))
            return false;
    }
    chat_tool_puts(r->out, "}");
    return true;
}

static bool
items(struct source *r, char end, int depth)
{
    chat_tool_puts(r->out, "[");
    for (bool more = false; !skip(r, end); more = true) {
        if (more && !skip(r, ','))
            return false;
        if (more && skip(r, end)) /* (1,) */
            break;
        if (more)
            chat_tool_puts(r->out, ", ");
        if (!value(r, depth))
            return false;
    }
    chat_tool_puts(r->out, "]");
    return true;
}

static bool
value(struct source *r, int depth)
{
    char c;

    skip_space(r);
    if (r->at == r->n || depth == 0)
        return false;
    c = r->s[r->at];
    if (c == '"' || c == '\'' || begins(r, gemma, GEMMA))
        return string(r);
    r->at += c == '{' || c == '[' || c == '(';
    if (c == '{')
        return members(r, depth - 1);
    if (c == '[' || c == '(')
        return items(r, c == '[' ? ']' : ')', depth - 1);
    return word(r);
}

bool
chat_tool_value(struct tool_text *t, const char *s, size_t n, size_t *at)
{
    struct source r = { .s = s, .n = n, .at = *at, .out = t };
    bool is = value(&r, DEPTH);

    *at = r.at;
    return is;
}

bool
chat_tool_is_json(const char *s, size_t n)
{
    json_error_t e;
    json_t *json = core_json_load(s, n, JSON_ALLOW_NUL | JSON_DECODE_ANY, &e);

    json_decref(json);
    return json != NULL;
}

#endif
