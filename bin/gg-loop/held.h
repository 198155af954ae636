/* held.h - lines of the command that it may yet take back
 *
 * They are printed once their sequence has ids that stay. */
#ifndef LOOP_HELD_H
#define LOOP_HELD_H

#include "gg-loop/queue.h"

struct held;

/* All zero: nothing is held. */
struct held_lines {
    struct held *first;
    size_t size; /* bytes of them */
};

/* Adds the line to `print`, as it stands there, with what was held before it
 * of its sequence; or holds it. False: it takes back what was printed. */
bool
held_add(struct held_lines *h, const struct line *line, struct queue *print);

/* The command prints no more: nothing is taken back. */
void
held_end(struct held_lines *h, struct queue *print);

#endif
