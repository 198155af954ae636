/* scales.h - the scales of blocks, which the values are multiples of */
#ifndef INSPECT_SCALES_H
#define INSPECT_SCALES_H

#include "gg-inspect/inspect.h"

struct scales {
    uint64_t n;         /* 0: the type has none */
    uint64_t bad;       /* NaN or infinite, */
    uint64_t first_bad; /* the first of them in this block */
    uint64_t subnormal; /* F16 with less than its eleven bits */
};

/* Reads the data of a tensor; ends the tool where it cannot. */
void
scales_count(struct inspected *f, int64_t tensor, struct scales *out);

#endif
