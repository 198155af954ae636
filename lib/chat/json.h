/* json.h - the variables of a template, from JSON */
#ifndef CHAT_JSON_H
#define CHAT_JSON_H

#include "core/json.h"

#include "chat/value.h"

/* The value of a JSON value, made in the arena: CHAT_ABSENT where there is no
 * memory, or it is nested too deep. All text is CHAT_TEXT. */
struct chat_value
chat_from_json(struct chat_arena *a, const json_t *json);

#endif
