/* functions.h - activation functions, as the CPU's kernels define them */
#ifndef CUDA_FUNCTIONS_H
#define CUDA_FUNCTIONS_H

#include <ggml.h>

#include "cuda/device.h"

DEVICE float
cuda_sigmoid(float x)
{
    return 1 / (1 + expf(-x));
}

/* By tanh; as x times a sigmoid, which does not cancel for negative x. */
DEVICE float
gelu(float x)
{
    float u = 0.797884560802865f * x * (1 + 0.044715f * x * x);

    return x / (1 + expf(-2 * u));
}

DEVICE float
gelu_erf(float x)
{
    return 0.5f * x * (1 + erff(x * 0.70710678118654752f));
}

DEVICE float
gelu_quick(float x)
{
    return x / (1 + expf(-1.702f * x));
}

DEVICE float
silu(float x)
{
    return x / (1 + expf(-x));
}

DEVICE float
hard_sigmoid(float x)
{
    return fminf(1, fmaxf(0, (x + 3) / 6));
}

/* One of enum ggml_unary_op. */
DEVICE float
cuda_apply_unary(int op, float x)
{
    switch (op) {
    case GGML_UNARY_OP_ABS:
        return fabsf(x);
    case GGML_UNARY_OP_SGN:
        return (float)((x > 0) - (x < 0));
    case GGML_UNARY_OP_NEG:
        return -x;
    case GGML_UNARY_OP_STEP:
        return x > 0 ? 1 : 0;
    case GGML_UNARY_OP_TANH:
        return tanhf(x);
    case GGML_UNARY_OP_ELU:
        return x > 0 ? x : expm1f(x);
    case GGML_UNARY_OP_RELU:
        return x > 0 ? x : 0;
    case GGML_UNARY_OP_SIGMOID:
        return cuda_sigmoid(x);
    case GGML_UNARY_OP_GELU:
        return gelu(x);
    case GGML_UNARY_OP_GELU_QUICK:
        return gelu_quick(x);
    case GGML_UNARY_OP_SILU:
        return silu(x);
    case GGML_UNARY_OP_HARDSWISH:
        return x * hard_sigmoid(x);
    case GGML_UNARY_OP_HARDSIGMOID:
        return hard_sigmoid(x);
    case GGML_UNARY_OP_EXP:
        return expf(x);
    case GGML_UNARY_OP_EXPM1:
        return expm1f(x);
    case GGML_UNARY_OP_SOFTPLUS:
        return x > 20 ? x : log1pf(expf(x));
    case GGML_UNARY_OP_GELU_ERF:
        return gelu_erf(x);
    case GGML_UNARY_OP_FLOOR:
        return floorf(x);
    case GGML_UNARY_OP_CEIL:
        return ceilf(x);
    case GGML_UNARY_OP_ROUND:
        return roundf(x);
    default: /* GGML_UNARY_OP_TRUNC */
        return truncf(x);
    }
}

static inline bool
cuda_is_unary_known(int op)
{
    return op >= 0 && op < GGML_UNARY_OP_COUNT;
}

/* One of enum ggml_glu_op: a is activated, b multiplies. */
DEVICE float
cuda_apply_glu(int op, float a, float b, float alpha, float limit)
{
    switch (op) {
    case GGML_GLU_OP_REGLU:
        return a > 0 ? a * b : 0;
    case GGML_GLU_OP_GEGLU:
        return gelu(a) * b;
    case GGML_GLU_OP_GEGLU_ERF:
        return gelu_erf(a) * b;
    case GGML_GLU_OP_GEGLU_QUICK:
        return gelu_quick(a) * b;
    case GGML_GLU_OP_SWIGLU_CLAMP:
        b = b > limit ? limit : b < -limit ? -limit : b;
        return silu(a > limit ? limit : a) * b;
    case GGML_GLU_OP_SWIGLU_OAI:
        a = a > limit ? limit : a;
        b = b > limit ? limit : b < -limit ? -limit : b;
        return a / (1 + expf(-alpha * a)) * (b + 1);
    default: /* GGML_GLU_OP_SWIGLU */
        return silu(a) * b;
    }
}

#endif
