/* build_arithmetic.c - op builders: element by element, sums, repetition */
#include "tensor/tensor.h"

/* a op b, where b is repeated to a's shape. */
static struct ggml_tensor *
binary(struct ggml_context *ctx, enum ggml_op op, struct ggml_tensor *a,
       struct ggml_tensor *b, bool inplace)
{
    GGML_ASSERT(ggml_can_repeat(b, a));
    return tensor_record(tensor_like(ctx, a, inplace), op, a, b);
}

#define BINARY(name, op)                                                       \
    struct ggml_tensor *ggml_##name(struct ggml_context *ctx,                  \
                                    struct ggml_tensor *a,                     \
                                    struct ggml_tensor *b)                     \
    {                                                                          \
        return binary(ctx, op, a, b, false);                                   \
    }                                                                          \
    struct ggml_tensor *ggml_##name##_inplace(struct ggml_context *ctx,        \
                                              struct ggml_tensor *a,           \
                                              struct ggml_tensor *b)           \
    {                                                                          \
        return binary(ctx, op, a, b, true);                                    \
    }
BINARY(add, GGML_OP_ADD)
BINARY(sub, GGML_OP_SUB)
BINARY(mul, GGML_OP_MUL)
BINARY(div, GGML_OP_DIV)
#undef BINARY

/* a + b, one value. */
static struct ggml_tensor *
add1(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
     bool inplace)
{
    GGML_ASSERT(ggml_is_scalar(b) && tensor_has_even_rows(a));
    return tensor_record(tensor_like(ctx, a, inplace), GGML_OP_ADD1, a, b);
}

struct ggml_tensor *
ggml_add1(struct ggml_context *ctx, struct ggml_tensor *a,
          struct ggml_tensor *b)
{
    return add1(ctx, a, b, false);
}

struct ggml_tensor *
ggml_add1_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b)
{
    return add1(ctx, a, b, true);
}

struct ggml_tensor *
ggml_add_cast(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, enum ggml_type type)
{
    GGML_ASSERT(ggml_can_repeat(b, a));
    return tensor_record(ggml_new_tensor(ctx, type, GGML_MAX_DIMS, a->ne),
                         GGML_OP_ADD, a, b);
}

/* A function that is an op of its own. */
#define MAP(name, op)                                                          \
    struct ggml_tensor *ggml_##name(struct ggml_context *ctx,                  \
                                    struct ggml_tensor *a)                     \
    {                                                                          \
        return tensor_record(ggml_dup_tensor(ctx, a), op, a, NULL);            \
    }                                                                          \
    struct ggml_tensor *ggml_##name##_inplace(struct ggml_context *ctx,        \
                                              struct ggml_tensor *a)           \
    {                                                                          \
        return tensor_record(ggml_view_tensor(ctx, a), op, a, NULL);           \
    }
MAP(sqr, GGML_OP_SQR)
MAP(sqrt, GGML_OP_SQRT)
MAP(log, GGML_OP_LOG)
MAP(sin, GGML_OP_SIN)
MAP(cos, GGML_OP_COS)
#undef MAP

struct ggml_tensor *
ggml_sum(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return tensor_record(ggml_new_tensor_1d(ctx, a->type, 1), GGML_OP_SUM, a,
                         NULL);
}

/* One value a row. */
static struct ggml_tensor *
of_rows(struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_type type,
        enum ggml_op op)
{
    struct ggml_tensor *t =
        ggml_new_tensor_4d(ctx, type, 1, a->ne[1], a->ne[2], a->ne[3]);

    return tensor_record(t, op, a, NULL);
}

struct ggml_tensor *
ggml_sum_rows(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return of_rows(ctx, a, a->type, GGML_OP_SUM_ROWS);
}

struct ggml_tensor *
ggml_mean(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return of_rows(ctx, a, GGML_TYPE_F32, GGML_OP_MEAN);
}

struct ggml_tensor *
ggml_cumsum(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GGML_ASSERT(a->type == GGML_TYPE_F32);
    return tensor_record(ggml_dup_tensor(ctx, a), GGML_OP_CUMSUM, a, NULL);
}

