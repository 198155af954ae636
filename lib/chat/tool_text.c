/* tool_text.c - text that grows, and JSON that is written to it */
#include <config.h>

#include "chat/tool_text.h"

#include <stdio.h>
#include <string.h>

#include "chat/text.h"
#include "core/mem.h"

void
chat_tool_put(struct tool_text *t, const char *s, size_t n)
{
    if (t->failed || n == 0)
        return;
    if (n > t->cap - t->n && !mem_grow(&t->s, &t->cap, t->n + n, 1)) {
        t->failed = true;
        return;
    }
    memcpy(t->s + t->n, s, n);
    t->n += n;
}

void
chat_tool_puts(struct tool_text *t, const char *s)
{
    chat_tool_put(t, s, strlen(s));
}

void
chat_tool_text_cut(struct tool_text *t, size_t n)
{
    if (n < t->n)
        t->n = n;
}

void
chat_tool_text_clear(struct tool_text *t)
{
    mem_free(t->s);
    *t = (struct tool_text){ 0 };
}

/* Adds a character that JSON escapes in strings. */
static void
put_ascii(struct tool_text *t, char c)
{
    static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";
    const char *p = c ? strchr(from, c) : NULL;
    char s[8] = { '\\', 0 };

    if (p)
        s[1] = to[p - from];
    else
        snprintf(s, sizeof(s), "\\u%04x", (unsigned char)c);
    chat_tool_puts(t, s);
}

/* A byte below 0x20 or one that JSON escapes. */
static bool
is_special(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

/* Bytes of the character at s[0], or 0: it is no UTF-8. */
static size_t
character(const char *s, size_t n)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const struct chat_string string = { .s = s, .n = n };
    uint32_t c;
    size_t len = chat_character(&string, 0, &c);

    if (len == 1)
        return (unsigned char)*s < 0x80;
    return c >= least[len] && c <= 0x10ffff && c >> 11 != 27 ? len : 0;
}

bool
chat_tool_is_text(const char *s, size_t n)
{
    for (size_t at = 0, len; at < n; at += len) {
        len = character(s + at, n - at);
        if (!len || ((unsigned char)s[at] < ' ' && !chat_tool_is_space(s[at])))
            return false;
    }
    return true;
}

void
chat_tool_put_escaped(struct tool_text *t, const char *s, size_t n)
{
    for (size_t at = 0, to; at < n; at = to) {
        size_t len = 1;

        for (to = at; to < n && !is_special(s[to]); to += len) {
            len = character(s + to, n - to);
            if (!len)
                break;
        }
        chat_tool_put(t, s + at, to - at);
        if (to == n)
            break;
        if (is_special(s[to]))
            put_ascii(t, s[to]);
        else
            chat_tool_puts(t, "\xef\xbf\xbd");
        to++;
    }
}

void
chat_tool_put_string(struct tool_text *t, const char *s, size_t n)
{
    chat_tool_puts(t, "\"");
    chat_tool_put_escaped(t, s, n);
    chat_tool_puts(t, "\"");
}
