/* test_mul_mat.c - matrix products against double precision; and that an
 * element does not depend on other columns, rows and threads */
#include "cpu/kernels.h"
#include "cpu_test.h"

/* An activation as products with block weights see it: the nearest of 255
 * steps over the block of 32. Which is nearest is decided in floats. */
static double
activation(const struct ggml_tensor *x, bool blocks, int64_t i0, int64_t i1,
           int64_t i2, int64_t i3)
{
    float v = (float)test_at(x, i0, i1, i2, i3), most = 0;

    if (!blocks)
        return (double)v;
    for (int64_t j = i0 / 32 * 32; j < i0 / 32 * 32 + 32; j++)
        most = fmaxf(most, fabsf((float)test_at(x, j, i1, i2, i3)));
    if (most == 0)
        return 0;
    return (double)rintf(v * (127 / most)) * (double)most / 127;
}

/* A column, kept for all rows. */
static double column[1024];

static double
truth(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
      int64_t i3)
{
    const struct ggml_tensor *w = t->src[0], *x = t->src[1];
    double row[1024], sum = 0;

    if (i0 == 0) /* elements are requested in order */
        for (int64_t j = 0; j < w->ne[0]; j++)
            column[j] =
                activation(x, ggml_is_quantized(w->type), j, i1, i2, i3);
    test_row(w, i0, i2 / (x->ne[2] / w->ne[2]), i3 / (x->ne[3] / w->ne[3]),
             row);
    for (int64_t j = 0; j < w->ne[0]; j++)
        sum += row[j] * column[j];
    return sum;
}

static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                        GGML_TYPE_BF16, GGML_TYPE_Q8_0,
                                        GGML_TYPE_Q4_0 };

static void
test_shapes(enum ggml_type type)
{
    static const int shapes[][4] = { /* k, rows, columns, matrices */
                                     { 32, 1, 1, 1 },   { 96, 5, 1, 1 },
                                     { 64, 33, 2, 1 },  { 160, 50, 3, 2 },
                                     { 512, 70, 7, 1 }, { 224, 19, 26, 1 }
    };
    char name[80];

    for (int i = 0; i < 6; i++) {
        const int *s = shapes[i];
        struct ggml_context *ctx = test_context();
        struct ggml_tensor *w = test_tensor(ctx, type, s[0], s[1], s[3], 1);
        struct ggml_tensor *x =
            test_activations(ctx, type, s[0], s[2], 2 * s[3], 3);

        snprintf(name, sizeof(name), "%s %d x %d, %d columns",
                 ggml_type_name(type), s[0], s[1], s[2]);
        test_op(ctx, ggml_mul_mat(ctx, w, x), truth, 6e-6, name);
        ggml_free(ctx);
    }
}

/* Odd lengths exist for floats only. */
static void
test_odd(enum ggml_type type)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, type, 45, 23, 1, 1);
    struct ggml_tensor *x = test_activations(ctx, type, 45, 5, 1, 1);
    char name[80];

    snprintf(name, sizeof(name), "%s of length 45", ggml_type_name(type));
    test_op(ctx, ggml_mul_mat(ctx, w, x), truth, 3e-6, name);
    ggml_free(ctx);
}

/* Keys of a cache: [d, heads, n] seen as [d, n, heads]; queries permuted. */
static void
test_strides(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *k = test_tensor(ctx, GGML_TYPE_F16, 32, 4, 21, 1);
    struct ggml_tensor *q = test_tensor(ctx, GGML_TYPE_F32, 32, 8, 6, 1);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 32, 6, 4, 1);
    struct ggml_tensor *tq = test_tensor(ctx, GGML_TYPE_F32, 6, 32, 4, 1);
    struct ggml_tensor *kp = ggml_permute(ctx, k, 0, 2, 1, 3);

    test_op(ctx, ggml_mul_mat(ctx, kp, ggml_permute(ctx, q, 0, 2, 1, 3)), truth,
            3e-6, "permuted keys and queries, heads in groups");
    test_op(ctx, ggml_mul_mat(ctx, kp, h), truth, 3e-6, "F16 times F16");
    test_op(ctx, ggml_mul_mat(ctx, kp, ggml_transpose(ctx, tq)), truth, 3e-6,
            "columns that are not contiguous");
    ggml_free(ctx);
}

static double
nmse(const struct ggml_tensor *t)
{
    double error = 0, all = 0;

    EACH_INDEX(t)
    {
        double want = truth(t, i0, i1, i2, i3);

        error += pow(want - test_at(t, i0, i1, i2, i3), 2);
        all += want * want;
    }
    return error / all;
}

