/* test_cuda_training.c - CUDA's kernels of losses, gradients and optimiser
 * steps, by emulation or a device: see cuda/kernel_test.h */
#include <math.h>
#include <string.h>

#include "cuda/kernel_test.h"

#define F32  GGML_TYPE_F32
#define F16  GGML_TYPE_F16
#define BF16 GGML_TYPE_BF16
#define I32  GGML_TYPE_I32

/* NMSE: of what is computed in floats, of such sums in another order, as an
 * F16, as a BF16, by TF32 on a device */
#define IN_F32  1e-12
#define SUMS    1e-11
#define IN_F16  1e-6
#define IN_BF16 1e-5
#define IN_TF32 1e-6

static struct ggml_tensor *
floats(struct ggml_context *ctx, int64_t ne0, int64_t ne1, int64_t ne2,
       int64_t ne3)
{
    return kt_tensor(ctx, F32, ne0, ne1, ne2, ne3);
}

static void
test_sums(void)
{
    static const int widths[] = { 1, 33, 64, 1000, 3000 };
    struct ggml_context *ctx;

    for (int i = 0; i < 5; i++) {
        struct ggml_tensor *x;

        ctx = kt_begin();
        x = floats(ctx, widths[i], 3, 2, 5);
        kt_check(ctx, ggml_mean(ctx, x), SUMS, "MEAN of %d", widths[i]);
        kt_check(ctx, ggml_sum(ctx, x), SUMS, "SUM of 30 x %d", widths[i]);
        kt_check(ctx, ggml_cumsum(ctx, x), IN_F32, "CUMSUM of %d", widths[i]);
        kt_check(ctx, ggml_l2_norm(ctx, x, 0.01f), IN_F32, "L2_NORM of %d",
                 widths[i]);
        kt_end(ctx);
    }
    ctx = kt_begin();
    kt_check(ctx, ggml_sum(ctx, ggml_transpose(ctx, floats(ctx, 7, 5, 2, 1))),
             SUMS, "SUM of a transposed");
    kt_check(ctx, ggml_l2_norm(ctx, floats(ctx, 9, 3, 1, 1), 100), IN_F32,
             "L2_NORM of rows shorter than epsilon");
    kt_check(ctx,
             ggml_add1(ctx, floats(ctx, 70, 3, 2, 1), floats(ctx, 1, 1, 1, 1)),
             0, "ADD1");
    kt_end(ctx);
}

static void
test_classes(void)
{
    static const int widths[] = { 1, 70, 5000 };
    struct ggml_context *ctx;
    struct ggml_tensor *a, *b;
    float *v;

    for (int i = 0; i < 3; i++) {
        ctx = kt_begin();
        a = floats(ctx, widths[i], 7, 1, 1);
        v = a->data;
        for (int j = 0; j < widths[i]; j += 3) /* equals, NaN */
            v[j] = j % 2 ? 2 : NAN;
        kt_check(ctx, ggml_argmax(ctx, a), 0, "ARGMAX of %d", widths[i]);
        kt_end(ctx);
    }
    ctx = kt_begin();
    a = kt_numbers(ctx, I32, 3, 5000, 7, 1);
    b = kt_numbers(ctx, I32, 3, 5000, 7, 1);
    ((int32_t *)a->data)[0] = 1 << 24;
    ((int32_t *)b->data)[0] = (1 << 24) + 1;
    kt_check(ctx, ggml_count_equal(ctx, a, b), 0, "COUNT_EQUAL of 35000");
    kt_check(ctx,
             ggml_count_equal(ctx, ggml_view_2d(ctx, a, 20, 7, a->nb[1], 0),
                              ggml_view_2d(ctx, b, 20, 7, b->nb[1], 80)),
             0, "COUNT_EQUAL of views");
    kt_end(ctx);
}

static void
test_parts(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *a = floats(ctx, 40, 6, 5, 2);
    struct ggml_tensor *b = floats(ctx, 11, 3, 4, 2);
    struct ggml_tensor *n = kt_numbers(ctx, I32, 1 << 30, 40, 6, 1);
    size_t at = a->nb[2] + a->nb[1] + 12;

    kt_check(ctx, ggml_acc(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], at), 0,
             "ACC");
    kt_check(ctx, ggml_set(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], 4), 0,
             "SET");
    kt_check(ctx, ggml_set_1d(ctx, a, floats(ctx, 3, 1, 1, 1), 8), 0,
             "SET of a vector");
    kt_check(ctx,
             ggml_set_2d(ctx, n, kt_numbers(ctx, I32, 1 << 30, 5, 2, 1),
                         n->nb[1], 16),
             0, "SET of integers");
    kt_check(ctx, ggml_acc_inplace(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], at),
             0, "ACC in place");
    kt_check(ctx, ggml_set_inplace(ctx, a, b, a->nb[1], a->nb[2], a->nb[3], at),
             0, "SET in place");
    kt_end(ctx);
}

