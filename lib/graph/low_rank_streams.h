/* low_rank_streams.h - hyper-connections of low rank (Qwen):
 * low_rank_streams.c
 *
 * Beside each other are n streams s of n_embd values; y = norm(s) of each.
 * A block reads the mean over the streams of sigmoid(up(silu(down(y) / n))) y,
 * where down and up see all streams, and what it gives is added to stream i
 * times 2 sigmoid(inject(y) / n)[i]. */
#ifndef GRAPH_LOW_RANK_STREAMS_H
#define GRAPH_LOW_RANK_STREAMS_H

#include "graph/graph.h"
#include "graph/loader.h"

/* ".hc_attn" -> hc_attn_norm, _down, _up, and, if it injects, _inject. */
struct model_stream_mix
graph_find_stream_mix(struct model_loader *l, const char *name, bool injects);

/* A norm of each stream: n_embd x n_stream, or all in one row. */
struct model_norm
graph_find_stream_norm(struct model_loader *l, const char *name);

/* n_stream * n_embd x ids as n_embd x n_stream x ids. */
struct ggml_tensor *
graph_part_streams(struct graph *g, struct ggml_tensor *x);

/* And back. */
struct ggml_tensor *
graph_join_streams(struct graph *g, struct ggml_tensor *x);

/* x, of streams apart, each of them normed. */
struct ggml_tensor *
graph_norm_streams(struct graph *g, struct ggml_tensor *x,
                   const struct model_norm *norm);

/* x n_stream times: n_stream * n_embd x ids. */
struct ggml_tensor *
graph_spread_streams(struct graph *g, struct ggml_tensor *x);

/* The input of a block, n_embd x ids, of the streams x; *inject: n_stream x
 * ids, unless it is NULL. */
struct ggml_tensor *
graph_mix_streams(struct graph *g, const struct model_stream_mix *mix,
                  struct ggml_tensor *x, struct ggml_tensor **inject);

/* The streams x with y added, which a block gave. */
struct ggml_tensor *
graph_inject(struct graph *g, struct ggml_tensor *x, struct ggml_tensor *y,
             struct ggml_tensor *inject);

#endif
