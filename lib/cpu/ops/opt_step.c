/* opt_step.c - OPT_STEP_ADAMW, OPT_STEP_SGD: weights after a step */
#include <math.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

static float *
floats_of(const struct ggml_tensor *x, int64_t i)
{
    return (float *)(void *)cpu_row_data(x, cpu_row_at(x, i));
}

/* Decoupled weight decay (arXiv 1711.05101); src4: the parameters, the last
 * two of which correct the bias of moments that began at 0. */
static void
adamw_row(const struct ggml_tensor *dst, int64_t row, const float *p)
{
    const float *g = floats_of(dst->src[1], row);
    float *w = floats_of(dst, row), *m = floats_of(dst->src[2], row);
    float *v = floats_of(dst->src[3], row);
    float rate = p[0], beta1 = p[1], beta2 = p[2], eps = p[3];
    float keep = 1 - rate * p[4];

    for (int64_t i = 0; i < dst->ne[0]; i++) {
        float mean, root;

        m[i] = m[i] * beta1 + g[i] * (1 - beta1);
        v[i] = v[i] * beta2 + g[i] * g[i] * (1 - beta2);
        mean = m[i] * p[5];
        root = sqrtf(v[i] * p[6]) + eps;
        w[i] = w[i] * keep - rate * mean / root;
    }
}

static void
compute_adamw(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++)
        adamw_row(dst, i, dst->src[4]->data);
}

static void
compute_sgd(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    const float *p = dst->src[2]->data;
    float rate = p[0], keep = 1 - rate * p[1];

    for (int64_t i = rows.first; i < rows.end; i++) {
        const float *g = floats_of(dst->src[1], i);
        float *w = floats_of(dst, i);

        for (int64_t j = 0; j < dst->ne[0]; j++)
            w[j] = w[j] * keep - rate * g[j];
    }
}

static bool
supports_step(const struct ggml_tensor *dst)
{
    bool plain = cpu_is_plain(dst);

    for (int i = 1; i < GGML_MAX_SRC && dst->src[i]; i++)
        plain = plain && cpu_is_plain(dst->src[i]);
    return plain;
}

static int64_t
cost_step(const struct ggml_tensor *dst)
{
    return 4 * ggml_nelements(dst);
}

const struct cpu_op cpu_op_opt_step_adamw = { .compute = compute_adamw,
                                              .supports = supports_step,
                                              .cost = cost_step };
const struct cpu_op cpu_op_opt_step_sgd = { .compute = compute_sgd,
                                            .supports = supports_step,
                                            .cost = cost_step };
