/* tool_find.h - the form of calls, found from what a template renders */
#ifndef CHAT_TOOL_FIND_H
#define CHAT_TOOL_FIND_H

#include "chat/render.h"
#include "chat/tool_form.h"

/* Sets form and marks, in the arena of the calls. GG_ERR_UNSUPPORTED says why
 * there is none. */
enum gg_status
chat_tool_find(const struct gg_vocab *v, const struct chat_template *t,
               struct gg_chat_calls *calls, struct gg_error *err);

#endif
