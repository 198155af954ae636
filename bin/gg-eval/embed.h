/* embed.h - each line of ids becomes a vector that stands for its text */
#ifndef EVAL_EMBED_H
#define EVAL_EMBED_H

#include "gg-eval/output.h"

struct embed_options {
    bool wanted;
    int kind;   /* an enum gg_pooling, or EMBED_MODEL */
    bool as_is; /* not made to have the length 1 */
};

/* As the model's file says. */
enum {
    EMBED_MODEL = GG_POOL_CLS + 1,
};

/* Writes an embedding for each line, a text of its own, n_lines of which are
 * evaluated together at most. False: some line failed. */
bool
embed_run(const struct engine *engine, const struct embed_options *o,
          int32_t n_lines, struct output *output, int fd, const char *name);

#endif
