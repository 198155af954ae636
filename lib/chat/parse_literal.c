/* parse_literal.c - names, constants, numbers and strings of the template
 * language */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chat/parser.h"
#include "chat/text.h"

static bool
is_word(const struct chat_token *t, const char *a, const char *b)
{
    return (t->n == strlen(a) && memcmp(t->s, a, t->n) == 0) ||
           (t->n == strlen(b) && memcmp(t->s, b, t->n) == 0);
}

static struct chat_node *
constant(struct chat_parser *p, struct chat_value v)
{
    struct chat_node *n = chat_parse_node(p, CHAT_NODE_CONSTANT);

    if (n)
        n->value = v;
    return n;
}

struct chat_node *
chat_parse_word(struct chat_parser *p)
{
    const struct chat_token *t = p->token;
    struct chat_node *n = chat_parse_node(p, CHAT_NODE_CONSTANT);

    if (!n)
        return NULL;
    if (is_word(t, "true", "True"))
        n->value = chat_bool(true);
    else if (is_word(t, "false", "False"))
        n->value = chat_bool(false);
    else if (is_word(t, "none", "None"))
        n->value = CHAT_VALUE_NONE;
    else
        n->type = CHAT_NODE_NAME;
    p->uses |= is_word(t, "varargs", "") * CHAT_VARARGS |
               is_word(t, "kwargs", "") * CHAT_KWARGS |
               is_word(t, "caller", "") * CHAT_CALLER;
    n->name = chat_parse_name(p);
    return n;
}

static int
base_of(const char *digits)
{
    char c = digits[0] == '0' ? (char)(digits[1] | 0x20) : '\0';

    return c == 'x' ? 16 : c == 'o' ? 8 : c == 'b' ? 2 : 10;
}

struct chat_node *
chat_parse_number(struct chat_parser *p)
{
    const struct chat_token *t = p->token++;
    char digits[64];
    size_t n = 0;
    int64_t i;
    int base;

    for (size_t k = 0; k < t->n && n + 1 < sizeof(digits); k++)
        if (t->s[k] != '_')
            digits[n++] = t->s[k];
    digits[n] = '\0';
    base = base_of(digits);
    if (t->type == CHAT_TOKEN_FLOAT)
        return constant(p, chat_float(strtod(digits, NULL)));
    errno = 0;
    i = strtoll(digits + 2 * (base != 10), NULL, base);
    if (errno || t->n >= sizeof(digits))
        return chat_parse_fail(p, "a number is too large");
    return constant(p, chat_int(i));
}

/* The code of \xhh, \uhhhh or \Uhhhhhhhh; -1: not that many digits. */
static int64_t
hexadecimal(const char *s, const char *end, int digits)
{
    int64_t code = 0;

    for (int i = 0; i < digits; i++) {
        static const char hex[] = "0123456789abcdef";
        const char *h = s + i < end && s[i] ? strchr(hex, s[i] | 0x20) : NULL;

        if (!h)
            return -1;
        code = 16 * code + (h - hex);
    }
    return code > 0x10ffff ? -1 : code;
}

/* Decodes a sequence after a backslash; returns its length. */
static size_t
unescape(const char *s, const char *end, char **to)
{
    static const char from[] = "abfnrtv\\'\"", plain[] = "\a\b\f\n\r\t\v\\'\"";
    const char *simple = *s ? strchr(from, *s) : NULL;
    int digits = *s == 'x' ? 2 : *s == 'u' ? 4 : *s == 'U' ? 8 : 0;
    int64_t code = digits ? hexadecimal(s + 1, end, digits) : -1;

    if (*s == '\n')
        return 1;
    if (simple) {
        *(*to)++ = plain[simple - from];
        return 1;
    }
    if (code >= 0) {
        *to += chat_utf8(*to, (uint32_t)code);
        return 1 + (size_t)digits;
    }
    if (*s >= '0' && *s <= '7') {
        size_t n = 0;

        for (code = 0; n < 3 && s + n < end && s[n] >= '0' && s[n] <= '7'; n++)
            code = 8 * code + (s[n] - '0');
        *to += chat_utf8(*to, (uint32_t)code);
        return n;
    }
    *(*to)++ = '\\';
    *(*to)++ = *s;
    return 1;
}

static char *
decode(const struct chat_token *t, char *to)
{
    const char *end = t->s + t->n - 1;

    for (const char *s = t->s + 1; s < end;)
        if (*s == '\\' && s + 1 < end)
            s += 1 + unescape(s + 1, end, &to);
        else
            *to++ = *s++;
    return to;
}

/* Strings that follow one another are one. */
struct chat_node *
chat_parse_string(struct chat_parser *p)
{
    const struct chat_token *t = p->token;
    struct chat_node *n = chat_parse_node(p, CHAT_NODE_CONSTANT);
    size_t size = 0;
    char *s, *end;

    for (; t->type == CHAT_TOKEN_STRING; t++)
        size += t->n;
    s = end = chat_arena_alloc(p->arena, size);
    if (!n || !s)
        return chat_parse_no_memory(p);
    for (; p->token->type == CHAT_TOKEN_STRING; p->token++)
        end = decode(p->token, end);
    n->value = chat_string(p->arena, s, (size_t)(end - s), CHAT_TRUSTED);
    return n->value.type == CHAT_ABSENT ? chat_parse_no_memory(p) : n;
}
