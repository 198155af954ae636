/* encode.h - the ids of what a template has written */
#ifndef CHAT_ENCODE_H
#define CHAT_ENCODE_H

#include <gg.h>

#include "chat/value.h"

/* Writes the ids of a text as gg_chat_encode() does. A special token is one
 * only where all of its bytes are trusted, or a role between two that are; the
 * rest is text, which is tokenised as one from token to token. `goes_on`: it
 * follows an answer. */
enum gg_status
chat_encode_string(const struct gg_vocab *v, const struct chat_string *s,
                   unsigned flags, bool goes_on, int32_t *ids, size_t cap,
                   struct gg_encoded *result, struct gg_error *err);

#endif
