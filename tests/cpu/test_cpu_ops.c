/* test_cpu_ops.c - each op against the same in double precision: odd shapes,
 * strides, repeats, types */
#include "cpu_test.h"
#include "fixtures/double_unary.h"

static double
at(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    return test_at(t, i0 % t->ne[0], i1 % t->ne[1], i2 % t->ne[2],
                   i3 % t->ne[3]);
}

#define TRUTH(name, expression)                                                \
    static double name(const struct ggml_tensor *t, int64_t i0, int64_t i1,    \
                       int64_t i2, int64_t i3)                                 \
    {                                                                          \
        const struct ggml_tensor *a = t->src[0], *b = t->src[1];               \
        (void)a, (void)b, (void)i0;                                            \
        return expression;                                                     \
    }
#define A at(a, i0, i1, i2, i3)
#define B at(b, i0, i1, i2, i3)
TRUTH(t_add, A + B)
TRUTH(t_sub, A - B)
TRUTH(t_mul, A *B)
TRUTH(t_div, A / B)
TRUTH(t_same, A)
TRUTH(t_sqr, A *A)
TRUTH(t_sqrt, sqrt(A))
TRUTH(t_log, log(A))
TRUTH(t_sin, sin(A))
TRUTH(t_cos, cos(A))
TRUTH(t_leaky, A > 0 ? A : 0.125 * A)
TRUTH(t_fill, A * 0 + 0.375)
TRUTH(t_scale, A * 0.75 - 2)
TRUTH(t_clamp, fmin(0.5, fmax(-0.25, A)))

#define F16_BOUND 6e-4 /* half a unit of eleven bits */

static void
test_binary(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 37, 5, 4, 2);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 37, 5, 4, 2);
    struct ggml_tensor *row = test_tensor(ctx, GGML_TYPE_F32, 37, 1, 1, 1);
    struct ggml_tensor *one = test_tensor(ctx, GGML_TYPE_F32, 1, 5, 1, 2);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 37, 5, 4, 2);
    struct ggml_tensor *bf = test_tensor(ctx, GGML_TYPE_BF16, 37, 1, 4, 1);
    struct ggml_tensor *tr =
        ggml_transpose(ctx, test_tensor(ctx, GGML_TYPE_F32, 5, 37, 4, 2));
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_Q8_0, 64, 5, 4, 2);
    struct ggml_tensor *row_64 = test_tensor(ctx, GGML_TYPE_F32, 64, 1, 1, 1);
    struct ggml_tensor *wide = test_tensor(ctx, GGML_TYPE_F32, 900, 33, 1, 1);

    test_op(ctx, ggml_add(ctx, a, b), t_add, 1e-7, "add");
    test_op(ctx, ggml_sub(ctx, a, row), t_sub, 1e-7, "sub, a row repeated");
    test_op(ctx, ggml_mul(ctx, a, one), t_mul, 1e-7, "mul, a value a row");
    test_op(ctx, ggml_div(ctx, a, b), t_div, 1e-7, "div");
    test_op(ctx, ggml_add(ctx, a, tr), t_add, 1e-7, "add, transposed");
    test_op(ctx, ggml_mul(ctx, tr, a), t_mul, 1e-7, "mul of a transposed");
    test_op(ctx, ggml_add(ctx, h, row), t_add, F16_BOUND, "add to F16");
    test_op(ctx, ggml_add(ctx, a, bf), t_add, 1e-7, "add BF16, repeated");
    test_op(ctx, ggml_add(ctx, q, row_64), t_add, 0.02, "add to Q8_0");
    test_op(ctx, ggml_add_cast(ctx, q, row_64, GGML_TYPE_F32), t_add, 1e-7,
            "add to Q8_0, as F32");
    test_op(ctx, ggml_add_cast(ctx, h, row, GGML_TYPE_BF16), t_add, 4e-3,
            "add to F16, as BF16");
    test_op(ctx, ggml_mul(ctx, wide, wide), t_mul, 1e-7, "mul, many rows");
    ggml_free(ctx);
}

static struct ggml_tensor *
positive(struct ggml_context *ctx)
{
    struct ggml_tensor *t = test_tensor(ctx, GGML_TYPE_F32, 70, 3, 2, 1);

    for (int i = 0; i < 420; i++)
        ggml_set_f32_1d(t, i, fabsf(ggml_get_f32_1d(t, i)) * 5);
    return t;
}

