/* line_rows.h - the line of a token stream that names media: `#rows HASH...` */
#ifndef STREAM_LINE_ROWS_H
#define STREAM_LINE_ROWS_H

#include <gg-stream.h>

#include "core/error.h"

/* Media whose rows a reader takes. */
struct line_rows {
    bool taken; /* the line may come; else it is refused */
    bool any;   /* and name any media; else */
    uint8_t *hashes;
    size_t n;
    int32_t first; /* ids from here on stand for rows */
    bool named;    /* the line has come */
};

void
stream_rows_clear(struct line_rows *r); /* takes an empty one */

/* Whether a line is that. */
bool
stream_rows_begins(const char *s, size_t len);

/* Reads it. GG_ERR_FORMAT: it is wrong, or names other media. */
enum gg_status
stream_rows_read(struct line_rows *r, const char *s, size_t len,
                 struct gg_error *err);

/* The first of the ids that is a row's, and may not be: n, where there is none.
 */
size_t
stream_rows_stray(const struct line_rows *r, const int32_t *ids, size_t n);

#endif
