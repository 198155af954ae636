/* tensor.h - making tensors, and the parameters that ops record in them */
#ifndef TENSOR_TENSOR_H
#define TENSOR_TENSOR_H

#include <ggml.h>
#include <string.h>

/* A tensor in `ctx`: with data in the pool; without, if the context was told
 * so; or, with `view_src`, over the data of that tensor from `offset` on. A
 * view of a view is a view of its source. Strides are those of a contiguous
 * tensor. Aborts on a type that does not exist and on a shape that does not
 * fit. */
struct ggml_tensor *
tensor_new(struct ggml_context *ctx, enum ggml_type type, int n_dims,
           const int64_t *ne, struct ggml_tensor *view_src, size_t offset);

/* The result of an op: a view of `a`, or a tensor of its own of a's shape. */
static inline struct ggml_tensor *
tensor_like(struct ggml_context *ctx, struct ggml_tensor *a, bool inplace)
{
    return inplace ? ggml_view_tensor(ctx, a) : ggml_dup_tensor(ctx, a);
}

/* Records op and sources; returns t. */
static inline struct ggml_tensor *
tensor_record(struct ggml_tensor *t, enum ggml_op op, struct ggml_tensor *a,
              struct ggml_tensor *b)
{
    t->op = op;
    t->src[0] = a;
    t->src[1] = b;
    return t;
}

/* Names t after `base`: "base (view)" for the suffix " (view)". */
void
tensor_name_after(struct ggml_tensor *t, const char *base, const char *suffix);

/* "node_12": prefix and number. */
void
tensor_name_number(struct ggml_tensor *t, const char *prefix, int number);

/* True if the rows of `a` are contiguous and lie at one distance. */
bool
tensor_has_even_rows(const struct ggml_tensor *a);

static inline bool
tensor_is_view_op(enum ggml_op op)
{
    return op == GGML_OP_NONE || op == GGML_OP_RESHAPE || op == GGML_OP_VIEW ||
           op == GGML_OP_PERMUTE || op == GGML_OP_TRANSPOSE;
}

/* True if there is nothing to compute: views, no elements, branches of a graph
 * that were not selected. */
static inline bool
tensor_is_idle(const struct ggml_tensor *t)
{
    return tensor_is_view_op(t->op) || ggml_is_empty(t) ||
           !(t->flags & GGML_TENSOR_FLAG_COMPUTE);
}

static inline int32_t
tensor_get_i32(const struct ggml_tensor *t, int i)
{
    return t->op_params[i];
}

static inline float
tensor_get_f32(const struct ggml_tensor *t, int i)
{
    float f;

    memcpy(&f, &t->op_params[i], sizeof(f));
    return f;
}

static inline void
tensor_set_i32(struct ggml_tensor *t, int i, int32_t value)
{
    t->op_params[i] = value;
}

static inline void
tensor_set_f32(struct ggml_tensor *t, int i, float value)
{
    memcpy(&t->op_params[i], &value, sizeof(value));
}

/* The parameters of ops of custom functions: a function of the type that the
 * op says. */
struct tensor_custom {
    void (*fun)(void);
    int n_tasks; /* or GGML_N_TASKS_MAX */
    void *userdata;
};

static inline struct tensor_custom
tensor_get_custom(const struct ggml_tensor *t)
{
    struct tensor_custom c;

    memcpy(&c, t->op_params, sizeof(c));
    return c;
}

/* Where in a tensor the rows of another go: what ACC and SET record. */
struct tensor_place {
    size_t nb[3]; /* strides of dimensions 1 to 3, bytes */
    size_t offset;
};

static inline struct tensor_place
tensor_get_place(const struct ggml_tensor *t)
{
    struct tensor_place p;

    memcpy(&p, t->op_params, sizeof(p));
    return p;
}

#endif
