/* load.h - the module with decoders that libraries have */
#ifndef MEDIA_DECODE_LOAD_H
#define MEDIA_DECODE_LOAD_H

#include "media/decode/decoder.h"

/* Loads it when it is asked first. NULL: there is none, and *why is the reason
 * in words, static. */
const struct media_module *
media_module(const char **why);

/* ---- decode.c ---- */

/* gg_media_decode() with that module; NULL: there is none, for this reason. */
enum gg_status
media_decode_with(const struct media_module *module, const char *why,
                  const void *bytes, size_t size,
                  const struct gg_decode_limits *limits,
                  struct gg_decoded **out, struct gg_error *err);

#endif
