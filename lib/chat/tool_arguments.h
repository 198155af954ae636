/* tool_arguments.h - arguments of calls in conversations: objects or strings */
#ifndef CHAT_TOOL_ARGUMENTS_H
#define CHAT_TOOL_ARGUMENTS_H

#include "chat/render.h"
#include "core/json.h"

/* Makes the arguments of calls in messages, a JSON array, what the template
 * takes, objects or JSON in a string: what it shows of a call with either
 * tells. What is neither stays. False: no memory. */
bool
chat_tool_arguments(const struct chat_request *q, json_t *messages);

#endif
