/* commands.h - what commands of a session are made of; for
 * remote.c, which gives them, and follow.c, which takes them */
#ifndef PIPELINE_COMMANDS_H
#define PIPELINE_COMMANDS_H

#include "pipeline/remote.h"

enum wanted {
    WANT_LOGITS = 1 << 0, /* all of them, or the best */
    WANT_SCORES = 1 << 1,
    WANT_NEXT = 1 << 2,
    WANT_EMBEDDING = 1 << 3,
};

/* A chunk without its scales and its ids: those of all chunks follow, and then
 * these. */
struct told_chunk {
    int32_t slot, pooling;
    uint32_t wanted; /* enum wanted */
    uint32_t reserved;
    uint64_t n, n_last, first;
};

/* A medium without its arrays: rows, deeper, positions and blocks follow, those
 * that it has. */
struct told_medium {
    uint8_t hash[GG_MEDIUM_HASH];
    uint64_t n, width, n_deeper;
    uint32_t has_positions, has_blocks;
};

/* Bytes of its arrays. */
struct medium_sizes {
    size_t rows, deeper, positions, blocks;
};

static inline struct medium_sizes
pipeline_medium_sizes(const struct told_medium *t)
{
    size_t n = (size_t)t->n, row = (size_t)t->width * sizeof(float);

    return (struct medium_sizes){
        .rows = n * row,
        .deeper = (size_t)t->n_deeper * n * row,
        .positions = t->has_positions ? 3 * n * sizeof(int32_t) : 0,
        .blocks = t->has_blocks ? n * sizeof(int32_t) : 0,
    };
}

/* Rows that are meant: args of GET and SET. */
enum {
    ROWS_RECURRENT, /* whether it is a state, or keys or values */
    ROWS_LAYER,
    ROWS_WHICH, /* enum cache_tensor, or cache_recurrent_tensor */
    ROWS_FIRST, /* of a state: the slot */
    ROWS_N,     /* of a state: the ids after which it is */
};

#endif
