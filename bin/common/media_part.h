/* media_part.h - what a part of a message says of its image or sound: bytes, or
 * where they are */
#ifndef COMMON_MEDIA_PART_H
#define COMMON_MEDIA_PART_H

#include <gg-media.h>

#include "common/buffer.h"

enum {
    MEDIA_PART_MOST = 1 << 29, /* bytes of a medium's file */
};

/* Texts are the message's. */
struct media_part {
    enum gg_media_kind kind;
    const char *text; /* a URL or a name of a file; NULL: it says nothing */
    size_t len;
    bool base64; /* the text is the bytes themselves */
};

/* Adds the bytes: those of the text, of a data: URL, or of a file in the
 * folder of --media-dir, which is NULL without that option. Nothing is fetched
 * from anywhere. GG_ERR_ARG, GG_ERR_FORMAT: a sentence. */
enum gg_status
media_part_bytes(const struct media_part *part, const char *folder,
                 struct buffer *out, struct gg_error *err);

#endif
