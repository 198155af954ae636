/* build_activation.c - op builders: activations, plain and gated */
#include <math.h>

#include "tensor/tensor.h"

/* op_params: the function. */
static struct ggml_tensor *
unary(struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_unary_op op,
      bool inplace)
{
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_is_contiguous_rows(a));
    t = tensor_like(ctx, a, inplace);
    tensor_set_i32(t, 0, (int32_t)op);
    return tensor_record(t, GGML_OP_UNARY, a, NULL);
}

struct ggml_tensor *
ggml_unary(struct ggml_context *ctx, struct ggml_tensor *a,
           enum ggml_unary_op op)
{
    return unary(ctx, a, op, false);
}

struct ggml_tensor *
ggml_unary_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                   enum ggml_unary_op op)
{
    return unary(ctx, a, op, true);
}

#define UNARY(name, op)                                                        \
    struct ggml_tensor *ggml_##name(struct ggml_context *ctx,                  \
                                    struct ggml_tensor *a)                     \
    {                                                                          \
        return unary(ctx, a, op, false);                                       \
    }
#define UNARY_INPLACE(name, op)                                                \
    UNARY(name, op)                                                            \
    struct ggml_tensor *ggml_##name##_inplace(struct ggml_context *ctx,        \
                                              struct ggml_tensor *a)           \
    {                                                                          \
        return unary(ctx, a, op, true);                                        \
    }
UNARY_INPLACE(abs, GGML_UNARY_OP_ABS)
UNARY_INPLACE(sgn, GGML_UNARY_OP_SGN)
UNARY_INPLACE(neg, GGML_UNARY_OP_NEG)
UNARY_INPLACE(step, GGML_UNARY_OP_STEP)
UNARY_INPLACE(tanh, GGML_UNARY_OP_TANH)
UNARY_INPLACE(elu, GGML_UNARY_OP_ELU)
UNARY_INPLACE(relu, GGML_UNARY_OP_RELU)
UNARY_INPLACE(sigmoid, GGML_UNARY_OP_SIGMOID)
UNARY_INPLACE(gelu, GGML_UNARY_OP_GELU)
UNARY_INPLACE(gelu_erf, GGML_UNARY_OP_GELU_ERF)
UNARY_INPLACE(gelu_quick, GGML_UNARY_OP_GELU_QUICK)
UNARY_INPLACE(silu, GGML_UNARY_OP_SILU)
UNARY_INPLACE(softplus, GGML_UNARY_OP_SOFTPLUS)
UNARY_INPLACE(exp, GGML_UNARY_OP_EXP)
UNARY_INPLACE(expm1, GGML_UNARY_OP_EXPM1)
UNARY_INPLACE(floor, GGML_UNARY_OP_FLOOR)
UNARY_INPLACE(ceil, GGML_UNARY_OP_CEIL)
UNARY_INPLACE(round, GGML_UNARY_OP_ROUND)
UNARY_INPLACE(trunc, GGML_UNARY_OP_TRUNC)
UNARY(hardswish, GGML_UNARY_OP_HARDSWISH)
UNARY(hardsigmoid, GGML_UNARY_OP_HARDSIGMOID)
#undef UNARY_INPLACE
#undef UNARY

static float
softplus(float x)
{
    return x > 20 ? x : log1pf(expf(x));
}

/* op_params: further the factor of each side, beta, eps. */
struct ggml_tensor *
ggml_xielu(struct ggml_context *ctx, struct ggml_tensor *a, float alpha_n,
           float alpha_p, float beta, float eps)
{
    struct ggml_tensor *t = unary(ctx, a, GGML_UNARY_OP_XIELU, false);

    tensor_set_f32(t, 1, beta + softplus(alpha_n));
    tensor_set_f32(t, 2, softplus(alpha_p));
    tensor_set_f32(t, 3, beta);
    tensor_set_f32(t, 4, eps);
    return t;
}

/* op_params: the slope. */
struct ggml_tensor *
ggml_leaky_relu(struct ggml_context *ctx, struct ggml_tensor *a,
                float negative_slope, bool inplace)
{
    struct ggml_tensor *t = tensor_like(ctx, a, inplace);

    tensor_set_f32(t, 0, negative_slope);
    return tensor_record(t, GGML_OP_LEAKY_RELU, a, NULL);
}

/* Function of one half times the other: the halves of a's rows (`swapped`:
 * the second goes through the function), or a and b. op_params: the function,
 * swapped. */
static struct ggml_tensor *
gated(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b,
      enum ggml_glu_op op, bool swapped)
{
    int64_t n = b ? a->ne[0] : a->ne[0] / 2;
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_is_contiguous_1(a));
    GGML_ASSERT(!b || ggml_is_contiguous_1(b));
    GGML_ASSERT(!b || (ggml_are_same_shape(a, b) && a->type == b->type));
    t = ggml_new_tensor_4d(ctx, a->type, n, a->ne[1], a->ne[2], a->ne[3]);
    tensor_set_i32(t, 0, (int32_t)op);
    tensor_set_i32(t, 1, swapped);
    return tensor_record(t, GGML_OP_GLU, a, b);
}

struct ggml_tensor *
ggml_glu(struct ggml_context *ctx, struct ggml_tensor *a, enum ggml_glu_op op,
         bool swapped)
{
    return gated(ctx, a, NULL, op, swapped);
}

struct ggml_tensor *
ggml_glu_split(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b, enum ggml_glu_op op)
{
    return gated(ctx, a, b, op, false);
}

#define GATED(name, op)                                                        \
    struct ggml_tensor *ggml_##name(struct ggml_context *ctx,                  \
                                    struct ggml_tensor *a)                     \
    {                                                                          \
        return gated(ctx, a, NULL, op, false);                                 \
    }                                                                          \
    struct ggml_tensor *ggml_##name##_swapped(struct ggml_context *ctx,        \
                                              struct ggml_tensor *a)           \
    {                                                                          \
        return gated(ctx, a, NULL, op, true);                                  \
    }                                                                          \
    struct ggml_tensor *ggml_##name##_split(struct ggml_context *ctx,          \
                                            struct ggml_tensor *a,             \
                                            struct ggml_tensor *b)             \
    {                                                                          \
        return gated(ctx, a, b, op, false);                                    \
    }
GATED(reglu, GGML_GLU_OP_REGLU)
GATED(geglu, GGML_GLU_OP_GEGLU)
GATED(swiglu, GGML_GLU_OP_SWIGLU)
GATED(geglu_erf, GGML_GLU_OP_GEGLU_ERF)
GATED(geglu_quick, GGML_GLU_OP_GEGLU_QUICK)
#undef GATED

/* op_params: further alpha, limit. */
struct ggml_tensor *
ggml_swiglu_oai(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, float alpha, float limit)
{
    struct ggml_tensor *t = gated(ctx, a, b, GGML_GLU_OP_SWIGLU_OAI, false);

    tensor_set_f32(t, 2, alpha);
    tensor_set_f32(t, 3, limit);
    return t;
}

/* op_params: further nothing, limit. */
struct ggml_tensor *
ggml_swiglu_clamp(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b, float limit)
{
    struct ggml_tensor *t = gated(ctx, a, b, GGML_GLU_OP_SWIGLU_CLAMP, false);

    tensor_set_f32(t, 3, limit);
    return t;
}
