/* lines.h - lines of ids, as they come, and what is done with them together */
#ifndef EVAL_LINES_H
#define EVAL_LINES_H

#include "common/shard.h"
#include "gg-eval/output.h"

struct lines {
    const char *name; /* of the input */
    const struct engine *engine;
    /* Sees the first line before it is added; or NULL. */
    void (*begin)(void *data, const struct gg_line *line);
    /* False: the line was not taken, and what was added before it must be run
     * first. */
    bool (*add)(void *data, const struct gg_line *line);
    bool (*is_full)(const void *data); /* no further line can be added */
    /* Evaluates what was added and writes its records. */
    void (*run)(void *data);
    void *data;
    bool back;             /* a line may take ids of its sequence back */
    size_t most;           /* ids of a line that are added together; 0: all */
    struct output *output; /* which ends with the lines */
    const struct shard *shard; /* others than its sequences are left out */
};

/* Reads `fd` until its end, or a signal that is caught: a line is run together
 * with all further ones that go with it and are there. False: a signal came
 * before the first line. Ends the tool where there are no lines, or nobody
 * reads what is written. */
bool
lines_run(const struct lines *l, int fd);

#endif
