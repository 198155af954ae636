/* translate_messages.h - what the files of Anthropic's interface share */
#ifndef SERVE_TRANSLATE_MESSAGES_H
#define SERVE_TRANSLATE_MESSAGES_H

#include "gg-serve/translate_impl.h"

void
messages_read(struct translation *t, const struct record_object *body);

#endif
