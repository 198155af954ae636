/* contest.h - choices that compete behind one prompt
 *
 * The ids of a choice are those of prompt and choice as one text, so that it
 * makes no difference whether a blank between them ends the one or begins the
 * other. From the first id on at which some choice's text has others than the
 * prompt alone, the logarithms of the ids' probabilities are added up; what is
 * before that is evaluated once, and gives those of all choices' first ids. */
#ifndef GENERATE_CONTEST_H
#define GENERATE_CONTEST_H

#include "common/engine.h"
#include "gg-generate/choice.h"

/* A choice with the prompt in front of it. */
struct scored {
    const struct choice *choice;
    int32_t *ids;
    size_t n;
    float *logprobs; /* of ids[head..n) */
    double sum;
    double probability; /* among the choices: they add up to one */
};

/* All zero: no choices. */
struct contest {
    struct scored *list;
    size_t n;
    size_t head;   /* ids that the prompt and all choices begin with */
    size_t n_done; /* choices that were scored, but for their first ids */
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

struct slots;

/* Scores the choices of all records with a slot that have some. False: a signal
 * came. */
bool
contest_run(struct slots *s);

/* Puts the likeliest choice first, and so on; of equals the one that was named
 * first. False: the scores are not numbers. */
bool
contest_decide(struct contest *c, struct gg_error *err);

#endif
