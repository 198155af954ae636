/* bins.h - how the values of a tensor are spread */
#ifndef INSPECT_BINS_H
#define INSPECT_BINS_H

#include "gg-inspect/inspect.h"

enum {
    BINS = 32,
};

struct bins {
    bool known; /* the type can be read */
    struct value_stats s;
    uint64_t n[BINS]; /* equal steps from the least to the largest */
};

/* Several threads may; ends the tool where the data cannot be read. */
void
bins_of(struct inspected *f, int64_t tensor, struct bins *b);

/* ---- picture.c: as PNG, to standard output ------------------------------- */

/* Ends the tool where it was built without libpng. */
void
picture_check(void);

/* One histogram as bars, or several, a band each, from the least to the largest
 * value: the brighter, the more values. */
void
picture_bins(const struct bins *b, int64_t n);

/* A tensor, one pixel for as many rows and columns as it takes. */
int
picture_tensor(struct inspected *f, const struct inspect_options *o);

#endif
