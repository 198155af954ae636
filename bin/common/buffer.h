/* buffer.h - bytes that grow */
#ifndef COMMON_BUFFER_H
#define COMMON_BUFFER_H

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

/* All zero is the empty one; free(p), or buffer_clear(), when done. */
struct buffer {
    char *p;
    size_t len, cap;
};

/* Where n more bytes may be written; b->len does not count them yet. */
static inline char *
buffer_room(struct buffer *b, size_t n)
{
    if (n > b->cap - b->len) {
        b->cap = b->cap > n ? 2 * b->cap : b->cap + n;
        b->p = cli_alloc(b->p, b->cap, 1);
    }
    return b->p ? b->p + b->len : NULL;
}

static inline void
buffer_add(struct buffer *b, const char *p, size_t n)
{
    if (n)
        memcpy(buffer_room(b, n), p, n);
    b->len += n;
}

static inline void
buffer_clear(struct buffer *b)
{
    free(b->p);
    *b = (struct buffer){ 0 };
}

static inline void
buffer_char(struct buffer *b, char c)
{
    *buffer_room(b, 1) = c;
    b->len++;
}

/* Adds what printf() would write. */
CLI_PRINTF(2, 3) void buffer_format(struct buffer *b, const char *fmt, ...);

/* A stream that adds to it; fclose() it before the buffer is read. Ends the
 * tool where memory runs out, now or later, of which open_memstream() tells not
 * always. */
FILE *
buffer_stream(struct buffer *b);

#endif
