/* params.h - what is trained: tensors with a gradient and moments each */
#ifndef TRAIN_PARAMS_H
#define TRAIN_PARAMS_H

#include <ggml-backend.h>

#include "graph/model.h"

enum train_moment {
    TRAIN_FIRST,
    TRAIN_SECOND,
    TRAIN_MOMENTS,
};

struct train_param {
    struct ggml_tensor *weight;                 /* F32 */
    struct ggml_tensor *grad;                   /* where gradients are summed */
    struct ggml_tensor *moments[TRAIN_MOMENTS]; /* NULL: has none such */
    bool matrix; /* of a block: weights decay; no norm, bias or table */
};

struct train_params {
    struct train_param *p;
    size_t n, cap;
    struct ggml_context *ctx; /* of gradients, moments and copies */
    ggml_backend_buffer_t buffer;
    int64_t n_values;
    bool measured; /* nothing has memory: a dry run */
};

/* A matrix of a block: no norm, bias or table. */
bool
train_is_matrix(const struct ggml_tensor *t);

/* Room for n parameters. */
enum gg_status
train_params_room(struct train_params *params, size_t n, struct gg_error *err);
/* Adds one; a tensor of params->ctx, or one of the model's that is to move. */
bool
train_params_add(struct train_params *params, struct ggml_tensor *weight,
                 bool matrix);
/* Gives all that is in params->ctx, and gradients and moments, memory. */
enum gg_status
train_params_place(struct train_params *params, struct gg_error *err);

/* Makes all weights of the model, but for divisors of angles, F32 in memory of
 * their own, and parameters. */
enum gg_status
train_params_of_model(struct train_params *params, struct model *model,
                      struct gg_error *err);

/* Draws all weights anew: matrices from a normal distribution as wide as their
 * input is long, those that add to the residual stream narrower; norms are 1,
 * biases 0. */
void
train_params_init(struct train_params *params, const struct model *model,
                  uint64_t seed);

/* That of a weight; NULL: it is none. */
const struct train_param *
train_param_of(const struct train_params *params,
               const struct ggml_tensor *weight);

void
train_params_zero_gradients(struct train_params *params);

void
train_params_clear(struct train_params *params); /* takes an empty one */

#endif
