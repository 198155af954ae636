/* formats.h - formats of images and sounds, by their first bytes */
#ifndef MEDIA_DECODE_FORMATS_H
#define MEDIA_DECODE_FORMATS_H

#include "media/decode/decoder.h"

struct media_format {
    const char *name;           /* "a PNG image" */
    enum media_library library; /* that decodes it */
    media_decode_t *decode;     /* by hand */
    const char *command; /* that makes of FILE what is decoded anywhere */
};

/* NULL: it is of no format that is known. */
const struct media_format *
media_format_find(const uint8_t *bytes, size_t size);

/* "no libpng": why a format is not decoded. */
const char *
media_library_name(enum media_library library);

#endif
