/* tool_literal.h - the literals around calls, and white space
 *
 * In a literal '\1' stands for digits; '\2', at its start, for up to 100 bytes of
 * any text before the rest. */
#ifndef CHAT_TOOL_LITERAL_H
#define CHAT_TOOL_LITERAL_H

#include <stddef.h>

/* Whether the literal stands at s[at], but for white space; returns where it
 * ends, or SIZE_MAX. */
size_t
chat_tool_match(const char *s, size_t n, size_t at, const char *literal);
/* The same, with white space as it is. */
size_t
chat_tool_match_exactly(const char *s, size_t n, size_t at,
                        const char *literal);
/* The same, but that white space at the literal's end may be missing. */
size_t
chat_tool_match_before(const char *s, size_t n, size_t at, const char *literal);

/* Behind white space. */
size_t
chat_tool_space_end(const char *s, size_t n, size_t at);

#endif
