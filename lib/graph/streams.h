/* streams.h - hyper-connections: residual streams side by side, which each
 * block reads and writes as weighted sums (Zhu et al. 2024,
 * "Hyper-Connections"; Xie et al. 2025, "mHC")
 *
 * x: n_embd x hp.n_stream x ids, all streams of an id as one row:
 *
 * m = fn(norm(x)), without a weight    of read, write and mix one after another
 * c = sum_i r_i x_i        r = sigmoid(s_0 m_r + b_r) + eps
 * x_i = w_i block(c) + sum_j M_ij x_j      w = a sigmoid(s_1 m_w + b_w)
 *
 * M is s_2 m_M + b_M made doubly stochastic (Sinkhorn and Knopp 1967), and a is
 * 2; independent streams have no M, x_i goes on as it is, eps is added to w,
 * and the file says a. Streams of low rank (Qwen) have no M either:
 *
 * y = norm(x), each stream by weights of its own; n streams
 * c = sum_i sigmoid(up(silu(down(y) / n)))_i y_i / n
 * w = 2 sigmoid(inject(y) / n)
 *
 * After the last layer streams are read once more, or
 * their mean is. */
#ifndef GRAPH_STREAMS_H
#define GRAPH_STREAMS_H

#include "graph/arch.h"

/* hp.n_stream, hp.stream_eps, and either hp.sinkhorn or, of independent ones,
 * hp.stream_magnitude. */
void
graph_keys_streams(struct model_keys *keys, struct model_hparams *hp,
                   bool independent);

/* hc_attn_fn, hc_attn_scale, hc_attn_base; the same of hc_ffn. */
void
graph_find_streams(struct model_loader *l, struct model_layer *layer);
/* Finds the tensors after the layers, output_hc_fn, output_hc_scale and
 * output_hc_base among them: struct model_arch's head. */
void
graph_find_streams_head(struct model_loader *l);

/* hp.n_stream and hp.stream_rank, of streams of low rank. */
void
graph_keys_low_rank_streams(struct model_keys *keys, struct model_hparams *hp);
/* ".hc_attn": hc_attn_norm, hc_attn_down, hc_attn_up, and, if streams are
 * written, hc_attn_inject. */
struct model_hyper
graph_find_low_rank_streams(struct model_loader *l, const char *name,
                            bool injects);
/* A norm's weights, n_embd x n_stream, or all in one row. */
struct model_norm
graph_find_stream_norm(struct model_loader *l, const char *name);
/* Each stream normed. */
struct ggml_tensor *
graph_norm_streams(struct graph *g, struct ggml_tensor *x,
                   const struct model_norm *norm);

/* As many copies of x, n_embd x ids. */
struct ggml_tensor *
graph_streams_spread(struct graph *g, struct ggml_tensor *x);

/* x as one row of all streams an id. */
struct ggml_tensor *
graph_streams_flat(struct graph *g, struct ggml_tensor *x);

/* A block's input from the streams, and the values that writing to them
 * needs. */
struct graph_connection {
    struct ggml_tensor *c;     /* n_embd x ids */
    struct ggml_tensor *mixes; /* 2 n_stream x ids, or with M's */
    struct ggml_tensor *x;
};
struct graph_connection
graph_streams_read(struct graph *g, const struct model_hyper *h,
                   struct ggml_tensor *x);
struct graph_connection
graph_low_rank_streams_read(struct graph *g, const struct model_hyper *h,
                            struct ggml_tensor *x);
/* Mixes and streams of those ids that graph_wanted() leaves. */
void
graph_streams_wanted(struct graph *g, int32_t layer,
                     struct graph_connection *c);
/* The streams after a block that has made y, n_embd x ids, of what it read. */
struct ggml_tensor *
graph_streams_write(struct graph *g, const struct model_hyper *h,
                    const struct graph_connection *c, struct ggml_tensor *y);

/* The output tensors of graph_find_streams_head(), of an MTP layer, where the
 * file has them in it. */
void
graph_find_mtp_stream(struct model_loader *l, struct model_layer *layer);
/* The streams as its output reads them. */
struct ggml_tensor *
graph_streams_merge_mtp(struct graph *g, const struct model_layer *l,
                        struct ggml_tensor *x);

/* The streams as the output reads them: n_embd x ids. */
struct ggml_tensor *
graph_streams_merge(struct graph *g, struct ggml_tensor *x);

/* x merged, normed, and the logits; MTP layers are fed: what follows
 * graph_leave(). */
struct ggml_tensor *
graph_streams_finish(struct graph *g, struct ggml_tensor *x);

/* Two blocks that read and write the streams: the family's attention or
 * recurrence, and a mixture or feed-forward block. */
struct ggml_tensor *
graph_streams_block(struct graph *g, int32_t layer, struct ggml_tensor *x);

/* graph_decoder() of models with streams, by the family's block: struct
 * model_arch's graph. */
struct ggml_tensor *
graph_streams_decoder(struct graph *g, const struct model *m);

#endif
