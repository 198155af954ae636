/* tool_read.h - reading calls by their form */
#ifndef CHAT_TOOL_READ_H
#define CHAT_TOOL_READ_H

#include "chat/tool_form.h"
#include "chat/tool_text.h"
#include "core/json.h"

/* Reads the calls of an answer, adding to *out the array of tool_calls;
 * *content gets how much text stands before them. `tools`, an array as a record
 * has it, says what is a string where the form doesn't; or NULL. Returns how
 * many calls there are; of none, all of the text is content. */
size_t
chat_tool_read(const struct tool_form *f, const json_t *tools, const char *s,
               size_t n, struct tool_text *out, size_t *content,
               struct tool_text *after);

#endif
