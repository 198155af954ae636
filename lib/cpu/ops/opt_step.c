/* opt_step.c - OPT_STEP_ADAMW, OPT_STEP_SGD: weights after a step */
#include <math.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

static float *
floats_of(const struct ggml_tensor *x, int64_t i)
{
    return (float *)(void *)cpu_row_data(x, cpu_row_at(x, i));
}

/* Elements at a time: a number that the compiler knows, so that it uses
 * vectors. Divisions and roots are exact in any, and the bytes the same. */
#define STEP_BLOCK 64

/* Parameters of AdamW; the last two correct the bias of moments that began at
 * 0. */
struct adamw {
    float rate, beta1, beta2, eps, keep, by_first, by_second;
};

/* Decoupled weight decay (arXiv 1711.05101). */
static inline __attribute__((always_inline)) void
adamw_elements(struct adamw p, int64_t n, float *restrict w, float *restrict m,
               float *restrict v, const float *restrict g)
{
    for (int64_t i = 0; i < n; i++) {
        float mean, root;

        m[i] = m[i] * p.beta1 + g[i] * (1 - p.beta1);
        v[i] = v[i] * p.beta2 + g[i] * g[i] * (1 - p.beta2);
        mean = m[i] * p.by_first;
        root = sqrtf(v[i] * p.by_second) + p.eps;
        w[i] = w[i] * p.keep - p.rate * mean / root;
    }
}

static void
adamw_row(const struct ggml_tensor *dst, int64_t row, struct adamw p)
{
    const float *g = floats_of(dst->src[1], row);
    float *w = floats_of(dst, row), *m = floats_of(dst->src[2], row);
    float *v = floats_of(dst->src[3], row);
    int64_t i = 0, n = dst->ne[0];

    for (; i + STEP_BLOCK <= n; i += STEP_BLOCK)
        adamw_elements(p, STEP_BLOCK, w + i, m + i, v + i, g + i);
    adamw_elements(p, n - i, w + i, m + i, v + i, g + i);
}

static void
compute_adamw(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    const float *p = dst->src[4]->data;
    struct adamw values = {
        p[0], p[1], p[2], p[3], 1 - p[0] * p[4], p[5], p[6]
    };

    for (int64_t i = rows.first; i < rows.end; i++)
        adamw_row(dst, i, values);
}

static inline __attribute__((always_inline)) void
sgd_elements(float rate, float keep, int64_t n, float *restrict w,
             const float *restrict g)
{
    for (int64_t i = 0; i < n; i++)
        w[i] = w[i] * keep - rate * g[i];
}

static void
compute_sgd(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    const float *p = dst->src[2]->data;
    float rate = p[0], keep = 1 - rate * p[1];
    int64_t n = dst->ne[0];

    for (int64_t i = rows.first; i < rows.end; i++) {
        const float *g = floats_of(dst->src[1], i);
        float *w = floats_of(dst, i);
        int64_t j = 0;

        for (; j + STEP_BLOCK <= n; j += STEP_BLOCK)
            sgd_elements(rate, keep, STEP_BLOCK, w + j, g + j);
        sgd_elements(rate, keep, n - j, w + j, g + j);
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
