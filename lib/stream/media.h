/* media.h - the byte layout of the rows stream, as gg-stream(5) tells it, and
 * what its reader and writer agree on
 *
 * Members, preambles and records are as in format.h. */
#ifndef STREAM_MEDIA_H
#define STREAM_MEDIA_H

#include <gg-stream.h>

#include "stream/format.h"

#define MEDIA_MAGIC "\x8bGGR\r\n\x1a\n"

enum {
    MEDIA_VERSION = 1,
    MEDIA_HEAD = 48,   /* fixed part of a head's payload */
    MEDIA_MEDIUM = 56, /* fixed part of a medium's payload */
    MEDIA_PIECE = 32,

    MEDIA_WIDTH_MAX = 1 << 20,
    MEDIA_DEEPER_MAX = 1 << 10,
    MEDIA_PIECES_MAX = 1 << 16,
    MEDIA_TEXT_MAX = 1 << 20, /* bytes of the texts of a medium's pieces */
    MEDIA_ROWS_MAX = 1 << 24,

    MEDIA_POSITIONS = 1, /* flags of a medium: it has them */
    MEDIA_BLOCKS = 2,
    MEDIA_BLOCK = 1, /* flag of a piece: its rows see each other */
};

#define KIND_MEDI FORMAT_KIND('M', 'E', 'D', 'I')

/* The longest payload: what an address space holds, and 64 GiB at most. */
#define MEDIA_PAYLOAD_MAX                                                      \
    ((uint64_t)(SIZE_MAX / 4) < (uint64_t)1 << 36 ? (uint64_t)(SIZE_MAX / 4)   \
                                                  : (uint64_t)1 << 36)

/* Is it one that can be written, or was rightly read? `wrong` is the status
 * where it is not. */
enum gg_status
stream_media_check_head(const struct gg_rows_head *head, enum gg_status wrong,
                        struct gg_error *err);

enum gg_status
stream_media_check(const struct gg_rows_head *head,
                   const struct gg_media_rows *rows, enum gg_status wrong,
                   struct gg_error *err);

#endif
