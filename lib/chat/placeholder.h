/* placeholder.h - what templates write where an image or a sound is to stand */
#ifndef CHAT_PLACEHOLDER_H
#define CHAT_PLACEHOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "chat/value.h"

/* One in a string. */
struct chat_placeholder {
    size_t at, n; /* its bytes; n is 0 where there is none, at the end */
    int32_t id;   /* GG_CHAT_IMAGE or GG_CHAT_SOUND */
};

/* The next one from `at` on, of the template's own bytes; the longest of those
 * that begin there. */
struct chat_placeholder
chat_placeholder_next(const struct chat_string *s, size_t at);

#endif
