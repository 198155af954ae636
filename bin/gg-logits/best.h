/* best.h - the likeliest ids of a vector of logits */
#ifndef LOGITS_BEST_H
#define LOGITS_BEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct best {
    size_t k;       /* wanted */
    size_t n;       /* found: k, or all that there are */
    int32_t *ids;   /* likeliest first, ties by lower id */
    float *logits;  /* theirs */
    double log_sum; /* log of the sum of exp over all logits */
};

/* Room for k. */
void
best_init(struct best *b, size_t k);
void
best_clear(struct best *b);

/* False where a logit is NaN or +infinity, or all are -infinity: there are no
 * probabilities then. *max gets the highest. */
bool
best_possible(const float *logits, size_t n, float *max);

/* False where there are no probabilities. */
bool
best_find(struct best *b, const float *logits, size_t n);

#endif
