/* test_norms.c - ops on rows against the same in double precision: norms, sums,
 * soft max */
#include "truth.h"

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

/* Numbers of a row, kept for all its elements, which are read in order. */
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

/* The norm over the planes of i2's group. */
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

int
main(void)
{
    test_norms();
    test_groups();
    test_argmax();
    test_soft_max();
    return tap_done();
}