/* Experts 0 and 1 for rows 0 and 1 are the matrices' first columns. */
static bool
same_of_experts(struct ggml_context *ctx, const struct ggml_tensor *t)
{
    struct ggml_tensor *w = t->src[0], *x = t->src[1];
    struct ggml_tensor *ids = ggml_new_tensor_2d(ctx, GGML_TYPE_I32, 1, 2), *e;
    bool same = true;

    x = ggml_view_3d(ctx, x, x->ne[0], 1, 2, x->nb[1], x->nb[2], 0);
    e = ggml_mul_mat_id(ctx, w, x, ids);
    ((int32_t *)ids->data)[0] = 0;
    ((int32_t *)ids->data)[1] = 1;
    ggml_mul_mat_set_prec(e, GGML_PREC_BF16);
    test_run(ctx, e, 2);
    for (size_t i = 0; i < 2; i++)
        same = same && memcmp((char *)e->data + i * e->nb[2],
                              (char *)t->data + i * t->nb[2], t->nb[1]) == 0;
    return same;
}

/* Both sides rounded to 8 bits, a step of 2^-7: that leaves 2^-14 / 12 in the
 * mean square, over 7 / 3 of numbers from 1 to 2, so NMSE 2.2e-6 a side. Where
 * there are no such products, nothing is rounded. */
static void
test_rounded(void)
{
    bool rounds = cpu_kernels()->mul_mat_rounded.multiply != NULL;
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_F16, 1024, 67, 2, 1);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, 1024, 29, 2, 1);
    struct ggml_tensor *exact = ggml_mul_mat(ctx, w, x);
    struct ggml_tensor *r[2];
    char name[80];
    double error;

    test_run(ctx, exact, 2);
    for (int i = 0; i < 2; i++) {
        r[i] = ggml_mul_mat(ctx, w, x);
        ggml_mul_mat_set_prec(r[i], GGML_PREC_BF16);
        test_run(ctx, r[i], 1 + 2 * i);
    }
    error = nmse(r[0]);
    snprintf(name, sizeof(name), "F16 by products of BF16: NMSE %.1e", error);
    ok(error <= (rounds ? 5e-6 : 1e-12), name);
    ok(memcmp(r[0]->data, r[1]->data, ggml_nbytes(exact)) == 0,
       "the same with three threads");
    ok((memcmp(r[0]->data, exact->data, ggml_nbytes(exact)) == 0) == !rounds,
       "rounded where it was asked for only");
    ok(same_of_experts(ctx, r[0]), "experts' products as well");
    ggml_free(ctx);
}

/* Each column by itself, and each row, gives the bits of the whole. */
static void
test_invariance(enum ggml_type type, enum ggml_prec prec)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *w = test_tensor(ctx, type, 1024, 67, 1, 1);
    struct ggml_tensor *x = test_tensor(ctx, GGML_TYPE_F32, 1024, 29, 1, 1);
    struct ggml_tensor *whole = ggml_mul_mat(ctx, w, x);
    bool same = true;
    char name[80];

    ggml_mul_mat_set_prec(whole, prec);
    test_run(ctx, whole, 2);
    for (int first = 0; first < 29; first++)
        for (int n = 1; n <= 29 - first; n += n < 3 ? 1 : 5) {
            struct ggml_tensor *part =
                ggml_mul_mat(ctx, w,
                             ggml_view_2d(ctx, x, 1024, n, x->nb[1],
                                          (size_t)first * x->nb[1]));

            ggml_mul_mat_set_prec(part, prec);
            test_run(ctx, part, 1 + n % 3);
            same = same &&
                   memcmp(part->data,
                          (char *)whole->data + (size_t)first * whole->nb[1],
                          ggml_nbytes(part)) == 0;
        }
    snprintf(name, sizeof(name), "%s%s: columns do not depend on each other",
             ggml_type_name(type), prec == GGML_PREC_BF16 ? " as BF16" : "");
    ok(same, name);
    for (int first = 0; first < 67; first++) {
        struct ggml_tensor *part = ggml_mul_mat(
            ctx,
            ggml_view_2d(ctx, w, 1024, 1, w->nb[1], (size_t)first * w->nb[1]),
            x);

        ggml_mul_mat_set_prec(part, prec);
        test_run(ctx, part, 1);
        for (int j = 0; j < 29; j++)
            same = same &&
                   test_at(part, 0, j, 0, 0) == test_at(whole, first, j, 0, 0);
    }
    snprintf(name, sizeof(name), "%s%s: nor do rows", ggml_type_name(type),
             prec == GGML_PREC_BF16 ? " as BF16" : "");
    ok(same, name);
    ggml_free(ctx);
}

int
main(void)
{
    for (int i = 0; i < 5; i++) {
        test_shapes(types[i]);
        test_invariance(types[i], GGML_PREC_DEFAULT);
    }
    test_invariance(GGML_TYPE_F16, GGML_PREC_BF16);
    test_rounded();
    for (int i = 0; i < 3; i++)
        test_odd(types[i]);
    test_strides();
    return tap_done();
}
