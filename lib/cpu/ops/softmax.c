/* softmax.c - SOFT_MAX with mask and ALiBi, DIAG_MASK_INF, DIAG_MASK_ZERO */
#include <float.h>
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

float
cpu_alibi_slope(int64_t head, int64_t n, float max_bias)
{
    int64_t power = 1;

    if (max_bias <= 0)
        return 1;
    while (power * 2 <= n)
        power *= 2;
    if (head < power)
        return powf(2, -max_bias / (float)power * (float)(head + 1));
    return powf(2,
                -max_bias / 2 / (float)power * (float)(2 * (head - power) + 1));
}

float
cpu_sink(const struct ggml_tensor *sinks, int64_t head)
{
    const char *p = sinks ? sinks->data : NULL;

    return p ? *(const float *)(const void *)(p + (size_t)head * sinks->nb[0])
             : -INFINITY;
}

/* y = x * scale + slope * mask; what is masked does not count, even if it is
 * no number. Returns the mask's row, or NULL. */
static const float *
score_row(const struct cpu_task *t, const struct ggml_tensor *dst,
          struct cpu_row r, float *y, const float *x)
{
    const struct ggml_tensor *mask = dst->src[1];
    struct cpu_row of_mask = r;
    const float *m;
    float slope;

    t->k->scale(dst->ne[0], y, x, tensor_get_f32(dst, 0), 0);
    if (!mask)
        return NULL;
    slope = cpu_alibi_slope(r.i2, dst->ne[2], tensor_get_f32(dst, 1));
    of_mask.i2 %= mask->ne[2];
    of_mask.i3 %= mask->ne[3];
    m = cpu_load_row(t, mask, of_mask, cpu_row_buffer(t, dst, 1));
    for (int64_t i = 0; i < dst->ne[0]; i++)
        y[i] = m[i] == -INFINITY ? m[i] : y[i] + slope * m[i];
    return m;
}

/* Whether nothing is visible of a row whose greatest score is -infinity or
 * NaN. */
static bool
all_masked(int64_t n, const float *y, const float *mask)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(y[i]) || (mask && mask[i] != -INFINITY))
            return false;
    return true;
}

/* A row that is masked throughout becomes zero. The sink, a score of no
 * element, takes its part of the sum. */
static void
soft_max_row(const struct cpu_task *t, int64_t n, float *y, const float *mask,
             float sink)
{
    float max = t->k->max(n, y);

    if (max == -INFINITY && all_masked(n, y, mask)) {
        memset(y, 0, (size_t)n * sizeof(*y));
        return;
    }
    max = fmaxf(fmaxf(max, sink), -FLT_MAX);
    t->k->scale(n, y, y, 1 / (t->k->exp_sum(n, y, y, max) + expf(sink - max)),
                0);
}

static void
compute_soft_max(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = (float *)(void *)cpu_row_data(dst, r);

        const float *mask = score_row(
            t, dst, r, y, (const float *)(void *)cpu_row_data(dst->src[0], r));

        soft_max_row(t, dst->ne[0], y, mask, cpu_sink(dst->src[2], r.i2));
    }
}

static bool
supports_soft_max(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *mask = dst->src[1];

    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]) &&
           (!dst->src[2] || cpu_is_plain(dst->src[2])) &&
           (!mask || mask->type == GGML_TYPE_F16 ||
            mask->type == GGML_TYPE_F32);
}

const struct cpu_op cpu_op_soft_max = { .compute = compute_soft_max,
                                        .supports = supports_soft_max,
                                        .cost = cpu_cost_exp,
                                        .work_size = cpu_rows_work_size };

/* Row i of each matrix keeps its first n_past + i + 1 elements. */
static void
compute_diag_mask(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    int64_t past = tensor_get_i32(dst, 0), n = dst->ne[0];
    float masked = dst->op == GGML_OP_DIAG_MASK_ZERO ? 0 : -INFINITY;

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = (float *)(void *)cpu_row_data(dst, r);
        const char *x = cpu_row_data(dst->src[0], r);
        int64_t keep = past + r.i1 + 1 < n ? past + r.i1 + 1 : n;

        if ((const char *)y != x)
            memcpy(y, x, (size_t)keep * sizeof(*y));
        for (int64_t j = keep; j < n; j++)
            y[j] = masked;
    }
}

static bool
supports_diag_mask(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]) &&
           tensor_get_i32(dst, 0) >= 0;
}

const struct cpu_op cpu_op_diag_mask_inf = { .compute = compute_diag_mask,
                                             .supports = supports_diag_mask,
                                             .cost = cpu_cost_pass };
const struct cpu_op cpu_op_diag_mask_zero = { .compute = compute_diag_mask,
                                              .supports = supports_diag_mask,
                                              .cost = cpu_cost_pass };
