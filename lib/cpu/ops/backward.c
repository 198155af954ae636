/* backward.c - SILU_BACK, RMS_NORM_BACK, SOFT_MAX_BACK, REPEAT_BACK,
 * GET_ROWS_BACK: gradients, row by row */
#include <math.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* dx from g, the gradient of f(x), and x; or f(x), where f is told by that. */
typedef void (*gradient_fn)(const struct cpu_task *t,
                            const struct ggml_tensor *dst, float *dx,
                            const float *g, const float *x);

static void
each_row(const struct cpu_task *t, struct ggml_tensor *dst, gradient_fn f)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        const float *g =
            cpu_load_row(t, dst->src[0], r, cpu_row_buffer(t, dst, 0));
        const float *x =
            cpu_load_row(t, dst->src[1], r, cpu_row_buffer(t, dst, 1));
        float *dx = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 2));

        f(t, dst, dx, g, x);
        cpu_store_row(t, dst, r, dx);
    }
}

/* With s = sigmoid(x): g s (1 + x (1 - s)). */
static void
silu_row(const struct cpu_task *t, const struct ggml_tensor *dst, float *dx,
         const float *g, const float *x)
{
    t->k->sigmoid(dst->ne[0], dx, x);
    for (int64_t i = 0; i < dst->ne[0]; i++)
        dx[i] = g[i] * (dx[i] * (1 + x[i] * (1 - dx[i])));
}

/* With r = 1 / sqrt(mean(x^2) + eps): r g - r^3 mean(g x) x. */
static void
rms_norm_row(const struct cpu_task *t, const struct ggml_tensor *dst, float *dx,
             const float *g, const float *x)
{
    int64_t n = dst->ne[0];
    float squares = t->k->sum_squares(n, x, 0) / (float)n, along;
    float r = 1 / sqrtf(squares + tensor_get_f32(dst, 0));

    t->k->mul(n, dx, g, x);
    along = r * r * t->k->sum(n, dx) / (float)n;
    for (int64_t i = 0; i < n; i++)
        dx[i] = r * (g[i] - along * x[i]);
}

/* y is the softmax: scale y (g - y . g). dx may be g. */
static void
soft_max_row(const struct cpu_task *t, const struct ggml_tensor *dst, float *dx,
             const float *g, const float *y)
{
    int64_t n = dst->ne[0];
    float scale = tensor_get_f32(dst, 0), along;

    t->k->mul(n, dx, g, y);
    along = t->k->sum(n, dx);
    for (int64_t i = 0; i < n; i++)
        dx[i] = scale * (dx[i] - along * y[i]);
}

#define BY_ROWS(name)                                                          \
    static void compute_##name(const struct cpu_task *t,                       \
                               struct ggml_tensor *dst)                        \
    {                                                                          \
        each_row(t, dst, name##_row);                                          \
    }                                                                          \
    const struct cpu_op cpu_op_##name##_back = { .compute = compute_##name,    \
                                                 .supports =                   \
                                                     cpu_rows_supported,       \
                                                 .cost = cpu_cost_exp,         \
                                                 .work_size =                  \
                                                     cpu_rows_work_size };
BY_ROWS(silu)
BY_ROWS(rms_norm)
BY_ROWS(soft_max)
#undef BY_ROWS

/* ---- REPEAT_BACK ----------------------------------------------------------
 */

/* Columns of a row that a piece sums up, so that a single row can be shared. */
#define COLUMNS 128

static int64_t
parts_of_row(const struct ggml_tensor *dst)
{
    return (dst->ne[0] + COLUMNS - 1) / COLUMNS;
}

/* Adds to y what row r of x has for n columns from `first` on. */
static void
add_copies(const struct cpu_task *t, const struct ggml_tensor *dst,
           struct cpu_row r, int64_t first, int64_t n, float *y)
{
    const struct ggml_tensor *x = dst->src[0];
    const float *row = cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0));

    if (dst->ne[0] == 1) {
        *y += t->k->sum(x->ne[0], row);
        return;
    }
    for (int64_t i = first; i < x->ne[0]; i += dst->ne[0])
        t->k->add(n, y, y, row + i);
}

