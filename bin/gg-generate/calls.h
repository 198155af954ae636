/* calls.h - calls of tools that leave while they are made */
#ifndef GENERATE_CALLS_H
#define GENERATE_CALLS_H

#include "gg-generate/records.h"

/* How far the calls of an answer have left. */
struct calls_piece {
    size_t n;           /* that have begun */
    struct buffer sent; /* of the last one's arguments */
    struct buffer last; /* its arguments, as they were when they were read */
    size_t n_read;      /* bytes of the calls that were read last */
};

void
calls_piece_clear(struct calls_piece *p);

/* Adds a member of a delta for each piece that is new, by `put`. Of an answer
 * that has ended, all of the rest. */
typedef void (*calls_put)(void *data, const struct buffer *member);
void
calls_follow(const struct generate *g, const struct answer *a,
             struct calls_piece *p, bool ended, calls_put put, void *data);

#endif
