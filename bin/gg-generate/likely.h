/* likely.h - how likely the tokens of prompts are, for records that ask it */
#ifndef GENERATE_LIKELY_H
#define GENERATE_LIKELY_H

#include "gg-generate/flights.h"

/* Finds it for the records of these answers that want it, and have not got it,
 * together; their answers begin with it. False: a signal came. A record whose
 * logits are not numbers has r->likely.n == 0 afterwards. */
bool
likely_run(const struct generate *g, struct active *active, size_t n);

#endif
