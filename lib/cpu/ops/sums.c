/* sums.c - SUM, SUM_ROWS, MEAN, CUMSUM: sums of elements */
#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

static float
sum_row(const struct cpu_task *t, const struct ggml_tensor *dst,
        struct cpu_row r)
{
    const struct ggml_tensor *x = dst->src[0];

    return t->k->sum(x->ne[0],
                     cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0)));
}

static void
store_value(const struct cpu_task *t, struct ggml_tensor *dst, struct cpu_row r,
            float value)
{
    float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));

    y[0] = value;
    cpu_store_row(t, dst, r, y);
}

/* In double: there may be many elements, which cancel. */
static void
compute_sum(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *a = dst->src[0];
    double sum = 0;

    for (int64_t i = 0; i < ggml_nrows(a); i++) {
        const float *x =
            cpu_load_row(t, a, cpu_row_at(a, i), cpu_row_buffer(t, dst, 0));

        for (int64_t j = 0; j < a->ne[0]; j++)
            sum += (double)x[j];
    }
    store_value(t, dst, (struct cpu_row){ 0, 0, 0 }, (float)sum);
}

static void
compute_sum_rows(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);

        store_value(t, dst, r, sum_row(t, dst, r));
    }
}

static void
compute_mean(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);

        store_value(t, dst, r, sum_row(t, dst, r) / (float)dst->src[0]->ne[0]);
    }
}

static void
compute_cumsum(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        const float *x =
            cpu_load_row(t, dst->src[0], r, cpu_row_buffer(t, dst, 0));
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));
        double sum = 0;

        for (int64_t j = 0; j < dst->ne[0]; j++)
            y[j] = (float)(sum += (double)x[j]);
        cpu_store_row(t, dst, r, y);
    }
}

static int64_t
cost_sum(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]) / 8;
}

static int64_t
cost_cumsum(const struct ggml_tensor *dst)
{
    return 2 * ggml_nelements(dst);
}

/* One sum is never shared. */
const struct cpu_op cpu_op_sum = { .compute = compute_sum,
                                   .supports = cpu_rows_supported,
                                   .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_sum_rows = { .compute = compute_sum_rows,
                                        .supports = cpu_rows_supported,
                                        .cost = cost_sum,
                                        .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_mean = { .compute = compute_mean,
                                    .supports = cpu_rows_supported,
                                    .cost = cost_sum,
                                    .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_cumsum = { .compute = compute_cumsum,
                                      .supports = cpu_rows_supported,
                                      .cost = cost_cumsum,
                                      .work_size = cpu_rows_work_size };
