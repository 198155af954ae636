/* tool_literal.h - the literals around calls, in units, and white space
 *
 * In a literal '\1' stands for digits; '\2', at its start, for up to 100 bytes
 * of any text before the rest. White space may stand, or be missing, around
 * tags and punctuation. */
#ifndef CHAT_TOOL_LITERAL_H
#define CHAT_TOOL_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

#define TOOL_NOT_THERE ((size_t)-1)

/* Whether the literal stands at s[at], but for white space; returns where it
 * ends, or TOOL_NOT_THERE. */
size_t
chat_tool_match(const char *s, size_t n, size_t at, const char *literal);

/* Like it, of literal[0..len). */
size_t
chat_tool_match_part(const char *s, size_t n, size_t at, const char *literal,
                     size_t len);

/* Like it, of text before a value: white space at the literal's end is
 * there as it is, or the value's. */
size_t
chat_tool_match_before(const char *s, size_t n, size_t at, const char *literal);

/* The end of white space. */
size_t
chat_tool_space_end(const char *s, size_t n, size_t at);

/* Bytes of the unit that a literal begins with: white space; a tag, <...> or
 * [NAME], with the word after it; a word; or a character. 0: it is empty. */
size_t
chat_tool_unit(const char *literal);

/* Whether a unit is a tag. */
bool
chat_tool_is_tag(const char *unit, size_t len);

/* Where a literal's last tag begins, NULL: it has none. */
const char *
chat_tool_last_tag(const char *literal);

#endif
