/* classify.h - texts become labels, or the tokens of each */
#ifndef EVAL_CLASSIFY_H
#define EVAL_CLASSIFY_H

#include "common/engine.h"
#include "common/shard.h"
#include "gg-eval/output.h"

struct classify_options {
    bool wanted;
    bool ids;    /* lines are ids, not text */
    bool pairs;  /* a line is two texts, separated by a tab */
    bool all;    /* all labels, not the likeliest alone */
    bool tokens; /* labels of tokens as they are, not of spans */
    bool json;
    struct shard shard; /* that of the whole job */
};

/* Writes the labels of each line, n_lines of which are evaluated together at
 * most. False: some line failed. */
bool
classify_run(const struct engine *engine, const struct classify_options *o,
             int32_t n_lines, struct output *output, int fd, const char *name);

#endif
