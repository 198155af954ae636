/* opt.h - what contexts of ggml-opt.h are made of */
#ifndef TRAIN_OPT_H
#define TRAIN_OPT_H

#include <ggml-opt.h>

/* Tensors that a parameter has next to it; NULL: not needed. */
struct opt_slots {
    struct ggml_tensor *acc, *m, *v;
};

struct ggml_opt_context {
    struct ggml_opt_params params;
    bool static_graphs;
    /* How far graphs go now; params.build_type says how far at most. */
    enum ggml_opt_build_type build_type;

    struct ggml_context *ctx_compute; /* the caller's */
    struct ggml_context *ctx_static;  /* slots; results of static graphs */
    ggml_backend_buffer_t buf_static;
    struct ggml_context *ctx_cpu; /* of step_params */
    ggml_backend_buffer_t buf_cpu;
    struct ggml_context *ctx_copy; /* of a static graph, for the scheduler */

    struct ggml_tensor *inputs, *outputs, *labels;
    struct ggml_tensor *loss, *pred, *ncorrect;
    struct ggml_tensor *step_params; /* of the optimiser's steps */
    bool loss_per_datapoint;

    /* Values, and gradients, and steps. */
    struct ggml_cgraph *forward, *grad, *step;
    struct ggml_cgraph *allocated; /* one of those */
    struct ggml_cgraph *to_compute;
    bool ready;

    struct opt_slots *slots; /* by parameter, in the order of nodes */
    int n_slots;
    struct ggml_tensor *loss_acc;

    int64_t n_steps;
    int32_t in_period; /* evaluations since a step */
    uint64_t random;   /* of shuffles */
};

struct ggml_opt_result {
    int64_t ndata, ncorrect; /* -1: nobody counts */
    float *loss;             /* of each evaluation */
    size_t n_loss, cap_loss;
    int32_t *pred;
    size_t n_pred, cap_pred;
    int32_t opt_period;
    bool loss_per_datapoint;
};

/* True if gradients of several evaluations are added up. */
bool
train_opt_accumulates(const struct ggml_opt_context *c);

/* The loss and what goes with it; as far as build_type goes: gradients, steps.
 */
void
train_opt_build(struct ggml_opt_context *c);

/* Gradients become 0 where they are added up; with `moments` those, too. */
void
train_opt_clear(struct ggml_opt_context *c, bool moments);

/* A number below n, from the context's. */
uint64_t
train_opt_draw(struct ggml_opt_context *c, uint64_t n);

/* An evaluation's values. */
void
train_opt_result_add(struct ggml_opt_result *r,
                     const struct ggml_opt_context *c);

/* A context without data for n tensors. */
struct ggml_context *
train_opt_new_context(size_t n);

/* A copy of a graph and of its tensors, in a context of its own, so that a
 * scheduler places them, not the graph's. The caller frees *ctx. */
struct ggml_cgraph *
train_opt_copy_graph(const struct ggml_cgraph *g, struct ggml_context **ctx);

#endif
