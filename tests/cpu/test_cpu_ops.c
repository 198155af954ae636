/* test_cpu_ops.c - ops on elements against the same in double precision: odd
 * shapes, strides, repeats, types */
#include "fixtures/double_unary.h"
#include "truth.h"

TRUTH(t_add, A + B)
TRUTH(t_sub, A - B)
TRUTH(t_mul, A *B)
TRUTH(t_div, A / B)
TRUTH(t_sqr, A *A)
TRUTH(t_sqrt, sqrt(A))
TRUTH(t_log, log(A))
TRUTH(t_sin, sin(A))
TRUTH(t_cos, cos(A))
TRUTH(t_leaky, A > 0 ? A : 0.125 * A)
TRUTH(t_fill, A * 0 + 0.375)
TRUTH(t_scale, A * 0.75 - 2)
TRUTH(t_clamp, fmin(0.5, fmax(-0.25, A)))

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

/* Ops that this back end says it cannot do. */
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
    test_supports();
    return tap_done();
}
