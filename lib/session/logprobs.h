/* logprobs.h - logits of many rows, a slice at a time, and log-probabilities
 *
 * A vector of logits is as long as the vocabulary: those of all ids of a batch
 * would be many times as large as everything else. So where they are wanted, a
 * batch's graph ends in front of the output's matrix (graph.hidden), and a
 * second one makes logits and probabilities of a few rows, again and again. */
#ifndef SESSION_LOGPROBS_H
#define SESSION_LOGPROBS_H

#include "session/batch.h"
#include "session/topk.h"

struct model_logprobs {
    const struct model *model;
    ggml_backend_sched_t sched; /* NULL: not started */
    void *pool;                 /* memory of the graph's tensors */
    size_t pool_size;
    bool bf16;                 /* as of struct graph */
    float *scales;             /* of adapters, that the graph was built with */
    struct graph graph;        /* ctx NULL: none is built */
    struct ggml_tensor *x, *p; /* its input, and probabilities */
    int32_t max_rows;          /* of a slice */
    float *rows; /* scratch: the batch's, in front of the output */
    size_t cap_rows;
    float *logits, *probs; /* scratch: of one row each */
    struct topk topk;
};

/* The graph runs on the back ends, which are not owned; `bf16` as in struct
 * graph. On failure *s is
 * empty. */
enum gg_status
session_logprobs_start(struct model_logprobs *s, const struct model *model,
                       ggml_backend_t *backends, int n_backends, bool bf16,
                       struct gg_error *err);
void
session_logprobs_clear(struct model_logprobs *s); /* takes an empty one */

/* Computes what the batch wants of its rows, which `hidden`, the result of its
 * graph, holds: logits or the likeliest ids, and log-probabilities of the ids
 * that follow. */
enum gg_status
session_logprobs_run(struct model_logprobs *s, struct ggml_tensor *hidden,
                     const struct batch *b, struct gg_error *err);

/* Bytes of its compute buffers. */
size_t
session_logprobs_size(const struct model_logprobs *s);

#endif
