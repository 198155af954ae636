/* backward_activations.c - gradients through activations, plain and gated */
#include <math.h>

#include "tensor/backward.h"
#include "tensor/tensor.h"

typedef struct ggml_tensor *(*gradient_fn)(struct ggml_context *ctx,
                                           struct ggml_tensor *grad,
                                           struct ggml_tensor *x,
                                           struct ggml_tensor *y);

/* The gradient of x for y = f(x). */
#define GRADIENT(name)                                                         \
    static struct ggml_tensor *name(                                           \
        struct ggml_context *ctx, struct ggml_tensor *grad,                    \
        struct ggml_tensor *x, struct ggml_tensor *y)

/* For steps, which want no gaps between rows. */
static struct ggml_tensor *
affine(struct ggml_context *ctx, struct ggml_tensor *x, float s, float b)
{
    if (!tensor_has_even_rows(x))
        x = ggml_cont(ctx, x);
    return ggml_scale_bias(ctx, x, s, b);
}

GRADIENT(through_abs)
{
    GGML_UNUSED(y);
    return ggml_mul(ctx, grad, ggml_sgn(ctx, x));
}

GRADIENT(through_neg)
{
    GGML_UNUSED(x);
    GGML_UNUSED(y);
    return ggml_neg(ctx, grad);
}

/* 1 - y^2 */
GRADIENT(through_tanh)
{
    GGML_UNUSED(x);
    return ggml_mul(ctx, grad, affine(ctx, ggml_sqr(ctx, y), -1, 1));
}

/* exp(x) up to 0, then 1 */
GRADIENT(through_elu)
{
    GGML_UNUSED(y);
    return ggml_mul(ctx, grad, ggml_exp(ctx, ggml_clamp(ctx, x, -INFINITY, 0)));
}

GRADIENT(through_relu)
{
    GGML_UNUSED(y);
    return ggml_mul(ctx, grad, ggml_step(ctx, x));
}

/* y (1 - y) */
GRADIENT(through_sigmoid)
{
    GGML_UNUSED(x);
    return ggml_mul(ctx, grad, ggml_mul(ctx, affine(ctx, y, -1, 1), y));
}

/* gelu(x) = x s, s = sigmoid(x w), w = 2 c (1 + a x^2): the derivative is
 * s (1 + x (x w)' (1 - s)), (x w)' = 2 c (1 + 3 a x^2). */
GRADIENT(through_gelu)
{
    const float two_c = 1.5957691216f, a = 0.044715f;
    struct ggml_tensor *squares = ggml_sqr(ctx, x), *s, *d;

    GGML_UNUSED(y);
    s = ggml_mul(ctx, affine(ctx, squares, two_c * a, two_c), x);
    s = ggml_sigmoid(ctx, s);
    d = ggml_mul(ctx, affine(ctx, squares, 3 * two_c * a, two_c), x);
    d = affine(ctx, ggml_mul(ctx, d, affine(ctx, s, -1, 1)), 1, 1);
    return ggml_mul(ctx, grad, ggml_mul(ctx, d, s));
}

/* x sigmoid(a x) = silu(a x) / a */
GRADIENT(through_gelu_quick)
{
    GGML_UNUSED(y);
    return ggml_silu_back(ctx, grad, affine(ctx, x, 1.702f, 0));
}

/* The normal distribution, which is gelu_erf(x) / x, plus x times its density.
 * Not at 0 itself, where that is 0 / 0. */
GRADIENT(through_gelu_erf)
{
    const float of_density = 0.3989422804f;
    struct ggml_tensor *shifted, *below, *density;

    GGML_UNUSED(y);
    shifted = affine(ctx, x, 1, 1e-30f);
    below = ggml_div(ctx, ggml_gelu_erf(ctx, shifted), shifted);
    density = ggml_exp(ctx, affine(ctx, ggml_sqr(ctx, x), -0.5f, 0));
    density = affine(ctx, ggml_mul(ctx, density, x), of_density, 0);
    return ggml_mul(ctx, grad, ggml_add(ctx, below, density));
}

GRADIENT(through_silu)
{
    GGML_UNUSED(y);
    return ggml_silu_back(ctx, grad, x);
}

/* 1/6 between -3 and 3 */
static struct ggml_tensor *
slope_of_hardsigmoid(struct ggml_context *ctx, struct ggml_tensor *x)
{
    struct ggml_tensor *above = ggml_step(ctx, affine(ctx, x, 1, 3));
    struct ggml_tensor *below = ggml_step(ctx, affine(ctx, x, -1, 3));

    return affine(ctx, ggml_mul(ctx, above, below), 1.0f / 6, 0);
}

GRADIENT(through_hardsigmoid)
{
    GGML_UNUSED(y);
    return ggml_mul(ctx, grad, slope_of_hardsigmoid(ctx, x));
}

/* x times that one */
GRADIENT(through_hardswish)
{
    struct ggml_tensor *d = ggml_mul(ctx, slope_of_hardsigmoid(ctx, x), x);

    GGML_UNUSED(y);
    return ggml_mul(ctx, grad, ggml_add(ctx, d, ggml_hardsigmoid(ctx, x)));
}

GRADIENT(through_exp)
{
    GGML_UNUSED(x);
    return ggml_mul(ctx, grad, y);
}

