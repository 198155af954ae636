/* pool_2d.c - POOL_1D, POOL_2D: the greatest or the mean of each window */
#include <float.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* Windows of k elements at every s-th, the first p before the start of n. */
struct windows {
    int64_t k, s, p, n;
};

/* The part of window i that lies inside. */
static struct cpu_range
window_at(const struct windows *w, int64_t i)
{
    int64_t first = i * w->s - w->p, end = first + w->k;

    first = first < 0 ? 0 : first;
    end = end < w->n ? end : w->n;
    return (struct cpu_range){ first, end > first ? end : first };
}

static void
pool_begin(enum ggml_op_pool op, int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = op == GGML_OP_POOL_MAX ? -FLT_MAX : 0;
}

static void
take_row(enum ggml_op_pool op, const struct windows *w, const float *x,
         int64_t n, float *y)
{
    for (int64_t i = 0; i < n; i++) {
        struct cpu_range r = window_at(w, i);

        for (int64_t j = r.first; j < r.end; j++)
            if (op == GGML_OP_POOL_AVG)
                y[i] += x[j];
            else
                y[i] = x[j] > y[i] ? x[j] : y[i];
    }
}

static float *
result_row(const struct ggml_tensor *dst, struct cpu_row r)
{
    return (float *)(void *)cpu_row_data(dst, r);
}

/* The mean is that of the elements inside. */
static void
compute_1d(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    enum ggml_op_pool op = (enum ggml_op_pool)tensor_get_i32(dst, 0);
    struct windows w = { tensor_get_i32(dst, 1), tensor_get_i32(dst, 2),
                         tensor_get_i32(dst, 3), x->ne[0] };
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = result_row(dst, r);

        pool_begin(op, dst->ne[0], y);
        take_row(op, &w, cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0)),
                 dst->ne[0], y);
        for (int64_t j = 0; j < dst->ne[0] && op == GGML_OP_POOL_AVG; j++) {
            struct cpu_range in = window_at(&w, j);

            if (in.end > in.first)
                y[j] /= (float)(in.end - in.first);
        }
    }
}

/* The mean is that of the whole window, with zeros outside. */
static void
compute_2d(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    enum ggml_op_pool op = (enum ggml_op_pool)tensor_get_i32(dst, 0);
    struct windows w = { tensor_get_i32(dst, 1), tensor_get_i32(dst, 3),
                         tensor_get_i32(dst, 5), x->ne[0] };
    struct windows h = { tensor_get_i32(dst, 2), tensor_get_i32(dst, 4),
                         tensor_get_i32(dst, 6), x->ne[1] };
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_range lines = window_at(&h, r.i1);
        float *y = result_row(dst, r);

        pool_begin(op, dst->ne[0], y);
        for (r.i1 = lines.first; r.i1 < lines.end; r.i1++)
            take_row(op, &w, cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0)),
                     dst->ne[0], y);
        for (int64_t j = 0; j < dst->ne[0] && op == GGML_OP_POOL_AVG; j++)
            y[j] /= (float)(w.k * h.k);
    }
}

static bool
pool_supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_has_elements(dst->src[0]->type) &&
           (unsigned)tensor_get_i32(dst, 0) < GGML_OP_POOL_COUNT;
}

static int64_t
pool_cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]);
}

const struct cpu_op cpu_op_pool_1d = { .compute = compute_1d,
                                       .supports = pool_supports,
                                       .cost = pool_cost,
                                       .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_pool_2d = { .compute = compute_2d,
                                       .supports = pool_supports,
                                       .cost = pool_cost,
                                       .work_size = cpu_rows_work_size };