/* All rows of x whose number is r, or that and a multiple of dst's rows. */
static void
sum_copies(const struct cpu_task *t, const struct ggml_tensor *dst,
           struct cpu_row r, int64_t first, int64_t n, float *y)
{
    const struct ggml_tensor *x = dst->src[0];

    for (int64_t i3 = r.i3; i3 < x->ne[3]; i3 += dst->ne[3])
        for (int64_t i2 = r.i2; i2 < x->ne[2]; i2 += dst->ne[2])
            for (int64_t i1 = r.i1; i1 < x->ne[1]; i1 += dst->ne[1])
                add_copies(t, dst, (struct cpu_row){ i1, i2, i3 }, first, n, y);
}

static void
compute_repeat_back(const struct cpu_task *t, struct ggml_tensor *dst)
{
    int64_t parts = parts_of_row(dst);
    struct cpu_range range = cpu_share(t, ggml_nrows(dst) * parts);

    for (int64_t i = range.first; i < range.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i / parts);
        int64_t first = i % parts * COLUMNS, n = dst->ne[0] - first;
        float *y = (float *)(void *)cpu_row_data(dst, r) + first;

        n = n < COLUMNS ? n : COLUMNS;
        memset(y, 0, (size_t)n * sizeof(*y));
        sum_copies(t, dst, r, first, n, y);
    }
}

static int64_t
cost_of_source(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]) / 4;
}

static bool
supports_repeat_back(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_has_elements(dst->src[0]->type);
}

const struct cpu_op cpu_op_repeat_back = { .compute = compute_repeat_back,
                                           .supports = supports_repeat_back,
                                           .cost = cost_of_source,
                                           .work_size = cpu_rows_work_size };

/* ---- GET_ROWS_BACK --------------------------------------------------------
 */

static int64_t
target_of(const struct ggml_tensor *dst, int64_t i)
{
    const struct ggml_tensor *index = dst->src[1];
    const char *p = (const char *)index->data + (size_t)i * index->nb[0];
    int64_t row = *(const int32_t *)(const void *)p;

    GGML_ASSERT(row >= 0 && row < dst->ne[1]);
    return row;
}

/* A piece has some columns, of which it adds all rows in their order. */
static void
compute_get_rows_back(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range parts = cpu_share(t, parts_of_row(dst));
    int64_t first = parts.first * COLUMNS, end = parts.end * COLUMNS;
    int64_t n = (end < dst->ne[0] ? end : dst->ne[0]) - first;

    if (n <= 0)
        return;
    for (int64_t i = 0; i < dst->ne[1]; i++)
        memset(cpu_row_data(dst, (struct cpu_row){ i, 0, 0 }) +
                   (size_t)first * sizeof(float),
               0, (size_t)n * sizeof(float));
    for (int64_t i = 0; i < dst->src[1]->ne[0]; i++) {
        struct cpu_row to = { target_of(dst, i), 0, 0 };
        float *y = (float *)(void *)cpu_row_data(dst, to) + first;

        t->k->add(n, y, y,
                  cpu_load_row(t, x, (struct cpu_row){ i, 0, 0 },
                               cpu_row_buffer(t, dst, 0)) +
                      first);
    }
}

static int64_t
cost_get_rows_back(const struct ggml_tensor *dst)
{
    return (ggml_nelements(dst) + ggml_nelements(dst->src[0])) / 8;
}

static bool
supports_get_rows_back(const struct ggml_tensor *dst)
{
    return supports_repeat_back(dst) && dst->src[1]->type == GGML_TYPE_I32;
}

const struct cpu_op cpu_op_get_rows_back = { .compute = compute_get_rows_back,
                                             .supports = supports_get_rows_back,
                                             .cost = cost_get_rows_back,
                                             .work_size = cpu_rows_work_size };
