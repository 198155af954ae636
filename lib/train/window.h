/* window.h - a stretch of a model's graph with its gradients
 *
 * A graph is cut where a single tensor crosses from what stands before to what
 * comes after: in most models after each block. What lies between two cuts is
 * a window. Its graph is a copy of these nodes, which reads the crossing tensor
 * from memory of its own, and has the gradients of the parameters within and of
 * that tensor. So a step needs the activations of one window at a time, and no
 * family knows of it. */
#ifndef TRAIN_WINDOW_H
#define TRAIN_WINDOW_H

#include <ggml-alloc.h>

#include "core/error.h"
#include "tensor/graph.h"
#include "train/params.h"

/* Nodes after which a graph may be cut: of a tensor that alone crosses, is
 * contiguous and has the shape of the last node. */
struct train_cuts {
    int *nodes; /* indices, rising */
    int n;
};

enum gg_status
train_cuts_find(struct ggml_cgraph *graph, struct train_cuts *cuts,
                struct gg_error *err);
void
train_cuts_clear(struct train_cuts *cuts); /* takes an empty one */

struct train_window {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    int n_forward;            /* its first nodes: up to y */
    struct ggml_tensor *y;    /* what it gives */
    struct ggml_tensor *dx;   /* gradient of what it reads; NULL: not wanted */
    struct ggml_tensor *seed; /* to be set to 1; NULL: it has no gradients */
};

/* Nodes [first, end) of `base`. `from` is the tensor that crosses into it, NULL
 * in front; `x` is the memory that it is read from, a parameter if its gradient
 * is wanted; `dy` holds the gradient of what the window gives. */
struct train_window_spec {
    struct ggml_cgraph *base;
    int first, end;
    const struct ggml_tensor *from;
    struct ggml_tensor *x, *dy;
    const struct train_params *params;
};

/* Without memory for its nodes. On failure *w is empty. */
enum gg_status
train_window_make(struct train_window *w, const struct train_window_spec *spec,
                  struct gg_error *err);
void
train_window_clear(struct train_window *w); /* takes an empty one */

/* Adds the nodes of the gradients of `loss`, a scalar, to a graph; those of
 * parameters are added to train_param's grad. *seed gets the gradient of the
 * loss itself, which the caller sets. */
enum gg_status
train_add_gradients(struct ggml_context *ctx, struct ggml_cgraph *graph,
                    struct ggml_tensor *loss, const struct train_params *params,
                    struct ggml_tensor **seed, struct gg_error *err);

/* GG_ERR_UNSUPPORTED, by the op's name, where a gradient has to pass through an
 * op that has none. */
enum gg_status
train_check_ops(struct ggml_cgraph *graph, struct gg_error *err);

#endif
