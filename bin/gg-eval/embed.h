/* embed.h - each line of ids becomes a vector that stands for its text */
#ifndef EVAL_EMBED_H
#define EVAL_EMBED_H

#include "common/shard.h"
#include "gg-eval/output.h"

struct embed_options {
    bool wanted;
    int kind;     /* an enum gg_pooling, or EMBED_MODEL */
    bool as_is;   /* not made to have the length 1 */
    int32_t dims; /* values that are written; 0: all */
    bool rank;    /* scores of pairs and no embeddings */
    bool sigmoid; /* of the scores */
    struct shard shard;
};

/* As the model's file says. */
enum {
    EMBED_MODEL = GG_POOL_RANK,
};

/* Writes an embedding, or scores, for each line, a text of its own, n_lines of
 * which are evaluated together at most. False: some line failed. */
bool
embed_run(const struct engine *engine, const struct embed_options *o,
          int32_t n_lines, struct output *output, int fd, const char *name);

#endif
