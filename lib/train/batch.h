/* batch.h - rows of a step, and what a graph reads of some of them */
#ifndef TRAIN_BATCH_H
#define TRAIN_BATCH_H

#include "graph/graph.h"
#include "train/rows.h"

/* A piece in its place. */
struct train_placed {
    struct train_piece piece;
    int32_t row, at;
};

struct train_batch {
    struct train_placed *placed; /* row by row */
    size_t n, cap;
    int32_t n_rows;
    uint64_t n_targets; /* that count */
};

void
train_batch_start(struct train_batch *b);
/* Adds row r of the packed set. */
enum gg_status
train_batch_add(struct train_batch *b, const struct train_set *set,
                const struct train_packed *packed, size_t r,
                struct gg_error *err);
void
train_batch_clear(struct train_batch *b);

/* A graph's inputs of n_rows rows of `length` ids. An id that no piece fills is
 * 0, which sees itself and is seen by nobody. */
struct train_input {
    const struct model *model;
    int32_t length, n_rows;
    int32_t *ids, *positions;
    float *masks[CACHE_KINDS]; /* NULL: the graph has none */
    /* The ids after which a target counts, and the targets. */
    int32_t *outputs, *targets;
    int32_t n_outputs;
};

enum gg_status
train_input_init(struct train_input *in, const struct graph *g,
                 struct gg_error *err);
/* Rows [first, first + n_rows) of the batch, as far as there are some. */
void
train_input_fill(struct train_input *in, const struct train_set *set,
                 const struct train_batch *b, int32_t first);
void
train_input_clear(struct train_input *in);

#endif
