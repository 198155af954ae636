/* perplexity.h - how surprised a model is by a text */
#ifndef EVAL_PERPLEXITY_H
#define EVAL_PERPLEXITY_H

#include "common/engine.h"

struct perplexity_options {
    bool wanted;
    int32_t stride;  /* ids between windows' begins; 0: they do not overlap */
    int64_t windows; /* at most; 0: all */
};

/* Reads ids from `fd` and writes a line for each window: windows and scored
 * ids so far, perplexity of those, its standard error. With `quiet`, the last
 * line only. */
void
perplexity_run(const struct engine *engine, const struct perplexity_options *o,
               int fd, const char *name, bool quiet);

#endif
