/* reader.h - records of text, as they come */
#ifndef GENERATE_READER_H
#define GENERATE_READER_H

#include "common/buffer.h"

struct reader {
    int fd;
    const char *name; /* for messages */
    char end;         /* of a record: newline or NUL */
    size_t max;       /* bytes of a record; 0: any number */
    bool skip_blank;  /* what has only white space is no record */

    struct buffer text; /* what was read; used up to: */
    size_t start, seen; /* and without an end up to: */
    bool ended;         /* nothing more can be read */
    bool losing;        /* of a record that is too long only that is known */
    bool too_long;      /* the record that was returned */
};

enum reader_state {
    READER_RECORD,
    READER_WAITS, /* there is none yet; or a signal came */
    READER_END,
};

/* The next record without its end, which the last one may lack; it lives until
 * the next call. Waits for one only where `wait` says so. */
enum reader_state
reader_next(struct reader *r, bool wait, const char **text, size_t *len);

void
reader_clear(struct reader *r);

#endif
