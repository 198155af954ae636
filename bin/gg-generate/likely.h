/* likely.h - how likely the tokens of prompts are, for records that ask it */
#ifndef GENERATE_LIKELY_H
#define GENERATE_LIKELY_H

#include "gg-generate/flights.h"

struct finding;

/* Whether the record wants it, and has not got it. */
bool
likely_is_wanted(const struct record *r);

/* Begins to find it. *out is to be closed in any case, unless it is NULL. */
enum gg_status
likely_open(const struct generate *g, struct record *r, struct finding **out,
            struct gg_error *err);
void
likely_close(struct finding *f); /* takes NULL */

/* The query that it needs. */
const struct gg_query *
likely_query(const struct finding *f);

/* That is done: the record gets it. Where logits are not numbers it has none.
 */
void
likely_take(const struct finding *f);

/* Answers of records that have it begin with it. */
void
likely_hand_out(struct active *active, size_t n);

/* All of that for the records of these answers, together. False: a signal came.
 */
bool
likely_run(const struct generate *g, struct active *active, size_t n);

#endif
