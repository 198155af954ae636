/* optimizer.h - from gradients to new weights: AdamW, and Muon for matrices */
#ifndef TRAIN_OPTIMIZER_H
#define TRAIN_OPTIMIZER_H

#include <ggml-alloc.h>
#include <gg-train.h>

#include "core/error.h"
#include "train/params.h"

struct train_optimizer {
    const struct gg_train_params *o;
    struct train_params *params;
    ggml_backend_t backend;
    /* AdamW, of all parameters that it is for. */
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *with_decay, *without; /* its numbers for this step */
    ggml_backend_buffer_t buffer;
    struct train_muon *muon; /* one for each shape; or NULL */
    size_t n_muon;
};

/* Gradients and moments are there, or are not where `params` is measured. On
 * failure *o is empty. */
enum gg_status
train_optimizer_init(struct train_optimizer *o, struct train_params *params,
                     const struct gg_train_params *options,
                     ggml_backend_t backend, struct gg_error *err);
void
train_optimizer_clear(struct train_optimizer *o); /* takes an empty one */

/* Step number `step`, from 1, at a part of the learning rates. The norm of all
 * gradients, before they were clipped, goes to *norm. */
enum gg_status
train_optimizer_step(struct train_optimizer *o, int64_t step, double part,
                     double *norm, struct gg_error *err);

#endif
