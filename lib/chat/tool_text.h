/* tool_text.h - text that grows, and JSON that is written to it */
#ifndef CHAT_TOOL_TEXT_H
#define CHAT_TOOL_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is the empty one; chat_tool_text_clear() it. */
struct tool_text {
    char *s;
    size_t n, cap;
    bool failed; /* there was no memory: what is added is lost */
};

void
chat_tool_put(struct tool_text *t, const char *s, size_t n);
void
chat_tool_puts(struct tool_text *t, const char *s);
/* Shortens it. */
void
chat_tool_text_cut(struct tool_text *t, size_t n);
void
chat_tool_text_clear(struct tool_text *t);

/* Whether bytes are UTF-8 without control characters but for white space. */
bool
chat_tool_is_text(const char *s, size_t n);

/* Bytes as a string of JSON, with its quotation marks; bytes that are no UTF-8
 * become U+FFFD. */
void
chat_tool_put_string(struct tool_text *t, const char *s, size_t n);
/* Bytes as such a string without the marks. */
void
chat_tool_put_escaped(struct tool_text *t, const char *s, size_t n);

/* A value at s[*at..n) as JSON, as Python prints it, or as Gemma writes it:
 * adds it as JSON, and moves *at past it. False: there is none; *at is how
 * far it was looked for, and what was added is to be cut off. */
bool
chat_tool_value(struct tool_text *t, const char *s, size_t n, size_t *at);

static inline bool
chat_tool_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

#endif
