/* tool_literal.c - the literals around calls, in units, and white space */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_literal.h"

#include <string.h>

#include "chat/tool_form.h"
#include "chat/tool_text.h"

enum {
    ANY_MOST = 100, /* bytes that '\2' stands for */
};

size_t
chat_tool_space_end(const char *s, size_t n, size_t at)
{
    while (at < n && chat_tool_is_space(s[at]))
        at++;
    return at;
}

static size_t
digits_end(const char *s, size_t n, size_t at)
{
    while (at < n && s[at] >= '0' && s[at] <= '9')
        at++;
    return at;
}

/* The rest of a literal after '\2'. */
static size_t
match_soon(const char *s, size_t n, size_t at, const char *literal, size_t len)
{
    size_t most = n - at > ANY_MOST ? at + ANY_MOST : n, to = TOOL_NOT_THERE;

    for (size_t i = at; i <= most && to == TOOL_NOT_THERE; i++)
        if (i == n || !chat_tool_is_space(s[i]))
            to = chat_tool_match_part(s, n, i, literal, len);
    return to;
}

/* Whether white space may stand between two characters of a literal: after a
 * tag and before one, and around punctuation. */
static bool
is_loose(char before, char after)
{
    return (before && strchr(">]})(,:=\"'[{", before)) ||
           (after && strchr("<[]{}(),:=\"'", after));
}

/* Where a character of a literal ends that stands at `at`. */
static size_t
match_character(const char *s, size_t n, size_t at, char c)
{
    if (c == '\1') {
        size_t to = digits_end(s, n, at);

        return to > at ? to : TOOL_NOT_THERE;
    }
    return at < n && s[at] == c ? at + 1 : TOOL_NOT_THERE;
}

/* Whether literal[i] is a quotation mark around the value of a tag's
 * attribute: another kind may stand there. */
static bool
is_tag_quote(const char *literal, size_t len, size_t i)
{
    if (literal[i] != '"' && literal[i] != '\'')
        return false;
    return i + 1 < len ? literal[i + 1] == '>'
                       : i && literal[i - 1] == '=' && memchr(literal, '<', i);
}

size_t
chat_tool_match_part(const char *s, size_t n, size_t at, const char *literal,
                     size_t len)
{
    if (len && *literal == '\2')
        return match_soon(s, n, at, literal + 1, len - 1);
    at = chat_tool_space_end(s, n, at);
    for (size_t i = 0; i < len && at != TOOL_NOT_THERE; i++)
        if (chat_tool_is_space(literal[i])) {
            at = chat_tool_space_end(s, n, at);
        } else {
            if (i && is_loose(literal[i - 1], literal[i]))
                at = chat_tool_space_end(s, n, at);
            if (at < n && (s[at] == '"' || s[at] == '\'') &&
                is_tag_quote(literal, len, i))
                at++;
            else
                at = match_character(s, n, at, literal[i]);
        }
    return at;
}

size_t
chat_tool_match(const char *s, size_t n, size_t at, const char *literal)
{
    return chat_tool_match_part(s, n, at, literal, strlen(literal));
}

/* The end of blanks, where a line ends. */
static size_t
line_end(const char *s, size_t n, size_t at)
{
    size_t to = at;

    while (to < n && s[to] != '\n' && chat_tool_is_space(s[to]))
        to++;
    return to < n && s[to] == '\n' ? to : at;
}

size_t
chat_tool_match_before(const char *s, size_t n, size_t at, const char *literal)
{
    size_t len = strlen(literal), all = len, to, line;

    while (len && chat_tool_is_space(literal[len - 1]))
        len--;
    to = len ? chat_tool_match_part(s, n, at, literal, len) : TOOL_NOT_THERE;
    if (to == TOOL_NOT_THERE || len == all)
        return to;
    line = literal[len] == '\n' ? line_end(s, n, to) : to;
    return all - len <= n - line &&
                   memcmp(s + line, literal + len, all - len) == 0
               ? line + all - len
               : to;
}

/* ---- units ---- */

static bool
is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           (unsigned char)c >= 0x80;
}

static size_t
word_end(const char *s, size_t at)
{
    while (is_word(s[at]))
        at++;
    return at;
}

/* The end of <...>, or of [NAME]; 0: it is neither. One that has no end reaches
 * to the end of the literal. */
static size_t
tag_end(const char *s)
{
    size_t n = 1;

    if (*s == '[') {
        while ((s[n] >= 'A' && s[n] <= 'Z') || s[n] == '_' || s[n] == '/')
            n++;
        return n > 1 && s[n] == ']' ? n + 1 : 0;
    }
    if (*s != '<' || chat_tool_is_space(s[1]))
        return 0;
    while (s[n] && s[n] != '>' && s[n] != '<')
        n++;
    return s[n] == '>' ? n + 1 : n;
}

size_t
chat_tool_unit(const char *literal)
{
    size_t n = tag_end(literal);

    if (n)
        return word_end(literal, n);
    if (chat_tool_is_space(*literal))
        return chat_tool_space_end(literal, strlen(literal), 0);
    n = word_end(literal, 0);
    return n ? n : *literal != '\0';
}

bool
chat_tool_is_tag(const char *unit, size_t len)
{
    return len > 1 && (*unit == '<' || *unit == '[');
}

const char *
chat_tool_last_tag(const char *literal)
{
    const char *last = NULL;

    for (size_t n; (n = chat_tool_unit(literal)) > 0; literal += n)
        if (chat_tool_is_tag(literal, n))
            last = literal;
    return last;
}

#endif
