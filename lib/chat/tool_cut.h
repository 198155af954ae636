/* tool_cut.h - parts of texts, and where texts are alike: in whole tags and
 * characters */
#ifndef CHAT_TOOL_CUT_H
#define CHAT_TOOL_CUT_H

#include "chat/value.h"

#define TOOL_NOWHERE SIZE_MAX

/* Where the text is next, from `from` on, or TOOL_NOWHERE. */
size_t
chat_tool_where(const struct chat_string *s, size_t from, const char *what);

struct chat_string
chat_tool_part(const struct chat_string *s, size_t from, size_t to);

/* Where the token that begins at `at` ends: <...>, [NAME], or a character. One
 * that has no end reaches to the end of the text. */
size_t
chat_tool_token(const struct chat_string *s, size_t at);

/* Where the last token begins. */
size_t
chat_tool_last(const struct chat_string *s);

/* Bytes of the tokens with which both begin, or end. */
size_t
chat_tool_alike(const struct chat_string *a, const struct chat_string *b);
size_t
chat_tool_alike_end(const struct chat_string *a, const struct chat_string *b);

#endif
