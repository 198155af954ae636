/* quiz.h - how often the likeliest of several answers is the right one */
#ifndef EVAL_QUIZ_H
#define EVAL_QUIZ_H

#include "common/engine.h"

struct quiz_options {
    bool wanted;
    bool json; /* the result, and not a table */
};

/* Reads questions from `fd`, a line each, and writes one result for all. */
void
quiz_run(const struct engine *engine, const struct quiz_options *o, int fd,
         const char *name);

#endif
