/* contest.h - choices of which one is to follow a prompt */
#ifndef GENERATE_CONTEST_H
#define GENERATE_CONTEST_H

#include <gg-engine.h>

#include "common/engine.h"
#include "gg-generate/choice.h"

/* A choice with the prompt in front of it. */
struct scored {
    const struct choice *choice;
    int32_t *ids;
    size_t n, n_scored; /* ids; the last of them that make up */
    double sum;         /* of their log-probabilities */
    double probability; /* as if one of the choices had to come */
};

/* All zero: no choices. */
struct contest {
    struct scored *list;
    size_t n;
    size_t head; /* ids that the prompt and all choices begin with */
};

/* Adds a choice, which outlives the contest, and takes its ids over; ids[0..n)
 * are the prompt's. On failure it says why. */
enum gg_status
contest_add(struct contest *c, const struct choice *choice, int32_t *its_ids,
            size_t n_its_ids, const int32_t *ids, size_t n,
            struct gg_error *err);
void
contest_clear(struct contest *c);

/* False: some choice is above the context. */
bool
contest_fits(const struct contest *c, const struct engine *engine,
             struct gg_error *err);

/* A contest, and its prompt's ids. */
struct contender {
    struct contest *contest;
    const int32_t *ids;
    size_t n;
};

/* Scores all choices. False: a signal came. */
bool
contest_run(struct gg_engine *engine, const struct contender *list, size_t n);

/* Puts the likeliest choice first, and so on; of equals the one that was named
 * first. False: the scores are not numbers. */
bool
contest_decide(struct contest *c, struct gg_error *err);

#endif
