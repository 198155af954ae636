/* tool_json.h - JSON as text: what it has need be no number of C */
#ifndef CHAT_TOOL_JSON_H
#define CHAT_TOOL_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* Whether s[0..n) is one value of JSON, and white space. */
bool
chat_tool_is_json(const char *s, size_t n);

/* Whether s[0..n) is a number of JSON. */
bool
chat_tool_is_number(const char *s, size_t n);

/* The end of the object or array of JSON that begins at s[at], by its brackets
 * and strings alone; 0: it has none. */
size_t
chat_tool_extent(const char *s, size_t n, size_t at);

/* A part of a text. */
struct tool_span {
    const char *s; /* NULL: it is not there */
    size_t n;
};

/* The value of a member of an object that is right, as text: that of its first
 * member where `key` is NULL. Keys with escapes are none. */
struct tool_span
chat_tool_member(struct tool_span object, const char *key);

/* The first key of the object, without its quotation marks. */
struct tool_span
chat_tool_first_key(struct tool_span object);

#endif
