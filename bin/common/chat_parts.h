/* chat_parts.h - parts of messages that are images and sounds */
#ifndef COMMON_CHAT_PARTS_H
#define COMMON_CHAT_PARTS_H

#include "common/chat.h"
#include "common/json.h"
#include "common/media_part.h"

const char *
chat_role_name(enum gg_role role);

#ifdef HAVE_JANSSON
/* The medium that a part names, by any name that programs have for it; the kind
 * stays. False: nothing. */
bool
chat_find_source(const json_t *part, struct media_part *out);

/* A part as templates know it, without what it is an image or a sound of. */
json_t *
chat_media_part(enum gg_media_kind kind);

/* A message of a text and a role only; NULL: it is not UTF-8. */
json_t *
chat_plain_json(const struct gg_message *m);
#endif

#endif
