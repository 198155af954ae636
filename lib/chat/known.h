/* known.h - built-in forms of chats that have tools */
#ifndef CHAT_KNOWN_H
#define CHAT_KNOWN_H

#include "chat/template.h"
#include "vocab/chat.h"

/* The template in Jinja of a conversation, with tools or without. A built-in
 * form has one if its models call tools: it is parsed to *own, which is to be
 * freed. GG_ERR_UNSUPPORTED: it has none. */
enum gg_status
chat_known_jinja(const struct gg_chat_template *t, bool tools,
                 struct chat_template **own, const struct chat_template **out,
                 struct gg_error *err);

/* Whether it is such a form. */
bool
chat_known_has_tools(const struct gg_chat_template *t);

#endif
