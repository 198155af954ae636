/* load.h - the module with decoders that libraries have */
#ifndef MEDIA_DECODE_LOAD_H
#define MEDIA_DECODE_LOAD_H

#include "media/decode/decoder.h"

/* Loads it when it is asked first. NULL: there is none, and *why is the reason
 * in words, static. */
const struct media_module *
media_module(const char **why);

#endif
