/* unary.c - UNARY, SQR, SQRT, LOG, SIN, COS, LEAKY_RELU, SCALE, CLAMP, FILL: a
 * function of each element */
#include <math.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* A row function of an op with parameters; those without use `map`. */
typedef void (*row_fn)(const struct cpu_task *t, const struct ggml_tensor *dst,
                       int64_t n, float *y, const float *x);

/* Where both lie in one piece, a share is one long row. */
static bool
is_flat(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_is_plain(dst->src[0]) &&
           ggml_is_contiguous(dst) && ggml_is_contiguous(dst->src[0]);
}

static void
unary_rows(const struct cpu_task *t, struct ggml_tensor *dst, row_fn f)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows;

    if (is_flat(dst)) {
        rows = cpu_share(t, ggml_nelements(dst));
        f(t, dst, rows.end - rows.first, (float *)dst->data + rows.first,
          (const float *)x->data + rows.first);
        return;
    }
    rows = cpu_share(t, ggml_nrows(dst));
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));

        f(t, dst, dst->ne[0], y,
          cpu_load_row(t, x, r, cpu_row_buffer(t, dst, 0)));
        cpu_store_row(t, dst, r, y);
    }
}

static void
each_part(const struct cpu_task *t, struct ggml_tensor *dst,
          struct cpu_range elements, struct cpu_range rows, row_fn f)
{
    const float *x = dst->src[0]->data;
    float *y = dst->data;

    for (int64_t i = rows.first; i < rows.end; i++) {
        int64_t at = i * dst->ne[0] + elements.first;

        f(t, dst, elements.end - elements.first, y + at, x + at);
    }
}

#define MAP(name, expression)                                                  \
    static void name(int64_t n, float *y, const float *row)                    \
    {                                                                          \
        for (int64_t i = 0; i < n; i++) {                                      \
            float x = row[i];                                                  \
            y[i] = (expression);                                               \
        }                                                                      \
    }
MAP(map_abs, fabsf(x))
MAP(map_sgn, (float)((x > 0) - (x < 0)))
MAP(map_neg, -x)
MAP(map_step, x > 0 ? 1 : 0)
MAP(map_elu, x > 0 ? x : expm1f(x))
MAP(map_relu, x > 0 ? x : 0)
MAP(map_hardsigmoid, fminf(1, fmaxf(0, (x + 3) / 6)))
MAP(map_hardswish, x *fminf(1, fmaxf(0, (x + 3) / 6)))
MAP(map_expm1, expm1f(x))
MAP(map_softplus, x > 20 ? x : log1pf(expf(x)))
MAP(map_floor, floorf(x))
MAP(map_ceil, ceilf(x))
MAP(map_round, roundf(x))
MAP(map_trunc, truncf(x))
MAP(map_sqr, x *x)
MAP(map_sqrt, sqrtf(x))
MAP(map_log, logf(x))
MAP(map_sin, sinf(x))
MAP(map_cos, cosf(x))

static const cpu_map_fn maps[GGML_UNARY_OP_COUNT] = {
    [GGML_UNARY_OP_ABS] = map_abs,
    [GGML_UNARY_OP_SGN] = map_sgn,
    [GGML_UNARY_OP_NEG] = map_neg,
    [GGML_UNARY_OP_STEP] = map_step,
    [GGML_UNARY_OP_ELU] = map_elu,
    [GGML_UNARY_OP_RELU] = map_relu,
    [GGML_UNARY_OP_HARDSWISH] = map_hardswish,
    [GGML_UNARY_OP_HARDSIGMOID] = map_hardsigmoid,
    [GGML_UNARY_OP_EXPM1] = map_expm1,
    [GGML_UNARY_OP_SOFTPLUS] = map_softplus,
    [GGML_UNARY_OP_FLOOR] = map_floor,
    [GGML_UNARY_OP_CEIL] = map_ceil,
    [GGML_UNARY_OP_ROUND] = map_round,
    [GGML_UNARY_OP_TRUNC] = map_trunc,
};

/* The hot ones are kernels; the others are plain C. */
static cpu_map_fn
find_map(const struct cpu_kernels *k, enum ggml_unary_op op)
{
    switch (op) {
    case GGML_UNARY_OP_TANH:
        return k->tanh;
    case GGML_UNARY_OP_SIGMOID:
        return k->sigmoid;
    case GGML_UNARY_OP_GELU:
        return k->gelu;
    case GGML_UNARY_OP_GELU_ERF:
        return k->gelu_erf;
    case GGML_UNARY_OP_GELU_QUICK:
        return k->gelu_quick;
    case GGML_UNARY_OP_SILU:
        return k->silu;
    case GGML_UNARY_OP_EXP:
        return k->exp;
    default:
        return maps[op];
    }
}

