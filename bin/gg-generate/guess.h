/* guess.h - how many ids to guess: as many as pay
 *
 * Guesses are right with a probability, which is learned, and each that is
 * wrong makes those behind it useless. An evaluation's time grows with the
 * number of its ids, which is measured. So there is a number of ids with which
 * most ids a second can be expected; it may be 0. */
#ifndef GENERATE_GUESS_H
#define GENERATE_GUESS_H

#include <stddef.h>

enum {
    GUESS_MOST = 15,
    GUESS_KINDS = 3, /* the last is the most hopeful */
};

struct guess {
    double right[GUESS_KINDS]; /* probability of a guess of each kind */
    double
        times[GUESS_MOST + 1]; /* of an evaluation with so many; 0: unknown */
    double each;               /* to make one guess */
};

void
guess_init(struct guess *g);

/* How many of that kind, `most` at most. */
size_t
guess_count(const struct guess *g, int kind, size_t most);

/* Of n guesses the first `right` were; fewer than n: the next was not. */
void
guess_learn(struct guess *g, int kind, size_t n, size_t right);

/* None of that kind was made; so that it is tried again some time. */
void
guess_skipped(struct guess *g, int kind);

/* An evaluation with n guesses has taken so long; making them, another time. */
void
guess_took(struct guess *g, size_t n, double us);
void
guess_made(struct guess *g, size_t n, double us);

#endif
