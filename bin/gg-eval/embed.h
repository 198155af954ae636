/* embed.h - each line of ids becomes a vector that stands for its text */
#ifndef EVAL_EMBED_H
#define EVAL_EMBED_H

#include <gg-stream.h>

#include "common/engine.h"

struct embed_options {
    bool wanted;
    int kind;   /* an enum gg_pooling, or EMBED_MODEL */
    bool as_is; /* not made to have the length 1 */
    bool none;  /* nothing is written */
    enum gg_vector_encoding encoding;
    int32_t n_lines; /* evaluated together at most */
};

/* As the model's file says. */
enum {
    EMBED_MODEL = GG_POOL_CLS + 1,
};

/* Writes a stream of embeddings, a record a line, each a text of its own.
 * False: some line failed. */
bool
embed_run(const struct engine *engine, const struct embed_options *o, int fd,
          const char *name);

#endif
