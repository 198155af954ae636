/* tool_literal.c - the literals around calls, and white space */
#include <config.h>

#ifdef HAVE_JANSSON

#include "chat/tool_literal.h"

#include <string.h>

#include "chat/tool_form.h"
#include "chat/tool_text.h"

enum {
    ANY_MOST = 100, /* bytes that '\2' stands for */
};

#define NOWHERE SIZE_MAX

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
match_soon(const char *s, size_t n, size_t at, const char *literal)
{
    size_t most = n - at > ANY_MOST ? at + ANY_MOST : n, to = NOWHERE;

    for (size_t i = at; i <= most && to == NOWHERE; i++)
        if (i == n || !chat_tool_is_space(s[i]))
            to = chat_tool_match(s, n, i, literal);
    return to;
}

size_t
chat_tool_match(const char *s, size_t n, size_t at, const char *literal)
{
    const char *p = literal;

    if (*p == '\2')
        return match_soon(s, n, at, p + 1);
    at = chat_tool_space_end(s, n, at);
    while (*p && at != NOWHERE)
        if (chat_tool_is_space(*p)) {
            p++;
            at = chat_tool_space_end(s, n, at);
        } else if (*p == '\1') {
            size_t to = digits_end(s, n, at);

            p++;
            at = to > at ? to : NOWHERE;
        } else {
            at = at < n && s[at] == *p++ ? at + 1 : NOWHERE;
        }
    return at;
}

size_t
chat_tool_match_exactly(const char *s, size_t n, size_t at, const char *literal)
{
    for (const char *p = literal; *p && at != NOWHERE; p++)
        if (*p == '\1') {
            size_t to = digits_end(s, n, at);

            at = to > at ? to : NOWHERE;
        } else {
            at = at < n && s[at] == *p ? at + 1 : NOWHERE;
        }
    return at;
}

size_t
chat_tool_match_before(const char *s, size_t n, size_t at, const char *literal)
{
    size_t len = strlen(literal),
           to = chat_tool_match_exactly(s, n, at, literal);
    char cut[TOOL_LITERAL + 1];

    if (to != NOWHERE || len > TOOL_LITERAL || len == 0 ||
        !chat_tool_is_space(literal[len - 1]))
        return to;
    while (len && chat_tool_is_space(literal[len - 1]))
        len--;
    memcpy(cut, literal, len);
    cut[len] = '\0';
    return len ? chat_tool_match_exactly(s, n, at, cut) : NOWHERE;
}

#endif
