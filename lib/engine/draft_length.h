/* draft_length.h - how many ids to draft: as many as pay
 *
 * A drafted id is accepted with a probability, which is learned, and each that
 * is not makes those after it useless. An evaluation's time grows with the
 * number of its ids, which is measured. So there is a number of ids with which
 * most ids a second can be expected; it may be 0. */
#ifndef ENGINE_DRAFT_LENGTH_H
#define ENGINE_DRAFT_LENGTH_H

#include <stdbool.h>
#include <stddef.h>

enum {
    DRAFT_MOST = 15,
    DRAFT_LIKELY = 2, /* the most hopeful of three kinds */
    DRAFT_FORCED,     /* bytes that must come, of ids that may be others */
    DRAFT_KINDS,
};

struct draft_length {
    double accepted[DRAFT_KINDS]; /* probability of an id of each kind */
    double times[DRAFT_MOST + 1]; /* i: of an evaluation with i ids more
                                     than one a text, us; 0: unknown */
    double each;                  /* us to draft one */
    /* The model goes back to where an evaluation began: then what was accepted
     * of a draft that was not accepted whole is evaluated again. `again` counts
     * these ids. */
    bool goes_back;
    size_t again;
    size_t given; /* ids that are drafted already, and as good as accepted */
};

void
engine_draft_length_init(struct draft_length *d);

/* How many of that kind, `most` at most, after those that are given. */
size_t
engine_draft_length_best(const struct draft_length *d, int kind, size_t most);

/* The first `accepted` of n ids were accepted; fewer than n: the next was
 * not. */
void
engine_draft_length_learn(struct draft_length *d, int kind, size_t n,
                          size_t accepted);

/* None of that kind was drafted; so that it is tried again some time. */
void
engine_draft_length_skipped(struct draft_length *d, int kind);

/* An evaluation with n ids more than one a text has taken so long; drafting n
 * ids, another time. */
void
engine_draft_length_evaluated(struct draft_length *d, size_t n, double us);
void
engine_draft_length_drafted(struct draft_length *d, size_t n, double us);

#endif