static void
test_simple(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 70, 3, 2, 1);
    struct ggml_tensor *p = ggml_permute(ctx, a, 1, 0, 2, 3);
    struct ggml_tensor *angles = test_tensor(ctx, GGML_TYPE_F32, 170, 3, 2, 1);

    for (int i = 0; i < 170 * 6; i++)
        ggml_set_f32_1d(angles, i, ggml_get_f32_1d(angles, i) * 40);
    test_op(ctx, ggml_sqr(ctx, a), t_sqr, 1e-7, "sqr");
    test_op(ctx, ggml_sqrt(ctx, positive(ctx)), t_sqrt, 1e-7, "sqrt");
    test_op(ctx, ggml_scale_bias(ctx, a, 0.75f, -2), t_scale, 2e-7, "scale");
    test_op(ctx, ggml_clamp(ctx, a, -0.25f, 0.5f), t_clamp, 0, "clamp");
    test_op(ctx, ggml_sqr(ctx, p), t_sqr, 1e-7, "sqr of a permuted");
    test_op(ctx, ggml_log(ctx, positive(ctx)), t_log, 1e-6, "log");
    test_op(ctx, ggml_sin(ctx, angles), t_sin, 1e-6, "sin");
    test_op(ctx, ggml_cos(ctx, angles), t_cos, 1e-6, "cos");
    test_op(ctx, ggml_cos(ctx, ggml_transpose(ctx, angles)), t_cos, 1e-6,
            "cos of a transposed");
    test_op(ctx, ggml_leaky_relu(ctx, a, 0.125f, false), t_leaky, 1e-7,
            "leaky_relu");
    test_op(ctx, ggml_fill(ctx, a, 0.375f), t_fill, 0, "fill");
    test_op(
        ctx,
        ggml_fill(ctx, test_tensor(ctx, GGML_TYPE_F16, 70, 3, 2, 1), 0.375f),
        t_fill, 0, "fill F16");
    ggml_free(ctx);
}

TRUTH(t_unary, double_unary((enum ggml_unary_op)t->op_params[0], A))

static void
test_unary(void)
{
    for (int op = 0; op < GGML_UNARY_OP_COUNT; op++) {
        struct ggml_context *ctx = test_context();
        struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 333, 7, 3, 1);
        struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 33, 7, 1, 1);

        for (int i = 0; i < 333 * 21; i++)
            ggml_set_f32_1d(a, i, ggml_get_f32_1d(a, i) * 8);
        if (op != GGML_UNARY_OP_XIELU) { /* it has parameters */
            test_op(ctx, ggml_unary(ctx, a, (enum ggml_unary_op)op), t_unary,
                    1e-6, ggml_unary_op_name((enum ggml_unary_op)op));
            test_op(ctx, ggml_unary(ctx, h, (enum ggml_unary_op)op), t_unary,
                    F16_BOUND, "the same of F16");
        }
        ggml_free(ctx);
    }
}

/* With the file's parameters of each side, as the paper has it. */
static const double xi_n = -0.4, xi_p = 0.9, xi_beta = 0.5, xi_eps = -1e-6;

static double
xielu(double x)
{
    double p = log1p(exp(xi_p)), n = xi_beta + log1p(exp(xi_n));

    return x > 0 ? p * x * x + xi_beta * x
                 : n * (expm1(fmin(x, xi_eps)) - x) + xi_beta * x;
}

TRUTH(t_xielu, xielu(A))

static void
test_xielu(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 333, 7, 3, 1);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 33, 7, 1, 1);

    test_op(ctx,
            ggml_xielu(ctx, a, (float)xi_n, (float)xi_p, (float)xi_beta,
                       (float)xi_eps),
            t_xielu, 1e-6, "XIELU");
    test_op(ctx,
            ggml_xielu(ctx, h, (float)xi_n, (float)xi_p, (float)xi_beta,
                       (float)xi_eps),
            t_xielu, F16_BOUND, "XIELU of F16");
    ggml_free(ctx);
}

static double
glu(enum ggml_glu_op op, double x, double g)
{
    static const enum ggml_unary_op ops[] = {
        [GGML_GLU_OP_REGLU] = GGML_UNARY_OP_RELU,
        [GGML_GLU_OP_GEGLU] = GGML_UNARY_OP_GELU,
        [GGML_GLU_OP_SWIGLU] = GGML_UNARY_OP_SILU,
        [GGML_GLU_OP_GEGLU_ERF] = GGML_UNARY_OP_GELU_ERF,
        [GGML_GLU_OP_GEGLU_QUICK] = GGML_UNARY_OP_GELU_QUICK,
    };

    return double_unary(ops[op], x) * g;
}

static double
t_glu(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
      int64_t i3)
{
    const struct ggml_tensor *a = t->src[0], *b = t->src[1];
    int64_t half = t->ne[0];
    bool swapped = t->op_params[1];

    return glu((enum ggml_glu_op)t->op_params[0],
               at(a, b || !swapped ? i0 : i0 + half, i1, i2, i3),
               b ? B : at(a, swapped ? i0 : i0 + half, i1, i2, i3));
}

static const double oai_alpha = 1.702, oai_limit = 0.75;

/* The gate of gpt-oss, by its formula. */
static double
t_swiglu_oai(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
             int64_t i3)
{
    const struct ggml_tensor *a = t->src[0], *b = t->src[1];
    double x = fmin(A, oai_limit);

    return x / (1 + exp(-oai_alpha * x)) *
           (fmax(-oai_limit, fmin(B, oai_limit)) + 1);
}

static const double clamp_limit = 0.75;

TRUTH(t_swiglu_clamp, double_unary(GGML_UNARY_OP_SILU, fmin(A, clamp_limit)) *
                          fmax(-clamp_limit, fmin(B, clamp_limit)))

