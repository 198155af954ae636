/* norm.c - NORM, RMS_NORM, SUM_ROWS: a row and its sums */
#include <math.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

typedef void (*norm_fn)(const struct cpu_task *t, int64_t n, float *y,
                        const float *x, float eps);

/* y = (x - mean) / sqrt(variance + eps) */
static void
norm_row(const struct cpu_task *t, int64_t n, float *y, const float *x,
         float eps)
{
    float mean = t->k->sum(n, x) / (float)n;
    float variance = t->k->sum_squares(n, x, mean) / (float)n;
    float s = 1 / sqrtf(variance + eps);

    t->k->scale(n, y, x, 1, -mean);
    t->k->scale(n, y, y, s, 0);
}

/* y = x / sqrt(mean of squares + eps) */
static void
rms_norm_row(const struct cpu_task *t, int64_t n, float *y, const float *x,
             float eps)
{
    float squares = t->k->sum_squares(n, x, 0) / (float)n;

    t->k->scale(n, y, x, 1 / sqrtf(squares + eps), 0);
}

static void
each_row(const struct cpu_task *t, struct ggml_tensor *dst, norm_fn f)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    float eps = tensor_get_f32(dst, 0);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        const float *x =
            cpu_load_row(t, dst->src[0], r, cpu_row_buffer(t, dst, 0));
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));

        f(t, dst->ne[0], y, x, eps);
        cpu_store_row(t, dst, r, y);
    }
}

static void
compute_norm(const struct cpu_task *t, struct ggml_tensor *dst)
{
    each_row(t, dst, norm_row);
}

static void
compute_rms_norm(const struct cpu_task *t, struct ggml_tensor *dst)
{
    each_row(t, dst, rms_norm_row);
}

static void
compute_sum_rows(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float s = t->k->sum(x->ne[0],
                            cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0)));
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));

        y[0] = s;
        cpu_store_row(t, dst, r, y);
    }
}

static int64_t
cost_sum(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]) / 8;
}

const struct cpu_op cpu_op_norm = { .compute = compute_norm,
                                    .supports = cpu_rows_supported,
                                    .cost = cpu_cost_pass,
                                    .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_rms_norm = { .compute = compute_rms_norm,
                                        .supports = cpu_rows_supported,
                                        .cost = cpu_cost_pass,
                                        .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_sum_rows = { .compute = compute_sum_rows,
                                        .supports = cpu_rows_supported,
                                        .cost = cost_sum,
                                        .work_size = cpu_rows_work_size };
