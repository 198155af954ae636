/* build_activation.c - op builders: activations, plain and gated */
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

#define UNARY(name, op, inplace)                                               \
    struct ggml_tensor *ggml_##name(struct ggml_context *ctx,                  \
                                    struct ggml_tensor *a)                     \
    {                                                                          \
        return unary(ctx, a, op, inplace);                                     \
    }
UNARY(tanh, GGML_UNARY_OP_TANH, false)
UNARY(relu, GGML_UNARY_OP_RELU, false)
UNARY(sigmoid, GGML_UNARY_OP_SIGMOID, false)
UNARY(gelu, GGML_UNARY_OP_GELU, false)
UNARY(gelu_inplace, GGML_UNARY_OP_GELU, true)
UNARY(gelu_erf, GGML_UNARY_OP_GELU_ERF, false)
UNARY(gelu_quick, GGML_UNARY_OP_GELU_QUICK, false)
UNARY(silu, GGML_UNARY_OP_SILU, false)
UNARY(silu_inplace, GGML_UNARY_OP_SILU, true)
UNARY(exp, GGML_UNARY_OP_EXP, false)
#undef UNARY

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

struct ggml_tensor *
ggml_swiglu(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return gated(ctx, a, NULL, GGML_GLU_OP_SWIGLU, false);
}

struct ggml_tensor *
ggml_swiglu_split(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b)
{
    return gated(ctx, a, b, GGML_GLU_OP_SWIGLU, false);
}

struct ggml_tensor *
ggml_geglu(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return gated(ctx, a, NULL, GGML_GLU_OP_GEGLU, false);
}

struct ggml_tensor *
ggml_geglu_split(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    return gated(ctx, a, b, GGML_GLU_OP_GEGLU, false);
}

struct ggml_tensor *
ggml_reglu_split(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    return gated(ctx, a, b, GGML_GLU_OP_REGLU, false);
}

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