static void
test_glu(void)
{
    static const enum ggml_glu_op ops[] = {
        GGML_GLU_OP_REGLU, GGML_GLU_OP_GEGLU, GGML_GLU_OP_SWIGLU,
        GGML_GLU_OP_GEGLU_ERF, GGML_GLU_OP_GEGLU_QUICK
    };

    for (int i = 0; i < 5; i++) {
        struct ggml_context *ctx = test_context();
        struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 134, 9, 2, 1);
        struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 134, 9, 2, 1);
        const char *name = ggml_glu_op_name(ops[i]);

        test_op(ctx, ggml_glu(ctx, a, ops[i], false), t_glu, 1e-6, name);
        test_op(ctx, ggml_glu(ctx, a, ops[i], true), t_glu, 1e-6, "swapped");
        test_op(ctx, ggml_glu_split(ctx, a, b, ops[i]), t_glu, 1e-6, "split");
        test_op(ctx,
                ggml_swiglu_oai(ctx, a, b, (float)oai_alpha, (float)oai_limit),
                t_swiglu_oai, 1e-6, "the gate of gpt-oss");
        test_op(ctx, ggml_swiglu_clamp(ctx, a, b, (float)clamp_limit),
                t_swiglu_clamp, 1e-6, "swiglu within limits");
        ggml_free(ctx);
    }
}

#define EPS 1e-5

static double
mean_of(const struct ggml_tensor *a, int64_t i1, int64_t i2, int64_t i3)
{
    double sum = 0;

    for (int64_t j = 0; j < a->ne[0]; j++)
        sum += at(a, j, i1, i2, i3);
    return sum / (double)a->ne[0];
}

static double
variance_of(const struct ggml_tensor *a, double mean, int64_t i1, int64_t i2,
            int64_t i3)
{
    double sum = 0;

    for (int64_t j = 0; j < a->ne[0]; j++)
        sum += pow(at(a, j, i1, i2, i3) - mean, 2);
    return sum / (double)a->ne[0];
}

/* Of a row, kept for all its elements, which are read in order. */
static double row_mean, row_scale;

static double
normed(const struct ggml_tensor *a, bool centred, int64_t i0, int64_t i1,
       int64_t i2, int64_t i3)
{
    if (i0 == 0) {
        row_mean = centred ? mean_of(a, i1, i2, i3) : 0;
        row_scale = sqrt(variance_of(a, row_mean, i1, i2, i3) + EPS);
    }
    return (A - row_mean) / row_scale;
}

TRUTH(t_norm, normed(a, true, i0, i1, i2, i3))
TRUTH(t_rms, normed(a, false, i0, i1, i2, i3))
TRUTH(t_sum, mean_of(a, i1, i2, i3) * (double)a->ne[0])
TRUTH(t_mean, mean_of(a, i1, i2, i3))
TRUTH(t_l2,
      A / fmax(sqrt(variance_of(a, 0, i1, i2, i3) * (double)a->ne[0]), 0.25))

static double
t_cumsum(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
         int64_t i3)
{
    double sum = 0;

    for (int64_t j = 0; j <= i0; j++)
        sum += at(t->src[0], j, i1, i2, i3);
    return sum;
}

static double
t_sum_all(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    double sum = 0 * at(t, i0, i1, i2, i3);

    for (int64_t j = 0; j < ggml_nelements(a); j++)
        sum += (double)ggml_get_f32_1d(a, (int)j);
    return sum;
}

/* The first of the greatest. */
static double
t_argmax(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
         int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t best = 0;

    for (int64_t j = 1; j < a->ne[0]; j++)
        if (at(a, j, i0, i2, i3) > at(a, best, i0, i2, i3))
            best = j;
    return (double)(best + 0 * i1);
}

/* Of the planes of i2's group. */
static double
t_group_norm(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
             int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t n_groups = t->op_params[0];
    int64_t planes = (a->ne[2] + n_groups - 1) / n_groups;
    int64_t first = i2 / planes * planes;
    int64_t end = first + planes < a->ne[2] ? first + planes : a->ne[2];
    double sum = 0, squares = 0, n = 0;

    for (int64_t c = first; c < end; c++)
        for (int64_t h = 0; h < a->ne[1]; h++)
            for (int64_t w = 0; w < a->ne[0]; w++, n++) {
                sum += at(a, w, h, c, i3);
                squares += pow(at(a, w, h, c, i3), 2);
            }
    return (at(a, i0, i1, i2, i3) - sum / n) /
           sqrt(squares / n - pow(sum / n, 2) + EPS);
}

