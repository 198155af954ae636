/* history.h - what drawing remembers of a sequence */
#ifndef SAMPLE_HISTORY_H
#define SAMPLE_HISTORY_H

#include <gg.h>

#include "sample/grammar.h"

struct gg_history {
    int32_t *ids; /* the last n that a stage looks at */
    size_t n, cap;
    size_t most; /* no more than these are looked at */
    double mu;   /* what was learnt: Mirostat's greatest surprise that is let
                    through, or adaptive-p's mean probability */
    bool is_mean;
    struct grammar_at at; /* of what was drawn */
    bool waits;           /* the grammar counts for nothing yet */
};

/* Makes `to`, which is all zero or another copy, what `from` is. False: there
 * is no memory. */
bool
sample_history_copy(struct gg_history *to, const struct gg_history *from);
void
sample_history_clear(struct gg_history *h);

/* How many ids `last` (-1: all) reaches back to. */
size_t
sample_history_reach(int32_t last);

/* The last of the ids, no more than `last` (-1: all); their number to *n. */
const int32_t *
sample_history_last(const struct gg_history *h, int32_t last, size_t *n);

/* Draws neither follow the grammar nor go on in it, or they do again. */
void
sample_history_wait(struct gg_history *h, bool waits);

#endif
