/* head.h - the head of a request, as strictly as RFC 9112 writes it
 *
 * Parsers of HTTP are lax, and each in another way: what one takes for the end
 * of a request is in the middle of it for the next. So each byte of a head is
 * looked at here before the library sees it, and a head that two programs could
 * read differently is refused: a line that ends with LF alone, a folded line, a
 * blank in front of a colon, NUL, two lengths, any Transfer-Encoding, two
 * Hosts.
 */
#ifndef SERVE_HEAD_H
#define SERVE_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HEAD_MAX_BYTES = 32 << 10,
    HEAD_MAX_LINES = 64,
    HEAD_MAX_LINE = 8 << 10,
    HEAD_MAX_NAME = 64,
};

/* Where the next byte belongs. */
enum head_at {
    HEAD_IDLE, /* in front of a request */
    HEAD_LINES,
    HEAD_BODY,
    HEAD_BAD, /* nothing more is looked at: `why` and `status` */
};

struct head {
    enum head_at at;
    const char *why; /* a static sentence without a full stop */
    int status;      /* 400, 411, 413, 431 */
    uint64_t body;   /* bytes of the body that are still to come */
    uint64_t length; /* of the whole body */
    /* ---- of the head that is being read ---- */
    size_t n_bytes, n_lines, n_line, n_name;
    char name[HEAD_MAX_NAME];
    unsigned value; /* progress in a value that matters */
    bool in_value, is_length, is_host, had_length, had_host, had_cr, had_digit,
        ended_digits;
};

/* Takes the next n bytes of a connection. `max_body`: a longer one is refused
 * (413). Returns how many bytes were taken: fewer than n only where a body is
 * complete, so that what follows it waits for the answer; or where it is bad.
 */
size_t
head_take(struct head *h, const char *bytes, size_t n, uint64_t max_body);

#endif