static void
test_norms(void)
{
    static const int lengths[] = { 1, 17, 256, 1000 };

    for (int i = 0; i < 4; i++) {
        struct ggml_context *ctx = test_context();
        struct ggml_tensor *a =
            test_tensor(ctx, GGML_TYPE_F32, lengths[i], 5, 3, 1);
        struct ggml_tensor *p = ggml_permute(ctx, a, 0, 2, 1, 3);
        char name[40];

        snprintf(name, sizeof(name), "norm of %d", lengths[i]);
        test_op(ctx, ggml_norm(ctx, a, (float)EPS), t_norm, 2e-6, name);
        test_op(ctx, ggml_rms_norm(ctx, a, (float)EPS), t_rms, 1e-6,
                "rms_norm");
        test_op(ctx, ggml_rms_norm(ctx, p, (float)EPS), t_rms, 1e-6,
                "rms_norm of permuted rows");
        test_op(ctx, ggml_sum_rows(ctx, a), t_sum, 2e-6, "sum_rows");
        test_op(ctx, ggml_mean(ctx, p), t_mean, 1e-6, "mean");
        test_op(ctx, ggml_sum(ctx, a), t_sum_all, 2e-6, "sum");
        test_op(ctx, ggml_cumsum(ctx, p), t_cumsum, 1e-6, "cumsum");
        test_op(ctx, ggml_l2_norm(ctx, a, 0.25f), t_l2, 1e-6, "l2_norm");
        ggml_free(ctx);
    }
}

static void
test_groups(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 19, 5, 7, 2);
    struct ggml_tensor *p = ggml_permute(ctx, a, 1, 0, 2, 3);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 19, 5, 6, 1);

    test_op(ctx, ggml_group_norm(ctx, a, 1, (float)EPS), t_group_norm, 2e-6,
            "group_norm of one");
    test_op(ctx, ggml_group_norm(ctx, a, 3, (float)EPS), t_group_norm, 2e-6,
            "group_norm, the last group smaller");
    test_op(ctx, ggml_group_norm(ctx, p, 7, (float)EPS), t_group_norm, 2e-6,
            "group_norm of a permuted");
    test_op(ctx, ggml_group_norm(ctx, h, 2, (float)EPS), t_group_norm, 2e-3,
            "group_norm of F16");
    ggml_free(ctx);
}

static void
test_argmax(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 77, 9, 1, 1);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 9, 77, 1, 1);

    ggml_set_f32_1d(a, 5, 2);
    ggml_set_f32_1d(a, 70, 2);
    ggml_set_f32_1d(a, 77, NAN);
    ggml_set_f32_1d(a, 77 + 1, 1);
    ggml_set_f32_1d(a, 77 + 2, 1);
    test_op(ctx, ggml_argmax(ctx, ggml_view_2d(ctx, a, 77, 1, a->nb[1], 0)),
            t_argmax, 0, "argmax, the first of equals");
    test_op(
        ctx,
        ggml_argmax(ctx, ggml_view_2d(ctx, a, 77, 7, a->nb[1], 2 * a->nb[1])),
        t_argmax, 0, "argmax");
    test_op(ctx, ggml_argmax(ctx, h), t_argmax, 0, "argmax of F16");
    test_op(ctx, ggml_argmax(ctx, ggml_transpose(ctx, h)), t_argmax, 0,
            "argmax of a transposed");
    test_run(ctx, ggml_set_name(ggml_argmax(ctx, a), "all"), 2);
    is(((int32_t *)ggml_get_tensor(ctx, "all")->data)[1], 1,
       "what is no number is not the greatest");
    ggml_free(ctx);
}

/* By the definition, an index at a time. */
static double
t_pad(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
      int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t i[4] = { i0, i1, i2, i3 };

    for (int d = 0; d < 4; d++) {
        i[d] -= t->op_params[2 * d];
        while (t->op_params[8] && i[d] < 0)
            i[d] += a->ne[d];
        while (t->op_params[8] && i[d] >= a->ne[d])
            i[d] -= a->ne[d];
        if (i[d] < 0 || i[d] >= a->ne[d])
            return 0;
    }
    return test_at(a, i[0], i[1], i[2], i[3]);
}

static void
test_pad(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 7, 5, 3, 2);
    struct ggml_tensor *p = ggml_permute(ctx, a, 2, 0, 1, 3);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 7, 5, 1, 1);

    test_op(ctx, ggml_pad(ctx, a, 2, 1, 0, 3), t_pad, 0, "pad");
    test_op(ctx, ggml_pad(ctx, p, 2, 1, 0, 3), t_pad, 0, "pad of a permuted");
    test_op(ctx, ggml_pad(ctx, h, 20, 0, 2, 0), t_pad, 0, "pad of F16");
    test_op(ctx, ggml_pad_ext(ctx, a, 3, 2, 1, 0, 0, 4, 1, 1), t_pad, 0,
            "pad_ext");
    test_op(ctx, ggml_pad_circular(ctx, a, 17, 1, 2, 1), t_pad, 0,
            "pad_circular");
    test_op(ctx, ggml_pad_ext_circular(ctx, p, 17, 3, 1, 9, 2, 1, 0, 1), t_pad,
            0, "pad_ext_circular of a permuted");
    ggml_free(ctx);
}

/* Elements in order, whatever the shapes are. */
static double
t_flat(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t at_ = i0 + t->ne[0] * (i1 + t->ne[1] * (i2 + t->ne[2] * i3));
    int64_t a0, a1, a2, a3;

    ggml_unravel_index(a, at_, &a0, &a1, &a2, &a3);
    return at(a, a0, a1, a2, a3);
}

