/* unary.cu - UNARY, SQR, SQRT, LOG, SIN, COS, LEAKY_RELU, SCALE, CLAMP, FILL: a
 * function of each element */
#include "cuda/functions.h"
#include "cuda/tensor_view.h"

struct function {
    int op, unary; /* enum ggml_op, enum ggml_unary_op */
    float a, b;    /* parameters */
    float c, d, e; /* further ones of UNARY */
};

DEVICE float
xielu(const struct function *f, float x)
{
    return (x > 0 ? f->c * x * x : (expm1f(fminf(x, f->e)) - x) * f->b) +
           f->d * x;
}

DEVICE float
apply(const struct function *f, float x)
{
    switch (f->op) {
    case GGML_OP_SQR:
        return x * x;
    case GGML_OP_SQRT:
        return sqrtf(x);
    case GGML_OP_LOG:
        return logf(x);
    case GGML_OP_SIN:
        return sinf(x);
    case GGML_OP_COS:
        return cosf(x);
    case GGML_OP_LEAKY_RELU:
        return x > 0 ? x : f->a * x;
    case GGML_OP_FILL:
        return f->a;
    case GGML_OP_SCALE:
        return x * f->a + f->b;
    case GGML_OP_CLAMP:
        return x < f->a ? f->a : x > f->b ? f->b : x;
    default:
        return f->unary == GGML_UNARY_OP_XIELU ? xielu(f, x)
                                               : cuda_apply_unary(f->unary, x);
    }
}

KERNEL
unary(struct function f, struct view y, struct view x, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(y, c, i, n)
    cuda_store_element(
        &y, cuda_row_data(&y, c.row), i,
        apply(&f, cuda_load_element(&x, cuda_row_data(&x, c.row), i)));
}

bool
cuda_supports_unary(const struct ggml_tensor *dst)
{
    return cuda_is_float_type(dst->type) &&
           cuda_is_float_type(dst->src[0]->type) &&
           (dst->op != GGML_OP_UNARY ||
            cuda_is_unary_known(tensor_get_i32(dst, 0)));
}

void
cuda_run_unary(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    struct function f = { (int)dst->op,           tensor_get_i32(dst, 0),
                          tensor_get_f32(dst, 0), tensor_get_f32(dst, 1),
                          tensor_get_f32(dst, 2), tensor_get_f32(dst, 3),
                          tensor_get_f32(dst, 4) };
    int64_t n = cuda_chunks_of(dst);

    if (n > 0)
        LAUNCH(unary, cuda_default_launch(n, CUDA_THREADS), c, f,
               cuda_view_of(dst), cuda_view_of(dst->src[0]), n);
}