static void
test_rows(int width)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *g = floats(ctx, width, 3, 2, 2);
    struct ggml_tensor *x = floats(ctx, width, 3, 2, 2);
    struct ggml_tensor *y = ggml_soft_max(ctx, x);

    kt_check(ctx, ggml_silu_back(ctx, g, x), IN_F32, "SILU_BACK of %d", width);
    kt_check(ctx, ggml_rms_norm_back(ctx, g, x, 1e-3f), SUMS,
             "RMS_NORM_BACK of %d", width);
    kt_check(ctx, ggml_soft_max_ext_back(ctx, g, y, 0.7f, 0), SUMS,
             "SOFT_MAX_BACK of %d", width);
    kt_check(ctx, ggml_soft_max_ext_back_inplace(ctx, g, y, 0.7f, 0), SUMS,
             "SOFT_MAX_BACK of %d in place", width);
    kt_end(ctx);
}

static void
test_repeat_back(void)
{
    /* of what, to what */
    static const int shapes[][8] = {
        { 33, 5, 2, 3, 33, 1, 1, 1 },    { 40, 3000, 1, 1, 40, 1, 1, 1 },
        { 24, 6, 4, 2, 8, 3, 2, 1 },     { 5000, 3, 2, 1, 1, 1, 1, 1 },
        { 70, 6, 5, 1, 1, 6, 1, 1 },     { 130, 4, 3, 2, 130, 4, 3, 2 },
        { 256, 8, 40, 1, 256, 1, 40, 1 }
    };

    for (int i = 0; i < 7; i++) {
        struct ggml_context *ctx = kt_begin();
        const int *s = shapes[i];
        struct ggml_tensor *x = floats(ctx, s[0], s[1], s[2], s[3]);
        struct ggml_tensor *y = floats(ctx, s[4], s[5], s[6], s[7]);

        kt_check(ctx, ggml_repeat_back(ctx, x, y), SUMS,
                 "REPEAT_BACK of %d x %d x %d x %d to %d x %d x %d x %d", s[0],
                 s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
        kt_end(ctx);
    }
}

/* Rows that none, one, or several are for. */
static void
test_get_rows_back(int width, int rows, int n)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *g = floats(ctx, width, n, 1, 1);
    struct ggml_tensor *ids = kt_numbers(ctx, I32, rows, n, 1, 1);

    kt_check(ctx,
             ggml_get_rows_back(ctx, g, ids, floats(ctx, width, rows, 1, 1)),
             IN_F32, "GET_ROWS_BACK of %d to %d rows of %d", n, rows, width);
    kt_end(ctx);
}

static void
test_attention_back(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = floats(ctx, 40, 3, 5, 2);
    struct ggml_tensor *pos = kt_numbers(ctx, I32, 100000, 5, 1, 1);
    struct ggml_tensor *factors = floats(ctx, 16, 1, 1, 1);

    kt_check(ctx,
             ggml_rope_ext_back(ctx, x, pos, NULL, 40, 0, 4096, 10000, 1, 0, 1,
                                32, 1),
             IN_F32, "ROPE_BACK");
    kt_check(ctx,
             ggml_rope_ext_back(ctx, x, pos, factors, 32, GGML_ROPE_TYPE_NEOX,
                                4096, 50000, 0.25f, 1, 1.1f, 32, 1),
             IN_F32, "ROPE_BACK with YaRN and divisors, NEOX, of a part");
    kt_check(ctx, ggml_diag_mask_zero(ctx, x, 2), 0, "DIAG_MASK_ZERO");
    kt_end(ctx);
}

/* Half of the labels are one-hot, half are distributions; a row has none. */
static void
test_loss(int width, int rows)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = floats(ctx, width, rows, 1, 1);
    struct ggml_tensor *labels = floats(ctx, width, rows, 1, 1);
    float *p = labels->data;

    for (int64_t i = 0; i < ggml_nelements(labels); i++)
        p[i] = i / width % 3 == 2   ? 0
               : i / width % 3 == 1 ? (1 + p[i]) / (float)width
                                    : (float)(i % width == 5 % width);
    if (width > 8)
        ((float *)x->data)[7] = -INFINITY; /* it has no label */
    kt_check(ctx, ggml_cross_entropy_loss(ctx, x, labels), SUMS,
             "CROSS_ENTROPY_LOSS of %d x %d", width, rows);
    kt_check(
        ctx,
        ggml_cross_entropy_loss_back(ctx, floats(ctx, 1, 1, 1, 1), x, labels),
        SUMS, "CROSS_ENTROPY_LOSS_BACK of %d x %d", width, rows);
    kt_end(ctx);
}

