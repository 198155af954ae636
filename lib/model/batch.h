/* batch.h - ids that are evaluated together, and what the graph must know */
#ifndef MODEL_BATCH_H
#define MODEL_BATCH_H

#include "model/graph.h"

struct batch {
    int32_t max_tokens, max_segments;
    int32_t n_tokens, n_segments, n_outputs;
    struct graph_segment *segments; /* n_segments; masks are not set */
    int32_t *ids;                   /* n_tokens each */
    int32_t *positions;
    int64_t *cells;
    int32_t *rows;  /* n_outputs: rows of the batch with logits */
    float **logits; /* n_outputs: where they go; NULL: nobody wants them */
    uint16_t *mask; /* scratch for one segment's mask */
    size_t mask_cap;
};

bool
batch_init(struct batch *b, int32_t max_tokens, int32_t max_segments);
void
batch_clear(struct batch *b); /* takes an empty one */

/* Empties it. */
void
batch_start(struct batch *b);

/* Adds a segment of as many of ids[0..n) as there is room for, at position
 * `past` of the slot, and returns their number; 0: the batch is full. Where
 * all of them fit, the last one's logits go to `logits`, unless NULL. */
int32_t
batch_add(struct batch *b, const struct cache *cache, int32_t slot,
          int32_t past, const int32_t *ids, size_t n, float *logits);

/* To be called when nothing more is added: a graph has at least one output. */
void
batch_finish(struct batch *b);

/* The mask of segment i in f16: n_kv x n, 0 where a row may see a key and
 * -infinity where it may not. NULL: no memory. Lives until the next call. */
const uint16_t *
batch_mask(struct batch *b, int32_t i);

#endif