static void
test_copies(void)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_BF16 };
    static const double bounds[] = { 0, F16_BOUND, 4e-3 };
    struct ggml_context *ctx = test_context();
    char name[80];

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            struct ggml_tensor *a = test_tensor(ctx, types[i], 33, 6, 4, 2);
            struct ggml_tensor *p = ggml_permute(ctx, a, 1, 2, 0, 3);
            struct ggml_tensor *flat =
                test_tensor(ctx, types[j], 33 * 24 * 2, 1, 1, 1);
            struct ggml_tensor *room = test_tensor(ctx, types[j], 40, 33, 8, 1);
            struct ggml_tensor *strided =
                ggml_view_3d(ctx, room, 6, 33, 8, room->nb[1], room->nb[2], 0);

            snprintf(name, sizeof(name), "%s to %s", ggml_type_name(types[i]),
                     ggml_type_name(types[j]));
            test_op(ctx, ggml_cpy(ctx, a, flat), t_flat, bounds[j], name);
            test_op(ctx, ggml_cpy(ctx, p, flat), t_flat, bounds[j], "permuted");
            test_op(ctx, ggml_cpy(ctx, a, strided), t_flat, bounds[j],
                    "into rows with gaps");
            test_op(ctx, ggml_cast(ctx, p, types[j]), t_same, bounds[j],
                    "cast");
            if (i == j)
                test_op(ctx, ggml_cont(ctx, p), t_same, 0, "cont");
            if (i == j)
                test_op(ctx, ggml_dup(ctx, p), t_same, 0, "dup");
        }
    ggml_free(ctx);
}

static void
test_quantised_copies(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 64, 6, 4, 1);
    struct ggml_tensor *p = ggml_permute(ctx, a, 0, 2, 1, 3);
    struct ggml_tensor *q8 = test_tensor(ctx, GGML_TYPE_Q8_0, 64, 24, 1, 1);
    struct ggml_tensor *f = test_tensor(ctx, GGML_TYPE_F32, 32, 48, 1, 1);

    test_op(ctx, ggml_cast(ctx, p, GGML_TYPE_Q8_0), t_same, 4e-3,
            "to Q8_0, permuted");
    test_op(ctx, ggml_cpy(ctx, a, q8), t_flat, 4e-3, "to Q8_0, reshaped");
    test_op(ctx, ggml_cast(ctx, a, GGML_TYPE_Q4_0), t_same, 7e-2, "to Q4_0");
    test_op(ctx, ggml_cpy(ctx, q8, f), t_flat, 0, "from Q8_0, reshaped");
    ggml_free(ctx);
}

static void
test_integers(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, 5, 3);
    struct ggml_tensor *h = ggml_new_tensor_2d(ctx, GGML_TYPE_I16, 5, 3);

    for (int i = 0; i < 15; i++) {
        ggml_set_i32_1d(a, i, 1000000007 - i);
        ggml_set_i32_1d(h, i, i * 77 - 300);
    }
    test_op(ctx, ggml_cont(ctx, ggml_transpose(ctx, a)), t_same, 0,
            "I32, transposed");
    test_op(ctx, ggml_cont(ctx, ggml_transpose(ctx, h)), t_same, 0,
            "I16, transposed");
    test_op(ctx, ggml_cast(ctx, h, GGML_TYPE_F32), t_same, 0, "I16 to F32");
    ggml_free(ctx);
}

static double
t_concat(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
         int64_t i3)
{
    const struct ggml_tensor *a = t->src[0], *b = t->src[1];
    int64_t i[4] = { i0, i1, i2, i3 };
    int dim = t->op_params[0];

    if (i[dim] < a->ne[dim])
        return test_at(a, i0, i1, i2, i3);
    i[dim] -= a->ne[dim];
    return test_at(b, i[0], i[1], i[2], i[3]);
}

static void
test_repeats(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 3, 2, 1, 2);

    test_op(ctx, ggml_repeat_4d(ctx, a, 9, 8, 3, 4), t_same, 0, "repeat");
    test_op(ctx,
            ggml_repeat_4d(ctx, test_tensor(ctx, GGML_TYPE_F16, 4, 1, 1, 1), 8,
                           5, 1, 1),
            t_same, 0, "repeat F16");
    for (int dim = 0; dim < 4; dim++) {
        int64_t ne[4] = { 3, 2, 1, 2 };
        char name[40];

        ne[dim] = 5;
        snprintf(name, sizeof(name), "concat in dimension %d", dim);
        test_op(ctx,
                ggml_concat(
                    ctx, a,
                    test_tensor(ctx, GGML_TYPE_F32, ne[0], ne[1], ne[2], ne[3]),
                    dim),
                t_concat, 0, name);
    }
    ggml_free(ctx);
}

TRUTH(t_get_rows, test_at(a, i0, (int64_t)at(b, i1, i2, i3, 0), i2, i3))

static struct ggml_tensor *
indices(struct ggml_context *ctx, int64_t n, int64_t n2, int64_t step,
        int64_t below)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, n, n2);

    for (int64_t i = 0; i < n * n2; i++)
        ggml_set_i32_1d(t, (int)i, (int32_t)(i * step % below));
    return t;
}