static struct ggml_tensor *
vector(struct ggml_context *ctx, const float *values, int n)
{
    struct ggml_tensor *t = floats(ctx, n, 1, 1, 1);

    memcpy(t->data, values, (size_t)n * sizeof(*values));
    return t;
}

/* Both moments lie in one tensor, so that both are compared. */
static void
test_steps(void)
{
    static const float options[] = { 0.01f, 0.9f,  0.999f, 1e-6f,
                                     0.1f,  10.0f, 1000.0f };
    static const float sgd[] = { 0.3f, 0.1f };
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *w = floats(ctx, 300, 7, 1, 1);
    struct ggml_tensor *g = floats(ctx, 300, 7, 1, 1);
    struct ggml_tensor *all = floats(ctx, 300, 14, 1, 1), *moments, *m, *v;

    ggml_set_param(w);
    for (int i = 300 * 7; i < 300 * 14; i++)
        ((float *)all->data)[i] = fabsf(((float *)all->data)[i]);
    moments = ggml_view_2d(ctx, all, 300, 14, all->nb[1], 0);
    m = ggml_view_2d(ctx, moments, 300, 7, all->nb[1], 0);
    v = ggml_view_2d(ctx, moments, 300, 7, all->nb[1], 7 * all->nb[1]);
    kt_check_both(ctx,
                  ggml_opt_step_adamw(ctx, w, g, m, v, vector(ctx, options, 7)),
                  moments, IN_F32, "OPT_STEP_ADAMW");
    kt_check(ctx, ggml_opt_step_sgd(ctx, w, g, vector(ctx, sgd, 2)), IN_F32,
             "OPT_STEP_SGD");
    kt_end(ctx);
}

/* b as it is, and as what was transposed. */
static void
multiply(enum ggml_type type, int n, int m, int k, int p, int q, bool turned)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *a = kt_tensor(ctx, type, n, k, p, 1);
    struct ggml_tensor *b = turned
                                ? ggml_transpose(ctx, floats(ctx, k, m, q, 2))
                                : floats(ctx, m, k, q, 2);

    kt_check(ctx, ggml_out_prod(ctx, a, b), kt_on_device() ? IN_TF32 : SUMS,
             "OUT_PROD of %s, %d x %d over %d, %d matrices of %d%s",
             ggml_type_name(type), n, m, k, q, p, turned ? ", transposed" : "");
    kt_end(ctx);
}

static void
test_out_prod(void)
{
    static const enum ggml_type types[] = { F32,
                                            F16,
                                            BF16,
                                            GGML_TYPE_Q8_0,
                                            GGML_TYPE_Q4_0,
                                            GGML_TYPE_Q4_K,
                                            GGML_TYPE_Q6_K,
                                            GGML_TYPE_IQ4_XS };
    struct ggml_context *ctx;

    for (int i = 0; i < 8; i++) {
        multiply(types[i], 256, 7, 5, 1, 1, false);
        multiply(types[i], 256, 5, 130, 2, 4, true); /* three parts of k */
        multiply(types[i], 512, 1, 66, 2, 2, false);
    }
    multiply(F32, 33, 9, 1, 3, 3, true);
    multiply(F32, 1, 9, 7, 1, 2, false);
    ctx = kt_begin();
    kt_check(
        ctx,
        ggml_out_prod(ctx, floats(ctx, 12, 5, 4, 2),
                      ggml_permute(ctx, floats(ctx, 9, 4, 5, 2), 0, 2, 1, 3)),
        SUMS, "OUT_PROD of permuted heads");
    kt_check(ctx,
             ggml_out_prod(ctx, floats(ctx, 12, 5, 1, 1),
                           kt_tensor(ctx, F16, 9, 5, 1, 1)),
             SUMS, "OUT_PROD with F16");
    kt_check(
        ctx,
        ggml_out_prod(ctx, floats(ctx, 12, 5, 1, 1),
                      ggml_view_2d(ctx, floats(ctx, 18, 5, 1, 1), 9, 5, 72, 8)),
        SUMS, "OUT_PROD with a part of rows");
    kt_end(ctx);
}

