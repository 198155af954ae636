/* line_scores.h - log-probabilities of ids, and whether each id is the
 * likeliest one */
#ifndef EVAL_LINE_SCORES_H
#define EVAL_LINE_SCORES_H

#include "common/engine.h"

/* Scores of ids first .. n - 1 of a sequence; all zero is none. */
struct scores {
    float *logprobs;
    struct gg_best *best; /* of one id each, what was likeliest there */
    size_t first, n;
};

/* Asks the query for scores of ids[begin..n), but for the sequence's first, in
 * buffers that live until scores_clear(). */
void
scores_ask(struct scores *s, size_t begin, size_t n, struct gg_query *query);
void
scores_clear(struct scores *s);

/* *sum gets the log-likelihood of ids from .. to - 1, but for rows and for a
 * first id that has none. True where each of them is the likeliest. */
bool
scores_add_up(const struct scores *s, const struct engine *engine,
              const int32_t *ids, size_t from, size_t to, double *sum);

#endif
