/* test_copies.c - ops that copy elements and rows, each to its place */
#include "truth.h"

TRUTH(t_same, A)

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

/* Columns that become rows, more than a cache line has. */
static void
test_turned(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 37, 50, 2, 3);
    struct ggml_tensor *rows = test_tensor(ctx, GGML_TYPE_F32, 3, 37, 2, 3);
    struct ggml_tensor *turned = ggml_transpose(ctx, a);

    test_op(ctx, ggml_cont(ctx, turned), t_same, 0, "transposed");
    test_op(ctx, ggml_concat(ctx, rows, turned, 0), t_concat, 0,
            "concat of rows and columns");
    test_op(ctx, ggml_concat(ctx, turned, rows, 0), t_concat, 0,
            "concat of columns and rows");
    ggml_free(ctx);
}

TRUTH(t_get_rows, test_at(a, i0, (int64_t)at(b, i1, i2, i3, 0), i2, i3))

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
        test_op(ctx, ggml_get_rows(ctx, a, test_indices(ctx, 7, 2, 5, 11)),
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

int
main(void)
{
    test_pad();
    test_copies();
    test_quantised_copies();
    test_integers();
    test_repeats();
    test_turned();
    test_get_rows();
    test_set_rows(GGML_TYPE_F32, GGML_TYPE_I64, 0);
    test_set_rows(GGML_TYPE_F16, GGML_TYPE_I32, 5e-4);
    test_set_rows(GGML_TYPE_Q8_0, GGML_TYPE_I64, 5e-3);
    /* A step is max / 16 and max / 8; the other end of the range lacks one. */
    test_set_rows(GGML_TYPE_Q5_0, GGML_TYPE_I64, 1.0 / 16);
    test_set_rows(GGML_TYPE_Q4_0, GGML_TYPE_I64, 1.0 / 8);
    return tap_done();
}
