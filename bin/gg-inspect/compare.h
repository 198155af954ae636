/* compare.h - how far the values of two tensors are apart */
#ifndef INSPECT_COMPARE_H
#define INSPECT_COMPARE_H

#include "gg-inspect/inspect.h"

/* Differences d = y - x of x in one and y in the other. Values that are the
 * same, NaNs among them, count as no difference, and where one of the two is
 * infinite or NaN, the difference is infinite. */
struct comparison {
    bool different; /* some byte, or, of other types, some value */
    bool known;     /* what follows was computed */
    uint64_t n;
    double largest;        /* |d| */
    double dd, xx, yy, xy; /* sums */
};

/* Compares tensors of one shape. `soon`: stops once a difference was found.
 * Ends the tool where they cannot be read. */
void
compare(struct inspected *a, int64_t ta, struct inspected *b, int64_t tb,
        bool soon, struct comparison *out);

/* Both together. */
void
comparison_add(struct comparison *to, const struct comparison *c);

/* sqrt(sum dd / n); sum dd / sum xx; sum xy / sqrt(sum xx * sum yy), 1 where
 * all are zero in both. */
double
comparison_rms(const struct comparison *c);
double
comparison_nmse(const struct comparison *c);
double
comparison_cosine(const struct comparison *c);

#endif
