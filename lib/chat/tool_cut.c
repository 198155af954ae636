/* tool_cut.c - parts of texts, and where texts are alike: in whole tags and
 * characters */
#include <config.h>

#include "chat/tool_cut.h"

#include <string.h>

#include "chat/text.h"

enum {
    MOST = 800, /* tokens that are looked at, from the end */
};

size_t
chat_tool_where(const struct chat_string *s, size_t from, const char *what)
{
    const char *p = from < s->n
                        ? memmem(s->s + from, s->n - from, what, strlen(what))
                        : NULL;

    return p ? (size_t)(p - s->s) : TOOL_NOWHERE;
}

struct chat_string
chat_tool_part(const struct chat_string *s, size_t from, size_t to)
{
    return (struct chat_string){ .s = s->s + from, .n = to - from };
}

/* The end of [NAME], or `at`. */
static size_t
name_end(const struct chat_string *s, size_t at)
{
    size_t to = at + 1;

    while (to < s->n && ((s->s[to] >= 'A' && s->s[to] <= 'Z') ||
                         s->s[to] == '_' || s->s[to] == '/'))
        to++;
    return to < s->n && to > at + 1 && s->s[to] == ']' ? to + 1 : at;
}

size_t
chat_tool_token(const struct chat_string *s, size_t at)
{
    size_t to = at + 1;

    if (s->s[at] == '[') {
        to = name_end(s, at);
        return to == at ? at + 1 : to;
    }
    if (s->s[at] != '<')
        return at + chat_character(s, at, NULL);
    if (to == s->n || s->s[to] == ' ' || s->s[to] == '\n')
        return to;
    while (to < s->n && s->s[to] != '<' && s->s[to] != '>')
        to++;
    if (to == s->n)
        return to;
    return s->s[to] == '>' ? to + 1 : at + 1;
}

/* Where the last tokens begin, in `at`; how many. */
static size_t
cut(const struct chat_string *s, size_t *at)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n; i = chat_tool_token(s, i)) {
        if (n == MOST) {
            memmove(at, at + MOST / 2, MOST / 2 * sizeof(*at));
            n = MOST / 2;
        }
        at[n++] = i;
    }
    return n;
}

size_t
chat_tool_last(const struct chat_string *s)
{
    size_t last = 0;

    for (size_t i = 0; i < s->n; i = chat_tool_token(s, i))
        last = i;
    return last;
}

size_t
chat_tool_alike(const struct chat_string *a, const struct chat_string *b)
{
    size_t at = 0;

    while (at < a->n && at < b->n) {
        size_t to = chat_tool_token(a, at);

        if (to != chat_tool_token(b, at) ||
            memcmp(a->s + at, b->s + at, to - at) != 0)
            break;
        at = to;
    }
    return at;
}

size_t
chat_tool_alike_end(const struct chat_string *a, const struct chat_string *b)
{
    size_t x[MOST], y[MOST], i = cut(a, x), j = cut(b, y), n = 0;

    while (i && j) {
        size_t from = a->n - x[--i], other = b->n - y[--j];

        if (from != other || memcmp(a->s + x[i], b->s + y[j], from - n) != 0)
            break;
        n = from;
    }
    return n;
}
