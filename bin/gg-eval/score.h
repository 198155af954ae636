/* score.h - which ids of a sequence are evaluated to score others
 *
 * The probability of an id is known once all ids before it are evaluated; so
 * the last one of a sequence waits until one follows. */
#ifndef EVAL_SCORE_H
#define EVAL_SCORE_H

#include <gg.h>

#include "gg-eval/sequences.h"

/* What its slot lacks of the ids behind which all is known. False: nothing.
 * Otherwise q->n_held counts it. */
bool
score_known(struct sequence *q, struct gg_chunk *chunk);

/* What its slot lacks to score ids[1 .. to), and where their log-probabilities
 * go. False: nothing. Otherwise q->n_known counts them; the caller counts
 * q->n_held when they are evaluated. */
bool
score_chunk(struct sequence *q, size_t to, struct gg_chunk *chunk);

/* Over ids[begin .. begin + count), but for the sequence's first id, which
 * nothing foretells: how many, and the sum of their log-probabilities. */
struct score_sum {
    size_t n;
    double sum;
};
struct score_sum
score_sum(const struct sequence *q, size_t begin, size_t count);

#endif
