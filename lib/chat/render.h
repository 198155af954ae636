/* render.h - a conversation as a template writes it out */
#ifndef CHAT_RENDER_H
#define CHAT_RENDER_H

#include <gg.h>

#include "chat/template.h"

/* Input of a rendering; as in gg_chat_encode(). */
struct chat_request {
    const struct gg_vocab *vocab;
    const struct chat_template *template;
    const struct gg_message *messages;
    size_t n, first;
    const struct gg_chat_params *params;
    struct chat_limits *limits; /* of all renderings together */
    bool as_they_are; /* arguments of calls: objects, or JSON in a string */
    bool loses;       /* what the template leaves out is no error */
};

/* The text, in the arena: that of all messages, or of those from `first` on and
 * of what ends the one before. An answer begins after it, or goes on. */
enum gg_status
chat_render(const struct chat_request *q, struct chat_arena *arena,
            struct chat_string *out, struct gg_error *err);

#endif
