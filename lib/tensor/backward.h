/* backward.h - gradients: what a graph's backward pass is made of
 *
 * A rule says, for an op, what of a node's gradient its sources get. All is
 * built from ops: nothing is computed here. */
#ifndef TENSOR_BACKWARD_H
#define TENSOR_BACKWARD_H

#include "tensor/graph.h"

/* The backward pass of a graph as it is built. */
struct backward {
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    bool *needed; /* by slot of `visited`: a parameter's gradient needs it */
};

/* ggml_build_backward_expand(), for callers that may be short of memory; false:
 * there is none, and nothing was added. */
bool
tensor_build_backward(struct ggml_context *ctx, struct ggml_cgraph *cgraph,
                      struct ggml_tensor **grad_accs);

/* Hands on t's gradient. */
typedef void (*tensor_backward_rule)(struct backward *b, struct ggml_tensor *t,
                                     struct ggml_tensor *grad);

/* The rule of t's op; NULL: it has none. */
tensor_backward_rule
tensor_backward_rule_of(const struct ggml_tensor *t);

/* True if a gradient goes through t to its sources that may have one, or if
 * none goes through such an op at all (as it is constant between steps). */
bool
tensor_backward_supports(const struct ggml_tensor *t);

/* True if no gradient goes through t to its source i. */
bool
tensor_backward_ends_at(const struct ggml_tensor *t, int i);

/* Where arrays of the pass have the node. */
size_t
tensor_backward_slot(const struct backward *b, const struct ggml_tensor *t);

/* True if a gradient of src, which may be NULL, is needed. */
bool
tensor_backward_wants(const struct backward *b, const struct ggml_tensor *src);

/* Adds to the gradient of src, of whose shape `grad` is. */
void
tensor_backward_add(struct backward *b, struct ggml_tensor *src,
                    struct ggml_tensor *grad);

/* tensor_backward_add(), if it is wanted, of `grad` summed up over the
 * repetitions of src. */
void
tensor_backward_add_repeated(struct backward *b, struct ggml_tensor *src,
                             struct ggml_tensor *grad);

/* Adds to a place of the gradient of src. */
void
tensor_backward_add_part(struct backward *b, struct ggml_tensor *src,
                         struct ggml_tensor *grad, const size_t nb[3],
                         size_t offset);

/* The gradient of x where y = f(x) has this one; NULL: f has none here. */
struct ggml_tensor *
tensor_backward_unary(struct ggml_context *ctx, enum ggml_unary_op f,
                      struct ggml_tensor *grad, struct ggml_tensor *x,
                      struct ggml_tensor *y);
bool
tensor_backward_has_unary(enum ggml_unary_op f);

/* The rules of UNARY and GLU. */
void
tensor_backward_of_unary(struct backward *b, struct ggml_tensor *t,
                         struct ggml_tensor *grad);
void
tensor_backward_of_glu(struct backward *b, struct ggml_tensor *t,
                       struct ggml_tensor *grad);
/* That of x's function in a GLU; GGML_UNARY_OP_COUNT: one without a rule. */
enum ggml_unary_op
tensor_backward_glu_function(enum ggml_glu_op op);

#endif
