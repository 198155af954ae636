/* unordered.h - --unordered: records are answered as they get done, and input
 * is read meanwhile */
#ifndef GENERATE_UNORDERED_H
#define GENERATE_UNORDERED_H

#include "gg-generate/inbox.h"

struct records;

struct unordered {
    struct inbox inbox;
    bool steps;     /* an evaluation is under way that may be aborted */
    bool drains;    /* no record begins any more; those that have */
    int64_t end;    /* end then, in microseconds, */
    int64_t beat;   /* when the last heartbeat was */
    int64_t polled; /* when the input was looked at in an evaluation */
    int64_t start;
    uint64_t n_failed, n_cancelled;
};

/* Without --unordered these do nothing. */
void
unordered_open(struct records *w);
void
unordered_close(struct records *w);

/* Reads what is there, and does what is asked at once; waits for input where
 * nothing else is to be done. */
void
unordered_tick(struct records *w);

/* Texts of a step have failed together: so have their records. */
void
unordered_fail_step(struct records *w);

#endif