static void
xielu_row(const struct ggml_tensor *dst, int64_t n, float *y, const float *x)
{
    float negative = tensor_get_f32(dst, 1), positive = tensor_get_f32(dst, 2);
    float beta = tensor_get_f32(dst, 3), eps = tensor_get_f32(dst, 4);

    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] > 0 ? positive * x[i] * x[i]
                         : (expm1f(fminf(x[i], eps)) - x[i]) * negative) +
               beta * x[i];
}

static void
unary_row(const struct cpu_task *t, const struct ggml_tensor *dst, int64_t n,
          float *y, const float *x)
{
    enum ggml_unary_op op = ggml_get_unary_op(dst);

    if (op == GGML_UNARY_OP_XIELU)
        xielu_row(dst, n, y, x);
    else
        find_map(t->k, op)(n, y, x);
}

static void
compute_unary(const struct cpu_task *t, struct ggml_tensor *dst)
{
    unary_rows(t, dst, unary_row);
}

static void
unary_part(const struct cpu_task *t, struct ggml_tensor *dst,
           struct cpu_range elements, struct cpu_range rows)
{
    each_part(t, dst, elements, rows, unary_row);
}

static bool
supports_unary(const struct ggml_tensor *dst)
{
    return (unsigned)ggml_get_unary_op(dst) < GGML_UNARY_OP_COUNT &&
           cpu_rows_supported(dst);
}

const struct cpu_op cpu_op_unary = { .compute = compute_unary,
                                     .compute_part = unary_part,
                                     .supports = supports_unary,
                                     .cost = cpu_cost_exp,
                                     .work_size = cpu_rows_work_size };

static void
scale_row(const struct cpu_task *t, const struct ggml_tensor *dst, int64_t n,
          float *y, const float *x)
{
    t->k->scale(n, y, x, tensor_get_f32(dst, 0), tensor_get_f32(dst, 1));
}

static void
clamp_row(const struct cpu_task *t, const struct ggml_tensor *dst, int64_t n,
          float *y, const float *x)
{
    float low = tensor_get_f32(dst, 0), high = tensor_get_f32(dst, 1);

    (void)t;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] < low ? low : x[i] > high ? high : x[i];
}

static void
leaky_relu_row(const struct cpu_task *t, const struct ggml_tensor *dst,
               int64_t n, float *y, const float *x)
{
    float slope = tensor_get_f32(dst, 0);

    (void)t;
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] > 0 ? x[i] : slope * x[i];
}

static void
fill_row(const struct cpu_task *t, const struct ggml_tensor *dst, int64_t n,
         float *y, const float *x)
{
    float value = tensor_get_f32(dst, 0);

    (void)t;
    (void)x;
    for (int64_t i = 0; i < n; i++)
        y[i] = value;
}

/* Functions without parameters. */
#define MAP_ROW(name)                                                          \
    static void name##_row(const struct cpu_task *t,                           \
                           const struct ggml_tensor *dst, int64_t n, float *y, \
                           const float *x)                                     \
    {                                                                          \
        (void)t;                                                               \
        (void)dst;                                                             \
        map_##name(n, y, x);                                                   \
    }
MAP_ROW(sqr)
MAP_ROW(sqrt)
MAP_ROW(log)
MAP_ROW(sin)
MAP_ROW(cos)

#define ROW_OP(name, how_long)                                                 \
    static void compute_##name(const struct cpu_task *t,                       \
                               struct ggml_tensor *dst)                        \
    {                                                                          \
        unary_rows(t, dst, name##_row);                                        \
    }                                                                          \
    static void name##_part(const struct cpu_task *t, struct ggml_tensor *dst, \
                            struct cpu_range elements, struct cpu_range rows)  \
    {                                                                          \
        each_part(t, dst, elements, rows, name##_row);                         \
    }                                                                          \
    const struct cpu_op cpu_op_##name = { .compute = compute_##name,           \
                                          .compute_part = name##_part,         \
                                          .supports = cpu_rows_supported,      \
                                          .cost = how_long,                    \
                                          .work_size = cpu_rows_work_size };
ROW_OP(scale, cpu_cost_pass)
ROW_OP(clamp, cpu_cost_pass)
ROW_OP(fill, cpu_cost_pass)
ROW_OP(leaky_relu, cpu_cost_pass)
ROW_OP(sqr, cpu_cost_pass)
ROW_OP(sqrt, cpu_cost_pass)
ROW_OP(log, cpu_cost_exp)
ROW_OP(sin, cpu_cost_exp)
ROW_OP(cos, cpu_cost_exp)