static void
test_get_rows(void)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_BF16, GGML_TYPE_Q8_0,
                                            GGML_TYPE_Q4_0 };
    struct ggml_context *ctx = test_context();
    char name[40];

    for (int i = 0; i < 5; i++) {
        struct ggml_tensor *a = test_tensor(ctx, types[i], 96, 11, 2, 1);

        snprintf(name, sizeof(name), "get_rows of %s",
                 ggml_type_name(types[i]));
        test_op(ctx, ggml_get_rows(ctx, a, indices(ctx, 7, 2, 5, 11)),
                t_get_rows, 0, name);
    }
    ggml_free(ctx);
}

static void
test_set_rows(enum ggml_type to, enum ggml_type index, double bound)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, to, 64, 11, 2, 1);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 64, 4, 2, 1);
    struct ggml_tensor *i = ggml_new_tensor_1d(ctx, index, 4);
    struct ggml_tensor *t;
    bool good = true;
    char name[60];

    for (int j = 0; j < 4; j++) {
        int row = (3 * j + 2) % 11;

        if (index == GGML_TYPE_I64)
            ((int64_t *)i->data)[j] = row;
        else
            ((int32_t *)i->data)[j] = row;
    }
    t = ggml_set_rows(ctx, a, b, i);
    test_run(ctx, t, 2);
    for (int h = 0; h < 2; h++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 64; k++)
                good = good && fabs(test_at(a, k, (3 * j + 2) % 11, h, 0) -
                                    test_at(b, k, j, h, 0)) <= bound;
    snprintf(name, sizeof(name), "set_rows into %s, indices %s",
             ggml_type_name(to), ggml_type_name(index));
    ok(good, name);
    ggml_free(ctx);
}

TRUTH(t_diag, i0 > 3 + i1 ? -(double)INFINITY : A)

static double param_scale, param_bias;

static double
soft_max_score(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
               int64_t i3)
{
    const struct ggml_tensor *m = t->src[1];
    double s = at(t->src[0], i0, i1, i2, i3) * param_scale;

    /* four heads: slopes 2^(-bias * k / 4) */
    if (m)
        s += at(m, i0, i1, i2, i3) *
             (param_bias > 0 ? pow(2, -param_bias / 4 * (double)(i2 + 1)) : 1);
    return s;
}

static double
t_soft_max(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
           int64_t i3)
{
    double sum = 0;

    for (int64_t j = 0; j < t->ne[0]; j++)
        sum += exp(soft_max_score(t, j, i1, i2, i3));
    if (t->src[2] && sum > 0)
        sum += exp(at(t->src[2], i2, 0, 0, 0));
    return sum > 0 ? exp(soft_max_score(t, i0, i1, i2, i3)) / sum : 0;
}

static void
test_soft_max(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 77, 9, 4, 2);
    struct ggml_tensor *m = test_tensor(ctx, GGML_TYPE_F32, 77, 10, 1, 1);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 77, 10, 1, 1);
    struct ggml_tensor *sinks = test_tensor(ctx, GGML_TYPE_F32, 4, 1, 1, 1), *t;

    ggml_set_f32_1d(sinks, 2, 20);
    for (int i = 0; i < 770; i += 3)
        ggml_set_f32_1d(m, i, -INFINITY), ggml_set_f32_1d(h, i, -INFINITY);
    for (int i = 0; i < 77; i++)
        ggml_set_f32_nd(m, i, 5, 0, 0, -INFINITY); /* all of a row */
    param_scale = 1;
    test_op(ctx, ggml_soft_max(ctx, a), t_soft_max, 1e-6, "soft_max");
    param_scale = 3;
    test_op(ctx, ggml_soft_max_ext(ctx, a, m, 3, 0), t_soft_max, 1e-6,
            "soft_max, scale and mask");
    param_bias = 8;
    test_op(ctx, ggml_soft_max_ext(ctx, a, h, 3, 8), t_soft_max, 1e-6,
            "soft_max, F16 mask and ALiBi");
    t = ggml_soft_max_ext(ctx, a, h, 3, 8);
    ggml_soft_max_add_sinks(t, sinks);
    test_op(ctx, t, t_soft_max, 1e-6, "soft_max with sinks");
    test_op(ctx, ggml_diag_mask_inf(ctx, a, 3), t_diag, 0, "diag_mask_inf");
    ggml_free(ctx);
}

/* RoPE by its definition. */
static struct {
    int n_dims, mode, n_ctx;
    double base, scale, ext, attn, fast, slow;
} rope;

static double
rope_ramp(int pair)
{
    double first =
        floor(rope.n_dims * log(rope.n_ctx / (rope.fast * 2 * M_PI)) /
              (2 * log(rope.base)));
    double last = ceil(rope.n_dims * log(rope.n_ctx / (rope.slow * 2 * M_PI)) /
                       (2 * log(rope.base)));

    first = fmax(0, first);
    last = fmin(rope.n_dims - 1, last);
    return 1 - fmin(1, fmax(0, (pair - first) / fmax(0.001, last - first)));
}

