/* io.h - buffered input and whole writes on file descriptors */
#ifndef STREAM_IO_H
#define STREAM_IO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "core/error.h"

/* Bytes that were read and not yet used are data[start .. end). The buffer
 * grows with what arrives, never with what the input announces, and starts on a
 * multiple of 16 bytes. */
struct stream_in {
    int fd;    /* the caller's */
    int watch; /* -1, or a pipe without which reading on is of no use */
    char *name;
    uint8_t *data;
    size_t start, end, cap;
    bool at_end; /* read() has returned 0 */
};

enum gg_status
stream_in_init(struct stream_in *in, int fd, const char *name,
               struct gg_error *err);
void
stream_in_clear(struct stream_in *in);

/* Puts data[0..n) in front of what is read, before anything was. */
enum gg_status
stream_in_begin(struct stream_in *in, const void *data, size_t n,
                struct gg_error *err);

static inline const uint8_t *
stream_in_data(const struct stream_in *in)
{
    return in->data + in->start;
}

static inline size_t
stream_in_left(const struct stream_in *in)
{
    return in->end - in->start;
}

/* Reads until `n` bytes are there or the input ends: the caller compares with
 * stream_in_left(). GG_ERR_ABORTED: a signal came whose handler does not
 * restart calls, or nobody reads `watch` any more; calling again goes on.
 * Moves the data. */
enum gg_status
stream_in_fill(struct stream_in *in, size_t n, struct gg_error *err);

/* n must not exceed what is left. */
void
stream_in_use(struct stream_in *in, size_t n);

/* Bytes of the mark (U+FEFF) that some editors put in front of UTF-8, and with
 * which a text may begin. */
static inline size_t
stream_mark(const void *p, size_t len)
{
    return len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

/* Without the carriage return of a line that ends by CR LF. */
static inline size_t
stream_without_cr(const char *line, size_t len)
{
    return len - (len > 0 && line[len - 1] == '\r');
}

/* Gives the next line without its newline, and uses it up; it lives until the
 * next call. The last line may lack its newline: *cut says so. GG_EOF: there
 * is none; GG_ERR_FORMAT: it is longer than `limit`. */
enum gg_status
stream_in_line(struct stream_in *in, size_t limit, const char **line,
               size_t *len, bool *cut, struct gg_error *err);

/* stream_in_line(), but of a line that has more than `part` bytes it may give
 * what comes up to a blank; the next call goes on after that. *more says so. */
enum gg_status
stream_in_part(struct stream_in *in, size_t part, size_t limit,
               const char **line, size_t *len, bool *more,
               struct gg_error *err);

/* Takes back the last `n` bytes that were given, before any other call. */
void
stream_in_back(struct stream_in *in, size_t n);

/* True where stream_in_line(), or stream_in_part() where `part` is not 0, would
 * not have to wait. Moves the data. */
bool
stream_in_line_ready(struct stream_in *in, size_t part, size_t limit);

/* Writes all parts, in one call where the system takes them so; waits where
 * the descriptor does not block. Changes `parts`. */
enum gg_status
stream_write(int fd, struct iovec *parts, int n, struct gg_error *err);

/* Makes a pipe hold `size` bytes if the system lets it, so that a record goes
 * through in one piece; does nothing to what is no pipe. */
void
stream_pipe_capacity(int fd, size_t size);

#endif
