/* block_index.h - what chooses the blocks of keys that attention reads:
 * block_index.c has the formula */
#ifndef GRAPH_BLOCK_INDEX_H
#define GRAPH_BLOCK_INDEX_H

#include "graph/arch.h"

/* Layers with attention choose blocks of as many positions as
 * attention.compress_ratios says, where that is not 0. After
 * graph_keys_recurrent_layers() and graph_keys_rope(). */
void
graph_keys_block_index(struct model_keys *keys, struct model_hparams *hp);

/* indexer.q_proj, indexer.k_proj, and their norms. */
void
graph_find_block_index(struct model_loader *l, struct model_layer *layer);

/* Keeps what blocks are chosen by, of cur, and chooses what the layer attends
 * to. */
void
graph_choose_block_means(struct graph *g, int32_t layer,
                         struct ggml_tensor *cur);

/* The first of these alone. */
void
graph_keep_block_index(struct graph *g, int32_t layer, struct ggml_tensor *cur);

#endif