static double
t_rope(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    bool neox = rope.mode == GGML_ROPE_TYPE_NEOX;
    int64_t half = rope.n_dims / 2;
    int64_t pair = neox ? i0 % half : i0 / 2;
    int64_t first = neox ? pair : 2 * pair;
    int64_t second = neox ? pair + half : first + 1;
    double angle, mix, magnitude = rope.attn, x, y;

    if (i0 >= rope.n_dims)
        return A;
    angle = ggml_get_i32_1d(t->src[1], (int)i2) *
            pow(rope.base, -2.0 * (double)pair / rope.n_dims);
    if (t->src[2])
        angle /= test_at(t->src[2], pair, 0, 0, 0);
    mix = rope.ext != 0 ? rope_ramp((int)pair) * rope.ext : 0;
    if (rope.ext != 0)
        magnitude *= 1 + 0.1 * log(1 / rope.scale);
    angle = rope.scale * angle * (1 - mix) + angle * mix;
    x = test_at(a, first, i1, i2, i3);
    y = test_at(a, second, i1, i2, i3);
    return magnitude * (i0 == first ? x * cos(angle) - y * sin(angle)
                                    : x * sin(angle) + y * cos(angle));
}

static void
test_rope_case(enum ggml_type type, int mode, int n_dims, double ext,
               bool factors, double bound, const char *name)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, type, 48, 3, 5, 2);
    struct ggml_tensor *c = NULL, *pos;

    pos = indices(ctx, 5, 1, 1237, 100000);
    if (factors) {
        c = test_tensor(ctx, GGML_TYPE_F32, n_dims / 2, 1, 1, 1);
        for (int i = 0; i < n_dims / 2; i++)
            ggml_set_f32_1d(c, i, 2 + ggml_get_f32_1d(c, i));
    }
    rope.n_dims = n_dims;
    rope.mode = mode;
    rope.n_ctx = 4096;
    rope.base = 10000;
    rope.scale = 0.25;
    rope.ext = ext;
    rope.attn = 1.25;
    rope.fast = 32;
    rope.slow = 1;
    test_op(ctx,
            ggml_rope_ext(ctx, a, pos, c, n_dims, mode, 4096, 10000, 0.25f,
                          (float)ext, 1.25f, 32, 1),
            t_rope, bound, name);
    ggml_free(ctx);
}

/* Names that programs may still use. */
static void
test_rope_custom(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 48, 3, 5, 2);
    struct ggml_tensor *pos = indices(ctx, 5, 1, 1237, 100000), *t;

    rope.n_dims = 40;
    rope.mode = GGML_ROPE_TYPE_NEOX;
    rope.ext = 0.5;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    t = ggml_rope_custom(ctx, a, pos, 40, rope.mode, 4096, 10000, 0.25f, 0.5f,
                         1.25f, 32, 1);
    test_op(ctx, t, t_rope, 1e-5, "rope_custom");
    t = ggml_rope_custom_inplace(ctx, a, pos, 40, rope.mode, 4096, 10000, 0.25f,
                                 0.5f, 1.25f, 32, 1);
#pragma GCC diagnostic pop
    ok(t->view_src == a && t->op == GGML_OP_ROPE, "and in place");
    ggml_free(ctx);
}

/* Turns of one graph that share their angles, or must not: each in a graph of
 * its own gives the same. */
static void
test_rope_angles(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 48, 3, 5, 1);
    struct ggml_tensor *c = test_tensor(ctx, GGML_TYPE_F32, 24, 1, 1, 1);
    struct ggml_tensor *d = test_tensor(ctx, GGML_TYPE_F32, 24, 1, 1, 1);
    struct ggml_tensor *pos = indices(ctx, 5, 1, 1237, 100000);
    struct ggml_tensor *again = indices(ctx, 5, 1, 1237, 100000);
    struct ggml_tensor *later = indices(ctx, 5, 1, 99, 100000);
    struct ggml_tensor *few =
        ggml_view_3d(ctx, a, 48, 3, 4, a->nb[1], a->nb[2], 0);
    const int normal = GGML_ROPE_TYPE_NORMAL, neox = GGML_ROPE_TYPE_NEOX;
    struct ggml_tensor *t[] = {
        ggml_rope_ext(ctx, a, pos, NULL, 48, neox, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, pos, NULL, 48, neox, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, again, NULL, 48, neox, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 48, neox, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 48, normal, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 40, normal, 0, 1e4f, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 40, normal, 0, 500, 1, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 40, normal, 0, 500, 2, 0, 1, 0, 0),
        ggml_rope_ext(ctx, a, later, NULL, 40, normal, 0, 500, 2, 0, 3, 0, 0),
        ggml_rope_ext(ctx, a, later, c, 48, normal, 0, 500, 2, 0, 3, 0, 0),
        ggml_rope_ext(ctx, a, later, d, 48, normal, 0, 500, 2, 0, 3, 0, 0),
        ggml_rope_ext(ctx, a, later, d, 48, normal, 4096, 500, 2, .5f, 3, 32,
                      1),
        ggml_rope_ext(ctx, few, ggml_view_1d(ctx, later, 4, 0), d, 48, normal,
                      4096, 500, 2, .5f, 3, 32, 1),
    };
    enum {
        N = sizeof(t) / sizeof(t[0])
    };
    struct ggml_cgraph *all = ggml_new_graph(ctx);
    char *alone = malloc(ggml_nbytes(a));
    bool same = true;

    for (int i = 0; i < N; i++)
        ggml_build_forward_expand(all, t[i]);
    for (int i = 0; i < N; i++) {
        test_run(ctx, t[i], 1);
        memcpy(alone, t[i]->data, ggml_nbytes(t[i]));
        memset(t[i]->data, 0, ggml_nbytes(t[i]));
        same =
            same &&
            ggml_graph_compute_with_ctx(ctx, all, 2) == GGML_STATUS_SUCCESS &&
            !memcmp(alone, t[i]->data, ggml_nbytes(t[i]));
    }
    ok(same, "rope, some in a graph");
    free(alone);
    ggml_free(ctx);
}