struct ggml_tensor *
ggml_repeat_4d(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
               int64_t ne1, int64_t ne2, int64_t ne3)
{
    struct ggml_tensor *t =
        ggml_new_tensor_4d(ctx, a->type, ne0, ne1, ne2, ne3);

    GGML_ASSERT(ggml_is_empty(a) || ggml_can_repeat(a, t));
    return tensor_record(t, GGML_OP_REPEAT, a, NULL);
}

struct ggml_tensor *
ggml_repeat(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b)
{
    GGML_ASSERT(ggml_can_repeat(a, b));
    return ggml_repeat_4d(ctx, a, b->ne[0], b->ne[1], b->ne[2], b->ne[3]);
}

/* op_params: factor, summand. */
static struct ggml_tensor *
scale(struct ggml_context *ctx, struct ggml_tensor *a, float s, float b,
      bool inplace)
{
    struct ggml_tensor *t;

    GGML_ASSERT(tensor_has_even_rows(a));
    t = tensor_like(ctx, a, inplace);
    tensor_set_f32(t, 0, s);
    tensor_set_f32(t, 1, b);
    return tensor_record(t, GGML_OP_SCALE, a, NULL);
}

struct ggml_tensor *
ggml_scale(struct ggml_context *ctx, struct ggml_tensor *a, float s)
{
    return scale(ctx, a, s, 0, false);
}

struct ggml_tensor *
ggml_scale_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float s)
{
    return scale(ctx, a, s, 0, true);
}

struct ggml_tensor *
ggml_scale_bias(struct ggml_context *ctx, struct ggml_tensor *a, float s,
                float b)
{
    return scale(ctx, a, s, b, false);
}

struct ggml_tensor *
ggml_scale_bias_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                        float s, float b)
{
    return scale(ctx, a, s, b, true);
}

/* op_params: least, greatest. */
static struct ggml_tensor *
clamp(struct ggml_context *ctx, struct ggml_tensor *a, float min, float max,
      bool inplace)
{
    struct ggml_tensor *t = tensor_like(ctx, a, inplace);

    tensor_set_f32(t, 0, min);
    tensor_set_f32(t, 1, max);
    return tensor_record(t, GGML_OP_CLAMP, a, NULL);
}

struct ggml_tensor *
ggml_clamp(struct ggml_context *ctx, struct ggml_tensor *a, float min,
           float max)
{
    return clamp(ctx, a, min, max, false);
}

struct ggml_tensor *
ggml_clamp_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float min,
                   float max)
{
    return clamp(ctx, a, min, max, true);
}

/* op_params: the value. */
static struct ggml_tensor *
fill(struct ggml_context *ctx, struct ggml_tensor *a, float c, bool inplace)
{
    struct ggml_tensor *t;

    GGML_ASSERT(a->type == GGML_TYPE_F32 || a->type == GGML_TYPE_F16);
    GGML_ASSERT(ggml_is_contiguous(a));
    t = tensor_like(ctx, a, inplace);
    tensor_set_f32(t, 0, c);
    return tensor_record(t, GGML_OP_FILL, a, NULL);
}

struct ggml_tensor *
ggml_fill(struct ggml_context *ctx, struct ggml_tensor *a, float c)
{
    return fill(ctx, a, c, false);
}

struct ggml_tensor *
ggml_fill_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float c)
{
    return fill(ctx, a, c, true);
}

struct ggml_tensor *
ggml_add_id(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, struct ggml_tensor *ids)
{
    struct ggml_tensor *t;

    GGML_ASSERT(a->ne[0] == b->ne[0] && ids->type == GGML_TYPE_I32);
    GGML_ASSERT(a->ne[1] == ids->ne[0] && a->ne[2] == ids->ne[1]);
    t = ggml_dup_tensor(ctx, a);
    t->src[2] = ids;
    return tensor_record(t, GGML_OP_ADD_ID, a, b);
}
