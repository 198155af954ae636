/* norm.c - NORM, RMS_NORM, L2_NORM, GROUP_NORM: rows by their sums */
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

/* y = x / max(length, eps), where a NaN is the greater */
static void
l2_norm_row(const struct cpu_task *t, int64_t n, float *y, const float *x,
            float eps)
{
    float length = sqrtf(t->k->sum_squares(n, x, 0));

    t->k->scale(n, y, x, 1 / (length < eps ? eps : length), 0);
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
compute_l2_norm(const struct cpu_task *t, struct ggml_tensor *dst)
{
    each_row(t, dst, l2_norm_row);
}

/* Rows of a group, and those that lie in one plane. */
struct group {
    int64_t first, end, per_plane, i3;
};

static int64_t
planes_of_group(const struct ggml_tensor *dst)
{
    int64_t n_groups = tensor_get_i32(dst, 0);

    return (dst->ne[2] + n_groups - 1) / n_groups;
}

static struct group
norm_group(const struct ggml_tensor *dst, int64_t i)
{
    int64_t n_groups = tensor_get_i32(dst, 0), planes = planes_of_group(dst);
    int64_t first = i % n_groups * planes, end = first + planes;
    int64_t n = dst->ne[2];

    return (struct group){ (first < n ? first : n) * dst->ne[1],
                           (end < n ? end : n) * dst->ne[1], dst->ne[1],
                           i / n_groups };
}

static const float *
load_group_row(const struct cpu_task *t, const struct ggml_tensor *dst,
               const struct group *g, int64_t i, struct cpu_row *r)
{
    *r = (struct cpu_row){ i % g->per_plane, i / g->per_plane, g->i3 };
    return cpu_load_row(t, dst->src[0], *r, cpu_row_buffer(t, dst, 0));
}

/* The sum of all elements, or with a mean of the squares of their distances. */
static double
sum_group(const struct cpu_task *t, const struct ggml_tensor *dst,
          const struct group *g, const float *mean)
{
    int64_t n = dst->ne[0];
    struct cpu_row r;
    double sum = 0;

    for (int64_t i = g->first; i < g->end; i++) {
        const float *x = load_group_row(t, dst, g, i, &r);

        sum +=
            (double)(mean ? t->k->sum_squares(n, x, *mean) : t->k->sum(n, x));
    }
    return sum;
}

static void
group_norm(const struct cpu_task *t, struct ggml_tensor *dst,
           const struct group *g)
{
    double n = (double)((g->end - g->first) * dst->ne[0]);
    float mean = (float)(sum_group(t, dst, g, NULL) / n);
    float variance = (float)(sum_group(t, dst, g, &mean) / n);
    float s = 1 / sqrtf(variance + tensor_get_f32(dst, 1));
    struct cpu_row r;

    for (int64_t i = g->first; i < g->end; i++) {
        const float *x = load_group_row(t, dst, g, i, &r);
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));

        t->k->scale(dst->ne[0], y, x, 1, -mean);
        t->k->scale(dst->ne[0], y, y, s, 0);
        cpu_store_row(t, dst, r, y);
    }
}

static void
compute_group_norm(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range groups = cpu_share(t, tensor_get_i32(dst, 0) * dst->ne[3]);

    for (int64_t i = groups.first; i < groups.end; i++) {
        struct group g = norm_group(dst, i);

        group_norm(t, dst, &g);
    }
}

const struct cpu_op cpu_op_norm = { .compute = compute_norm,
                                    .supports = cpu_rows_supported,
                                    .cost = cpu_cost_pass,
                                    .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_rms_norm = { .compute = compute_rms_norm,
                                        .supports = cpu_rows_supported,
                                        .cost = cpu_cost_pass,
                                        .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_l2_norm = { .compute = compute_l2_norm,
                                       .supports = cpu_rows_supported,
                                       .cost = cpu_cost_pass,
                                       .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_group_norm = { .compute = compute_group_norm,
                                          .supports = cpu_rows_supported,
                                          .cost = cpu_cost_pass,
                                          .work_size = cpu_rows_work_size };
