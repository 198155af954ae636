/* step.h - forward and backward through all windows of a model */
#ifndef TRAIN_STEP_H
#define TRAIN_STEP_H

#include "train/head.h"

/* Computes nodes [first, end) of a graph that has its memory. */
enum gg_status
train_compute(ggml_backend_t backend, struct ggml_cgraph *graph, int first,
              int end, struct gg_error *err);

struct train_pass {
    const struct model *model;
    struct train_params *params;
    ggml_backend_t backend;
    struct graph base; /* never computed: windows are */
    struct train_cuts cuts;
    struct train_window *windows;
    int n_windows;
    struct ggml_context *ctx; /* of what follows */
    ggml_backend_buffer_t buffer;
    struct ggml_tensor **crossing; /* n_windows - 1: what windows give */
    struct ggml_tensor *dy;        /* gradient of what is computed next */
    ggml_gallocr_t galloc;         /* of one window at a time */
    struct train_head head;
    struct train_input input;
    size_t size; /* bytes of all of it */
};

/* Rows of `length` ids, n_rows at once. As few windows as fit into `limit`
 * bytes (0: one); where `measured`, without memory. On failure *p is empty. */
enum gg_status
train_pass_init(struct train_pass *p, const struct model *model,
                struct train_params *params, ggml_backend_t backend,
                int32_t length, int32_t n_rows, size_t limit,
                struct gg_error *err);
void
train_pass_clear(struct train_pass *p);

/* Adds to *loss the losses of the targets in rows [first, first + n_rows) of
 * the batch; with `gradient`, to the parameters' gradients that of scale *
 * loss. */
enum gg_status
train_pass_run(struct train_pass *p, const struct train_set *set,
               const struct train_batch *batch, int32_t first, bool gradient,
               double scale, double *loss, struct gg_error *err);

#endif
