/* contest.h - choices of which one is to follow a prompt
 *
 * A struct gg_choices whose choices' data is the struct choice that each was
 * made of, which choices_text() takes, and whose ids are its own. */
#ifndef GENERATE_CONTEST_H
#define GENERATE_CONTEST_H

#include <gg-engine.h>

#include "common/engine.h"
#include "common/records/choices.h"

/* Adds a choice, which outlives *c, and takes its ids over, which
 * begin as the prompt's do. On failure it says why. */
enum gg_status
contest_add(struct gg_choices *c, const struct choice *choice, int32_t *ids,
            size_t n, struct gg_error *err);
void
contest_clear(struct gg_choices *c);

/* False: some choice is above the context. */
bool
contest_fits(const struct gg_choices *c, const struct engine *engine,
             struct gg_error *err);

/* Scores all choices. False: a signal came. */
bool
contest_run(struct gg_engine *engine, struct gg_choices *list, size_t n);

/* Puts the likeliest choice first, and so on; of equals the one that was named
 * first. False: the scores are not numbers. */
bool
contest_decide(struct gg_choices *c, struct gg_error *err);

#endif