/* YaRN by its paper: a pair that turns more than 32 times in the context keeps
 * its angle, one that turns less than once is slowed down, others lie between;
 * all are magnified. */
static void
test_yarn(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 128, 1, 1);
    struct ggml_tensor *pos = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 1), *t;
    double magnitude = 1 + 0.1 * log(8);
    bool good = true;
    int kept = 0, slowed = 0;

    ggml_set_i32_1d(pos, 0, 1);
    for (int i = 0; i < 128; i++)
        ggml_set_f32_1d(a, i, i < 64);
    t = ggml_rope_ext(ctx, a, pos, NULL, 128, GGML_ROPE_TYPE_NEOX, 4096, 10000,
                      0.125f, 1, 1, 32, 1);
    test_run(ctx, t, 1);
    for (int i = 0; i < 64; i++) {
        double x = test_at(t, i, 0, 0, 0), y = test_at(t, i + 64, 0, 0, 0);
        double full = pow(10000, -i / 64.0), turns = 4096 * full / (2 * M_PI);
        double share = atan2(y, x) / full;

        good = good && fabs(hypot(x, y) - magnitude) < 1e-6 &&
               share < 1 + 1e-5 && share > 0.125 - 1e-5;
        if (turns > 32)
            kept++, good = good && fabs(share - 1) < 1e-5;
        if (turns < 1)
            slowed++, good = good && fabs(share - 0.125) < 1e-5;
    }
    ok(good && kept > 10 && slowed > 10, "rope, YaRN's three kinds of pairs");
    ggml_free(ctx);
}

static void
test_rope(void)
{
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, 48, 0, false, 1e-6,
                   "rope");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, 48, 0, false, 1e-6,
                   "rope, neox");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, 22, 0, true, 1e-6,
                   "rope of a part, with factors");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, 48, 1, false, 1e-6,
                   "rope, YaRN");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NORMAL, 34, 0, true, 1e-6,
                   "rope of a part, with factors, in turn");
    test_rope_case(GGML_TYPE_F32, GGML_ROPE_TYPE_NEOX, 32, 0.75, true, 1e-6,
                   "rope of a part, YaRN in part, with factors, neox");
    test_yarn();
    test_rope_case(GGML_TYPE_F16, GGML_ROPE_TYPE_NORMAL, 48, 0, false, 1e-3,
                   "rope of F16");
    test_rope_custom();
    test_rope_angles();
}

/* What this back end says it cannot do. */
static void
test_supports(void)
{
    struct ggml_context *ctx = test_context();
    ggml_backend_t cpu = ggml_backend_cpu_init();
    struct ggml_tensor *k = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_K, 256, 4);
    struct ggml_tensor *w = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, 256, 4);
    struct ggml_tensor *x = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 256, 4);

    ok(ggml_backend_supports_op(cpu, ggml_mul_mat(ctx, w, x)) &&
           ggml_backend_supports_op(cpu, x) &&
           ggml_backend_supports_op(cpu, ggml_transpose(ctx, x)),
       "views, leaves and products are supported");
    ok(!ggml_backend_supports_op(cpu, ggml_mul_mat(ctx, k, x)) &&
           !ggml_backend_supports_op(cpu, ggml_cpy(ctx, x, k)),
       "types without row functions are not");
    ggml_backend_free(cpu);
    ggml_free(ctx);
}

int
main(void)
{
    test_binary();
    test_simple();
    test_unary();
    test_xielu();
    test_glu();
    test_norms();
    test_groups();
    test_argmax();
    test_pad();
    test_copies();
    test_quantised_copies();
    test_integers();
    test_repeats();
    test_get_rows();
    test_set_rows(GGML_TYPE_F32, GGML_TYPE_I64, 0);
    test_set_rows(GGML_TYPE_F16, GGML_TYPE_I32, 5e-4);
    test_set_rows(GGML_TYPE_Q8_0, GGML_TYPE_I64, 5e-3);
    test_soft_max();
    test_rope();
    test_supports();
    return tap_done();
}
