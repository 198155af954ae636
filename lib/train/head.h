/* head.h - from hidden vectors to the loss, some at a time
 *
 * Logits are long: so the output's product, the loss and their gradients are
 * computed for N ids at a time, a number that follows from the vocabulary
 * alone. */
#ifndef TRAIN_HEAD_H
#define TRAIN_HEAD_H

#include "graph/graph.h"
#include "train/batch.h"
#include "train/window.h"

struct train_head {
    const struct model *model;
    const struct train_params *params;
    ggml_backend_t backend;
    ggml_gallocr_t galloc;
    int32_t max_columns;
    /* The graph that was made last: of n columns. */
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    int n_forward;
    int32_t n;
    struct ggml_tensor *x, *labels, *loss, *dx, *seed;
};

/* For no more than n_ids hidden vectors. On failure *h is empty. */
enum gg_status
train_head_init(struct train_head *h, const struct model *model,
                const struct train_params *params, ggml_backend_t backend,
                int32_t n_ids, struct gg_error *err);
void
train_head_clear(struct train_head *h);

/* Bytes that it takes. */
enum gg_status
train_head_size(struct train_head *h, size_t *size, struct gg_error *err);

/* Adds to *loss the losses of all targets of `in`, whose hidden vectors are
 * n_embd x ids. With `gradient`, of the same shape, that of scale * loss with
 * respect to them, and parameters' gradients to theirs. */
enum gg_status
train_head_run(struct train_head *h, const struct train_input *in,
               const float *hidden, float *gradient, double scale, double *loss,
               struct gg_error *err);

#endif
