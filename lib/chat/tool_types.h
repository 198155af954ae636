/* tool_types.h - which types of JSON an argument may have
 *
 * As bits, which tool_form.h names. */
#ifndef CHAT_TOOL_TYPES_H
#define CHAT_TOOL_TYPES_H

#include "core/json.h"

/* The types that a schema allows. */
unsigned
chat_tool_types(const json_t *schema);

/* The types of argument `key` of a tool, by the tool's schema in the array. */
unsigned
chat_tool_types_of(const json_t *tools, const char *tool_name,
                   size_t tool_name_len, const char *key, size_t len);

/* The schema of a tool's arguments, or NULL. */
const json_t *
chat_tool_parameters(const json_t *tools, const char *tool_name,
                     size_t tool_name_len);

/* The schema that a reference of `schema` leads to, from `root` on, or itself;
 * NULL for NULL, and where it leads nowhere. */
const json_t *
chat_tool_referred(const json_t *root, const json_t *schema);

/* The schema of a member of a schema's objects, or, where `key` is NULL, of the
 * items of its lists; NULL: it has none. */
const json_t *
chat_tool_inner_schema(const json_t *root, const json_t *schema,
                       const char *key, size_t len);

/* Whether the tool names argument `key`, or names none. */
bool
chat_tool_has_argument(const json_t *tools, const char *tool_name,
                       size_t tool_name_len, const char *key, size_t len);

/* Whether there is a tool of the name. */
bool
chat_tool_is_there(const json_t *tools, const char *name, size_t len);

/* The types of a value that begins so, in the notations that are read. */
unsigned
chat_tool_type_by_look(const char *s, size_t n);

#endif
