/* recurrence.h - parts of layers that keep a state: recurrence.c and others */
#ifndef GRAPH_RECURRENCE_H
#define GRAPH_RECURRENCE_H

#include "graph/graph.h"

/* A segment's part of something that is computed segment by segment. */
typedef struct ggml_tensor *(*graph_segment_fn)(struct graph *g,
                                                const struct graph_segment *s,
                                                int32_t layer,
                                                const void *data);

/* Results of all segments, their columns side by side. */
struct ggml_tensor *
graph_each_segment(struct graph *g, int32_t layer, graph_segment_fn fn,
                   const void *data);

/* ---- recurrences -------------------------------------------------------- */

/* The short convolution of x, n_channels x n_tokens, by the layer's weights:
 * each segment after the columns that its slot keeps. */
struct ggml_tensor *
graph_short_conv(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* As graph_short_conv(), of some of its channels, from `first` on, by a weight
 * of their own, d_conv x theirs. */
struct ggml_tensor *
graph_short_conv_part(struct graph *g, int32_t layer, struct ggml_tensor *x,
                      struct ggml_tensor *weight, int64_t first);

/* Another convolution of x, n x n_tokens, by weights of n values a column; what
 * it reads of the ids before are columns that are `by` ids apart. */
struct ggml_tensor *
graph_apart_conv(struct graph *g, int32_t layer, struct ggml_tensor *x,
                 struct ggml_tensor *weight, int64_t by);

/* Inputs of a gated delta rule: q and k, d_state x their heads x n_tokens, v,
 * d_state x n_head x n_tokens, each row contiguous; gate (the logarithm of the
 * decay, one a head or a value each) and beta, of n_tokens columns. */
struct graph_delta {
    struct ggml_tensor *q, *k, *v, *gate, *beta;
};

/* Inputs of a selective scan: x, its heads' length x heads x n_tokens, b and c,
 * d_state x their groups x n_tokens, each row contiguous; dt, heads x n_tokens,
 * contiguous. */
struct graph_scan {
    struct ggml_tensor *x, *dt, *b, *c;
};

/* ggml_ssm_scan() with the layer's rates of decay after the states of the
 * slots: d_inner x n_tokens. */
struct ggml_tensor *
graph_scan(struct graph *g, int32_t layer, const struct graph_scan *p);

/* Mamba's layers, from n_embd x n_tokens to the wanted rows: struct
 * model_arch's recur. */
struct ggml_tensor *
graph_mamba(struct graph *g, int32_t layer, struct ggml_tensor *cur);
struct ggml_tensor *
graph_mamba2(struct graph *g, int32_t layer, struct ggml_tensor *cur);
/* Heads of channels, as of 2, that have steps, B and C as of 1. */
struct ggml_tensor *
graph_mamba_heads(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* ggml_gated_delta_net() after the states of the slots: d_inner x n_tokens. */
struct ggml_tensor *
graph_delta_net(struct graph *g, int32_t layer, const struct graph_delta *d);

/* Kimi's delta attention, from n_embd x n_tokens to the wanted rows: struct
 * model_arch's recur. */
struct ggml_tensor *
graph_delta_attention(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* Qwen's gated delta rule: the same. */
struct ggml_tensor *
graph_gated_delta(struct graph *g, int32_t layer, struct ggml_tensor *cur);

/* Keys or queries of a delta rule, with rows of length 1; 1e-6 is added to the
 * square of what they had, whatever epsilon norms have. */
struct ggml_tensor *
graph_unit(struct graph *g, struct ggml_tensor *x);

/* ---- RWKV: rwkv.c ------------------------------------------------------- */

/* x of the id before each, n_embd x n_tokens; of a segment's first id what its
 * slot keeps, in channels from `first` on. */
struct ggml_tensor *
graph_shift(struct graph *g, int32_t layer, struct ggml_tensor *x,
            int64_t first);

/* x, and what it is a step away from: x of the id before, minus x. */
struct graph_mix {
    struct ggml_tensor *x, *step;
};
struct graph_mix
graph_mix(struct graph *g, int32_t layer, struct ggml_tensor *x, int64_t first);
/* x + step * share */
struct ggml_tensor *
graph_mixed(struct graph *g, const struct graph_mix *m,
            struct ggml_tensor *share);

/* Inputs of graph_wkv(), d_state x n_head x n_tokens, contiguous; a NULL: of
 * version 6, whose `first` is the layer's. */
struct graph_wkv {
    struct ggml_tensor *r, *w, *k, *v, *a, *b;
};

/* ggml_rwkv_wkv6() or _wkv7() after the states of the slots: n_embd x n_tokens.
 */
struct ggml_tensor *
graph_wkv(struct graph *g, int32_t layer, const struct graph_wkv *p);

enum graph_squash {
    GRAPH_PLAIN,
    GRAPH_TANH,
    GRAPH_SIGMOID,
};

/* base + up(squash(down(x))) */
struct ggml_tensor *
graph_low_rank(struct graph *g, const struct model_low_rank *r,
               struct ggml_tensor *x, enum graph_squash squash);

/* x as heads; and normed, each head alone, if there is a norm. */
struct ggml_tensor *
graph_rwkv_heads(struct graph *g, struct ggml_tensor *x);
struct ggml_tensor *
graph_norm_wkv(struct graph *g, const struct model_norm *norm,
               struct ggml_tensor *x);

/* A whole model: struct model_arch's graph. */
struct ggml_tensor *
graph_rwkv(struct graph *g, const struct model *m);

#endif
