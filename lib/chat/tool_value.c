/* tool_value.c - values as JSON, Python or Gemma write them become JSON */
#include <config.h>

#ifdef HAVE_JANSSON

#include <string.h>

#include "chat/text.h"
#include "chat/tool_json.h"
#include "chat/tool_text.h"

enum {
    DEPTH = 100, /* of values in values */
};

/* The quotation marks that Gemma writes. */
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

/* Up to three digits in base 8. */
static void
octal(struct source *r)
{
    char s[CHAT_UTF8];
    uint32_t c = 0;

    for (int i = 0;
         i < 3 && r->at < r->n && r->s[r->at] >= '0' && r->s[r->at] <= '7'; i++)
        c = c << 3 | (uint32_t)(r->s[r->at++] - '0');
    chat_tool_put_escaped(r->out, s, chat_utf8(s, c));
}

/* A sequence after a backslash, in JSON or Python. In Python one before
 * another character is a character. */
static bool
escaped(struct source *r)
{
    static const char from[] = "nrtbfav\\\"'/", to[] = "\n\r\t\b\f\a\v\\\"'/";
    char c = r->s[r->at];
    const char *p = c ? strchr(from, c) : NULL;

    if (c >= '0' && c <= '7') {
        octal(r);
        return true;
    }
    r->at++;
    if (c == 'u' || c == 'U' || c == 'x')
        return numbered(r, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    if (p)
        chat_tool_put_escaped(r->out, &to[p - from], 1);
    else if (c != '\n') {
        chat_tool_put_escaped(r->out, "\\", 1);
        r->at--;
    }
    return true;
}

/* Up to the mark that ends it: the one that began it, of n bytes. */
static bool
quoted(struct source *r, const char *mark, size_t n)
{
    r->at += n;
    chat_tool_puts(r->out, "\"");
    while (r->at < r->n && !begins(r, mark, n)) {
        size_t from = r->at;

        while (r->at < r->n && r->s[r->at] != *mark && r->s[r->at] != '\\')
            r->at++;
        r->at += r->at < r->n && r->at == from && r->s[from] != '\\';
        chat_tool_put_escaped(r->out, r->s + from, r->at - from);
        if (r->at < r->n && r->s[r->at] == '\\')
            if (++r->at == r->n || !escaped(r))
                return false;
    }
    chat_tool_puts(r->out, "\"");
    r->at += n;
    return r->at <= r->n;
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
    const char *mark = r->s + r->at;
    size_t n = r->n - r->at;

    if (begins(r, gemma, GEMMA))
        return quoted_by_gemma(r);
    return quoted(r, mark,
                  n > 2 && mark[1] == *mark && mark[2] == *mark ? 3 : 1);
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
    if (!chat_tool_is_number(r->s + from, n))
        return false;
    chat_tool_put(r->out, r->s + from, n);
    return true;
}

/* A key without quotation marks, up to its colon. */
static bool
bare_key(struct source *r)
{
    size_t from = r->at, end;

    while (r->at < r->n && r->s[r->at] != ':')
        if (r->s[r->at] == '\n' || strchr("{}[],<\"'", r->s[r->at++]))
            return false;
    for (end = r->at; end > from && chat_tool_is_space(r->s[end - 1]);)
        end--;
    if (r->at == r->n || end == from)
        return false;
    chat_tool_put_string(r->out, r->s + from, end - from);
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
member(struct source *r, int depth)
{
    if (!key(r) || !skip(r, ':'))
        return false;
    chat_tool_puts(r->out, ": ");
    return value(r, depth);
}

/* Whether a tag that closes something stands where a brace should. */
static bool
is_cut(const struct source *r, char end)
{
    return end == '}' && begins(r, "</", 2);
}

/* Members or items up to `end`, before which a comma may stand. */
static bool
list(struct source *r, char end, int depth)
{
    for (bool more = false; !skip(r, end); more = true) {
        if (more && is_cut(r, end))
            break;
        if (more && !skip(r, ','))
            return false;
        if (more && skip(r, end))
            break;
        if (more)
            chat_tool_puts(r->out, ", ");
        if (end == '}' ? !member(r, depth) : !value(r, depth))
            return false;
    }
    chat_tool_puts(r->out, end == '}' ? "}" : "]");
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
    if (c != '{' && c != '[' && c != '(')
        return word(r);
    r->at++;
    chat_tool_puts(r->out, c == '{' ? "{" : "[");
    return list(r, c == '{' ? '}' : c == '[' ? ']' : ')', depth - 1);
}

bool
chat_tool_value(struct tool_text *t, const char *s, size_t n, size_t *at)
{
    struct source r = { .s = s, .n = n, .at = *at, .out = t };
    bool is = value(&r, DEPTH);

    *at = r.at;
    return is;
}

#endif
