/* reader.h - records of text, as they come */
#ifndef RECORDS_READER_H
#define RECORDS_READER_H

#include "common/buffer.h"

struct reader {
    int fd;
    const char *name; /* for messages */
    char end;         /* of a record: newline or NUL */
    const char *what; /* "a record", the same */
    size_t max;       /* bytes of one; a longer one is passed over, and the tool
                       * ends where it has more than: */
    size_t max_lost;
    bool skip_blank; /* what has only white space is no record */
    bool may_mark;   /* the first one may begin with a mark: cli_mark() */

    struct buffer text; /* what was read; used up to: */
    size_t start, seen; /* and without an end up to: */
    bool ended;         /* nothing more can be read */
    uint64_t n_read;    /* bytes in all */
    size_t lost;        /* bytes of a record that is too long */
    bool too_long;      /* the record that was returned, which is; or, where */
    bool no_memory;     /* a tool goes on without (spare.h), there was none, */
    bool lacks;         /* as there is none for what is being read */
    uint64_t n_records; /* from 1, blank ones counted */
};

enum reader_state {
    READER_RECORD,
    READER_WAITS, /* there is none yet; or a signal came */
    READER_END,
};

/* How many bytes the records took that were returned, with their ends. */
static inline uint64_t
reader_place(const struct reader *r)
{
    return r->n_read - (r->text.len - r->start);
}

/* The next record without its end, which the last one may lack; it lives until
 * the next call. Waits for one only where `wait` says so. */
enum reader_state
reader_next(struct reader *r, bool wait, const char **text, size_t *len);

/* True for what has only white space. */
bool
reader_is_blank(const char *text, size_t len);

/* Forgets what there is of records that were not returned. */
void
reader_drop(struct reader *r);

void
reader_clear(struct reader *r);

#endif
