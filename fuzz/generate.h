/* generate.h - a tiny model and options of gg-generate, for its records */
#ifndef FUZZ_GENERATE_H
#define FUZZ_GENERATE_H

#include "gg-generate/run.h"

/* Sets *o to the defaults, with a tiny model on one thread of the CPU, and *g
 * to what serves records by it. The engine is not open. */
void
fuzz_generate_init(struct generate *g, struct options *o);

#endif
