/* opt_step.cu - OPT_STEP_ADAMW, OPT_STEP_SGD: weights after a step
 *
 * The parameters of a step lie on the device: they change from step to step,
 * and a captured graph does not. */
#include "cuda/tensor_view.h"

struct step {
    struct view w, g, m, v;
    const float *params;
};

/* Decoupled weight decay (arXiv 1711.05101): params as in
 * lib/cpu/ops/opt_step.c. */
KERNEL
adamw(struct step s, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(s.w, c, i, n)
    {
        const float *p = s.params;
        float rate = p[0], beta1 = p[1], beta2 = p[2], eps = p[3];
        char *w = cuda_row_data(&s.w, c.row);
        char *m = cuda_row_data(&s.m, c.row), *v = cuda_row_data(&s.v, c.row);
        float g = cuda_load_element(&s.g, cuda_row_data(&s.g, c.row), i);
        float first = cuda_load_element(&s.m, m, i) * beta1 + g * (1 - beta1);
        float second =
            cuda_load_element(&s.v, v, i) * beta2 + g * g * (1 - beta2);
        float keep = 1 - rate * p[4], root = sqrtf(second * p[6]) + eps;

        cuda_store_element(&s.m, m, i, first);
        cuda_store_element(&s.v, v, i, second);
        cuda_store_element(&s.w, w, i,
                           cuda_load_element(&s.w, w, i) * keep -
                               rate * (first * p[5]) / root);
    }
}

KERNEL
sgd(struct step s, int64_t n)
{
    cuda_grid_dependency_sync();
    EACH_ELEMENT(s.w, c, i, n)
    {
        float rate = s.params[0], keep = 1 - rate * s.params[1];
        char *w = cuda_row_data(&s.w, c.row);

        cuda_store_element(
            &s.w, w, i,
            cuda_load_element(&s.w, w, i) * keep -
                rate * cuda_load_element(&s.g, cuda_row_data(&s.g, c.row), i));
    }
}

bool
cuda_supports_opt_step(const struct ggml_tensor *dst)
{
    bool f32 = cuda_is_f32(dst);

    for (int i = 1; i < GGML_MAX_SRC && dst->src[i]; i++)
        f32 = f32 && cuda_is_f32(dst->src[i]);
    return f32;
}

void
cuda_run_opt_step(struct cuda_ctx *c, struct ggml_tensor *dst)
{
    bool moments = dst->op == GGML_OP_OPT_STEP_ADAMW;
    const struct ggml_tensor *params = dst->src[moments ? 4 : 2];
    struct step s = {};
    int64_t n = cuda_chunks_of(dst);
    struct cuda_launch_config config = cuda_default_launch(n, CUDA_THREADS);

    s.w = cuda_view_of(dst);
    s.g = cuda_view_of(dst->src[1]);
    s.params = (const float *)params->data;
    if (n == 0)
        return;
    if (moments) {
        s.m = cuda_view_of(dst->src[2]);
        s.v = cuda_view_of(dst->src[3]);
        LAUNCH(adamw, config, c, s, n);
    } else {
        LAUNCH(sgd, config, c, s, n);
    }
}