static void
test_images(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *image = floats(ctx, 13, 11, 3, 2);
    struct ggml_tensor *kernel = floats(ctx, 4, 3, 3, 2);
    struct ggml_tensor *line = floats(ctx, 40, 3, 2, 1);
    struct ggml_tensor *of_line = floats(ctx, 5, 3, 7, 1), *y;
    struct ggml_tensor *equal = floats(ctx, 13, 11, 2, 1);

    for (int i = 0; i < 13 * 11 * 2; i++)
        ((float *)equal->data)[i] = (float)(i * 5 % 7);
    kt_check(ctx, ggml_im2col(ctx, kernel, image, 2, 1, 2, 1, 1, 2, true, F32),
             0, "IM2COL");
    kt_check(ctx, ggml_im2col(ctx, kernel, image, 1, 1, 0, 0, 1, 1, true, F16),
             0, "IM2COL to F16");
    y = ggml_im2col(ctx, of_line, line, 3, 0, 2, 0, 2, 0, false, F32);
    kt_check(ctx, y, 0, "IM2COL of lines");
    kt_check(ctx,
             ggml_im2col_back(ctx, floats(ctx, y->ne[0], y->ne[1], y->ne[2], 1),
                              of_line, line->ne, 3, 0, 2, 0, 2, 0, false),
             IN_F32, "IM2COL_BACK of lines");
    y = ggml_im2col(ctx, kernel, image, 2, 1, 2, 1, 1, 2, true, F32);
    kt_check(ctx,
             ggml_im2col_back(
                 ctx, floats(ctx, y->ne[0], y->ne[1], y->ne[2], y->ne[3]),
                 kernel, image->ne, 2, 1, 2, 1, 1, 2, true),
             IN_F32, "IM2COL_BACK");
    for (int op = 0; op < GGML_OP_POOL_COUNT; op++) {
        enum ggml_op_pool pool = (enum ggml_op_pool)op;
        const char *name = op == GGML_OP_POOL_MAX ? "greatest" : "mean";

        y = ggml_pool_2d(ctx, image, pool, 3, 4, 2, 3, 1, 2);
        kt_check(ctx, y, IN_F32, "POOL_2D, the %s", name);
        kt_check(ctx,
                 ggml_pool_2d_back(
                     ctx, floats(ctx, y->ne[0], y->ne[1], y->ne[2], y->ne[3]),
                     image, pool, 3, 4, 2, 3, 1, 2),
                 IN_F32, "POOL_2D_BACK, the %s", name);
        kt_check(ctx,
                 ggml_pool_2d_back(ctx, floats(ctx, 6, 5, 2, 1), equal, pool, 3,
                                   3, 2, 2, 0, 0),
                 IN_F32, "POOL_2D_BACK, the %s of equals", name);
    }
    kt_end(ctx);
}

static void
test_pad(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *x = kt_tensor(ctx, F32, 5, 4, 3, 2);
    struct ggml_tensor *h = kt_tensor(ctx, F16, 7, 2, 3, 1);
    struct ggml_tensor *view = ggml_permute(ctx, x, 1, 0, 2, 3);

    kt_check(ctx, ggml_pad(ctx, x, 3, 2, 0, 1), IN_F32, "PAD at the ends");
    kt_check(ctx, ggml_pad_ext(ctx, x, 2, 1, 0, 3, 1, 1, 1, 0), IN_F32,
             "PAD around");
    kt_check(ctx, ggml_pad_circular(ctx, x, 3, 2, 1, 0), IN_F32,
             "PAD with copies");
    kt_check(ctx, ggml_pad_ext(ctx, h, 40, 30, 1, 1, 0, 0, 0, 0), IN_F16,
             "PAD of F16");
    kt_check(ctx, ggml_pad_ext(ctx, view, 1, 2, 3, 4, 0, 0, 0, 0), IN_F32,
             "PAD of a view");
    kt_end(ctx);
}

static void
test_rope_back_sections(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *pos = kt_numbers(ctx, I32, 9, 16, 1, 1);
    int sections[] = { 1, 1, 1, 1 };

    kt_check(ctx,
             ggml_rope_multi_back(ctx, floats(ctx, 8, 1, 4, 1), pos, NULL, 8,
                                  sections, GGML_ROPE_TYPE_MROPE, 64, 10000, 1,
                                  0, 1, 32, 1),
             IN_F32, "ROPE_BACK of several positions");
    kt_end(ctx);
}

/* Ops that these kernels do not compute are another back end's. */
static void
test_refused(void)
{
    struct ggml_context *ctx = kt_begin();
    struct ggml_tensor *a = floats(ctx, 8, 4, 1, 1);

    kt_ok(!kt_supports(ggml_acc(ctx, a, kt_numbers(ctx, I32, 9, 8, 4, 1),
                                a->nb[1], a->nb[2], a->nb[3], 0)),
          "ACC of integers is refused");
    kt_end(ctx);
}

int
main(void)
{
    kt_start();
    test_sums();
    test_classes();
    test_parts();
    test_rows(1);
    test_rows(33);
    test_rows(1500);
    test_repeat_back();
    test_get_rows_back(40, 9, 30);
    test_get_rows_back(300, 500, 64);
    test_get_rows_back(3, 7, 1);
    test_attention_back();
    test_loss(1, 2);
    test_loss(70, 9);
    test_loss(5000, 3);
    test_steps();
    test_out_prod();
    test_images();
    test_pad();
    test_rope_back_sections();
    test_refused();
    return kt_done();
}