GRADIENT(through_expm1)
{
    GGML_UNUSED(y);
    return ggml_mul(ctx, grad, ggml_exp(ctx, x));
}

GRADIENT(through_softplus)
{
    GGML_UNUSED(y);
    return ggml_mul(ctx, grad, ggml_sigmoid(ctx, x));
}

static const gradient_fn gradients[GGML_UNARY_OP_COUNT] = {
    [GGML_UNARY_OP_ABS] = through_abs,
    [GGML_UNARY_OP_NEG] = through_neg,
    [GGML_UNARY_OP_TANH] = through_tanh,
    [GGML_UNARY_OP_ELU] = through_elu,
    [GGML_UNARY_OP_RELU] = through_relu,
    [GGML_UNARY_OP_SIGMOID] = through_sigmoid,
    [GGML_UNARY_OP_GELU] = through_gelu,
    [GGML_UNARY_OP_GELU_QUICK] = through_gelu_quick,
    [GGML_UNARY_OP_SILU] = through_silu,
    [GGML_UNARY_OP_HARDSWISH] = through_hardswish,
    [GGML_UNARY_OP_HARDSIGMOID] = through_hardsigmoid,
    [GGML_UNARY_OP_EXP] = through_exp,
    [GGML_UNARY_OP_EXPM1] = through_expm1,
    [GGML_UNARY_OP_SOFTPLUS] = through_softplus,
    [GGML_UNARY_OP_GELU_ERF] = through_gelu_erf,
};

bool
tensor_backward_has_unary(enum ggml_unary_op f)
{
    return (unsigned)f < GGML_UNARY_OP_COUNT && gradients[f];
}

struct ggml_tensor *
tensor_backward_unary(struct ggml_context *ctx, enum ggml_unary_op f,
                      struct ggml_tensor *grad, struct ggml_tensor *x,
                      struct ggml_tensor *y)
{
    return tensor_backward_has_unary(f) ? gradients[f](ctx, grad, x, y) : NULL;
}

void
tensor_backward_of_unary(struct backward *b, struct ggml_tensor *t,
                         struct ggml_tensor *grad)
{
    tensor_backward_add(b, t->src[0],
                        tensor_backward_unary(b->ctx, ggml_get_unary_op(t),
                                              grad, t->src[0], t));
}

enum ggml_unary_op
tensor_backward_glu_function(enum ggml_glu_op op)
{
    switch (op) {
    case GGML_GLU_OP_REGLU:
        return GGML_UNARY_OP_RELU;
    case GGML_GLU_OP_GEGLU:
        return GGML_UNARY_OP_GELU;
    case GGML_GLU_OP_SWIGLU:
        return GGML_UNARY_OP_SILU;
    case GGML_GLU_OP_GEGLU_ERF:
        return GGML_UNARY_OP_GELU_ERF;
    case GGML_GLU_OP_GEGLU_QUICK:
        return GGML_UNARY_OP_GELU_QUICK;
    default:
        return GGML_UNARY_OP_COUNT;
    }
}

/* One half of each row. */
static struct ggml_tensor *
half_of(struct ggml_context *ctx, struct ggml_tensor *x, bool second)
{
    int64_t n = x->ne[0] / 2;

    return ggml_view_4d(ctx, x, n, x->ne[1], x->ne[2], x->ne[3], x->nb[1],
                        x->nb[2], x->nb[3], second ? (size_t)n * x->nb[0] : 0);
}

static struct ggml_tensor *
by_gate(struct backward *b, enum ggml_unary_op f, struct ggml_tensor *grad,
        struct ggml_tensor *gate, struct ggml_tensor *up)
{
    return tensor_backward_unary(b->ctx, f, ggml_mul(b->ctx, grad, up), gate,
                                 NULL);
}

static struct ggml_tensor *
by_up(struct backward *b, enum ggml_unary_op f, struct ggml_tensor *grad,
      struct ggml_tensor *gate)
{
    return ggml_mul(b->ctx, grad, ggml_unary(b->ctx, gate, f));
}

/* y = f(gate) up: two tensors, or the halves of one. */
void
tensor_backward_of_glu(struct backward *b, struct ggml_tensor *t,
                       struct ggml_tensor *grad)
{
    enum ggml_unary_op f = tensor_backward_glu_function(ggml_get_glu_op(t));
    struct ggml_tensor *gate = t->src[0], *up = t->src[1];
    bool swapped = tensor_get_i32(t, 1) != 0;
    struct ggml_tensor *of_gate, *of_up;

    if (up) {
        if (tensor_backward_wants(b, gate))
            tensor_backward_add(b, gate, by_gate(b, f, grad, gate, up));
        if (tensor_backward_wants(b, up))
            tensor_backward_add(b, up, by_up(b, f, grad, gate));
        return;
    }
    gate = half_of(b->ctx, t->src[0], swapped);
    up = half_of(b->ctx, t->src[0], !swapped);
    of_gate = by_gate(b, f, grad, gate, up);
    of_up = by_up(b, f, grad, gate);
    tensor_backward_add(b, t->src[0],
                        ggml_concat(b->ctx, swapped ? of_up : of_gate,
                                    swapped ? of_gate : of_up, 0));
}
