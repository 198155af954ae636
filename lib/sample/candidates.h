/* candidates.h - candidates: logits as a list, sorted no further than needed */
#ifndef SAMPLE_CANDIDATES_H
#define SAMPLE_CANDIDATES_H

#include "core/select.h"

struct sample_candidates {
    const int32_t *ids;
    const float *logits;
    size_t n;
    float highest, bar;     /* those below the bar are not wanted */
    double temperature;     /* 0: the first one only */
    struct choice *choices; /* the first n_choices of the list */
    size_t n_choices, next;
    bool whole; /* there are no more than those */
};

/* The list of the k first of logits[0..n), k = 0: of all, with room for
 * 2 n choices. -infinity is not in it, and some logit must be more. */
struct sample_candidates
sample_candidates_of(const int32_t *ids, const float *logits, size_t n,
                     size_t k, double temperature, struct choice *choices);

/* The list of choices[0..n), n > 0, which are in order, and no others. */
struct sample_candidates
sample_candidates_whole(struct choice *choices, size_t n, double temperature);

/* Tokens of less than this weight are not wanted, and may be left out. */
void
sample_candidates_limit(struct sample_candidates *p, double weight);

/* The next one; false: there is none. */
bool
sample_candidates_take(struct sample_candidates *p, struct choice *out);

/* exp((logit - highest) / temperature) */
double
sample_candidates_weigh(const struct sample_candidates *p, float logit);

/* The sum of the weights of all that is in the list. */
double
sample_candidates_weight(const struct sample_candidates *p);

#endif
