/* test_windows.c - diagonals, triangles, windows, quantised rows one after
 * another: where each element comes from */
#include "cpu_test.h"

static double
t_diag(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    return i0 == i1 ? test_at(t->src[0], i0, 0, i2, i3) : 0;
}

static double
t_mask_zero(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
            int64_t i3)
{
    return i0 > t->op_params[0] + i1 ? 0 : test_at(t->src[0], i0, i1, i2, i3);
}

static void
test_diagonals(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 9, 1, 3, 2);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 9, 1, 3, 1);
    struct ggml_tensor *wide = test_tensor(ctx, GGML_TYPE_F32, 3, 9, 1, 1);
    struct ggml_tensor *apart = ggml_transpose(ctx, wide);
    struct ggml_tensor *m = test_tensor(ctx, GGML_TYPE_F32, 19, 7, 2, 3);

    test_op(ctx, ggml_diag(ctx, a), t_diag, 0, "diag");
    test_op(ctx, ggml_diag(ctx, h), t_diag, 0, "diag of F16");
    test_op(ctx,
            ggml_diag(ctx, ggml_view_2d(ctx, apart, 9, 1, apart->nb[1], 4)),
            t_diag, 0, "diag of elements apart");
    test_op(ctx, ggml_diag_mask_zero(ctx, m, 3), t_mask_zero, 0,
            "diag_mask_zero");
    ggml_free(ctx);
}

static double
t_tri(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
      int64_t i3)
{
    bool keep[] = {
        [GGML_TRI_TYPE_UPPER_DIAG] = i0 >= i1,
        [GGML_TRI_TYPE_UPPER] = i0 > i1,
        [GGML_TRI_TYPE_LOWER_DIAG] = i0 <= i1,
        [GGML_TRI_TYPE_LOWER] = i0 < i1,
    };

    return keep[t->op_params[0]] ? test_at(t->src[0], i0, i1, i2, i3) : 0;
}

static void
test_triangles(void)
{
    static const char *const names[] = { "upper with diagonal", "upper",
                                         "lower with diagonal", "lower" };
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 13, 13, 3, 2);

    for (int i = 0; i < 4; i++)
        test_op(ctx, ggml_tri(ctx, a, (enum ggml_tri_type)i), t_tri, 0,
                names[i]);
    ggml_free(ctx);
}

/* Window i3 of a line of `across`, all of w x w. */
static int64_t across, side;

static double
t_part(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t x = i3 % across * side + i1, y = i3 / across * side + i2;

    return x < a->ne[1] && y < a->ne[2] ? test_at(a, i0, x, y, 0) : 0;
}

static double
t_same(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    return test_at(t->src[0]->src[0], i0, i1, i2, i3);
}

static void
test_windows(int64_t width, int64_t height, int w, int64_t n)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a =
        test_tensor(ctx, GGML_TYPE_F32, 5, width, height, 1);
    struct ggml_tensor *t = ggml_win_part(ctx, a, w);
    char name[60];

    side = w;
    across = (width + w - 1) / w;
    snprintf(name, sizeof(name), "%d x %d in windows of %d", (int)width,
             (int)height, w);
    is(t->ne[3], n, name);
    test_op(ctx, t, t_part, 0, "windows");
    test_op(ctx, ggml_win_unpart(ctx, t, (int)width, (int)height, w), t_same, 0,
            "and back");
    ggml_free(ctx);
}

static double
t_concat(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
         int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t i[4] = { i0, i1, i2, i3 };
    int dim = t->op_params[0];

    if (i[dim] < a->ne[dim])
        return test_at(a, i0, i1, i2, i3);
    i[dim] -= a->ne[dim];
    return test_at(t->src[1], i[0], i[1], i[2], i[3]);
}

static void
test_quantised(enum ggml_type type, int64_t n)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, type, 2 * n, 3, 2, 2);

    for (int dim = 0; dim < 4; dim++) {
        int64_t ne[4] = { 2 * n, 3, 2, 2 };
        char name[60];

        ne[dim] = dim ? 4 : n;
        snprintf(name, sizeof(name), "concat of %s in dimension %d",
                 ggml_type_name(type), dim);
        test_op(ctx,
                ggml_concat(ctx, a,
                            test_tensor(ctx, type, ne[0], ne[1], ne[2], ne[3]),
                            dim),
                t_concat, 0, name);
    }
    ggml_free(ctx);
}

int
main(void)
{
    test_diagonals();
    test_triangles();
    test_windows(9, 7, 4, 6);
    test_windows(8, 4, 4, 2);
    test_windows(3, 11, 5, 3);
    test_quantised(GGML_TYPE_Q8_0, 32);
    test_quantised(GGML_TYPE_Q4_1, 32);
    test_quantised(GGML_TYPE_Q6_K, 256);
    return tap_done();
}
