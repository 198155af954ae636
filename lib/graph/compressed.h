/* compressed.h - rows that stand for blocks of positions: compressed.c
 *
 * A layer with blocks keeps the columns of the last positions, as a short
 * convolution does, and a row for each block that is complete. */
#ifndef GRAPH_COMPRESSED_H
#define GRAPH_COMPRESSED_H

#include "graph/graph.h"

/* Columns x, n_channels x n_tokens, go to the layer's blocks: n_channels x
 * columns of a block x blocks, of all that the batch writes; if blocks overlap,
 * the first half of its columns are the block before's. The slots keep the last
 * ones. */
struct ggml_tensor *
graph_block_columns(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* Channels from `first` on of all columns of blocks: d x columns x blocks.
 * If blocks overlap, channels d .. 2 d - 1 after `first` are the block's own,
 * and those before them count for the block after it. */
struct ggml_tensor *
graph_block_part(struct graph *g, int32_t layer, struct ggml_tensor *columns,
                 int64_t first, int64_t d);

/* Rows of blocks by gates (DeepSeek V4): of each channel the sum of values
 * times the softmax of gates and biases over the block's columns, normed: d x
 * blocks. Values of d channels, or twice as many
 * if blocks overlap, begin at `first`, and gates after them. */
struct graph_compressor {
    int64_t first, d;
    struct ggml_tensor *bias; /* channels x ratio, of any type */
    const struct model_norm *norm;
};
struct ggml_tensor *
graph_compress(struct graph *g, int32_t layer, struct ggml_tensor *columns,
               const struct graph_compressor *c);

/* x, d x heads x blocks, rotated by the first positions of blocks. */
struct ggml_tensor *
graph_rope_blocks(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* Writes x, d x blocks. */
void
graph_keep_blocks(struct graph *g, int32_t layer, enum cache_tensor of,
                  struct ggml_tensor *x);

/* Rows for blocks that a segment reads, d x rows x 1: of all that are complete
 * after its last id, and maybe more. */
struct ggml_tensor *
graph_kept_blocks(struct graph *g, const struct graph_segment *s, int32_t layer,
                  enum cache_tensor of);

/* Which of hp.compressions the layer has. */
static inline int
graph_compression_of(const struct graph *g, int32_t layer)
{
    return g->model->hp.layers[layer].compression - 1;
}

#endif
