/* test_conv.c - convolutions and pooling against sums in double precision */
#include "cpu_test.h"

/* The op that is tested: kernel a over b, [0] along the width. */
static struct {
    const struct ggml_tensor *a, *b;
    int s[2], p[2], d[2], k[2];
    bool half; /* b is rounded to F16 on the way */
    enum ggml_op_pool pool;
} c;

static double
rounded(double x)
{
    return c.half ? (double)ggml_fp16_to_fp32(ggml_fp32_to_fp16((float)x)) : x;
}

/* b, with zeros around it. */
static double
image(int64_t x, int64_t y, int64_t channel, int64_t n)
{
    bool in = x >= 0 && x < c.b->ne[0] && y >= 0 && y < c.b->ne[1];

    return in ? rounded(test_at(c.b, x, y, channel, n)) : 0;
}

static double
signal_at(int64_t x, int64_t channel, int64_t n)
{
    bool in = x >= 0 && x < c.b->ne[0];

    return in ? rounded(test_at(c.b, x, channel, n, 0)) : 0;
}

static int64_t
place(int dim, int64_t out, int64_t k)
{
    return out * c.s[dim] + k * c.d[dim] - c.p[dim];
}

static double
t_im2col_2d(const struct ggml_tensor *t, int64_t i, int64_t x, int64_t y,
            int64_t n)
{
    int64_t kw = c.a->ne[0], kh = c.a->ne[1];

    (void)t;
    return image(place(0, x, i % kw), place(1, y, i / kw % kh), i / (kw * kh),
                 n);
}

static double
t_im2col_1d(const struct ggml_tensor *t, int64_t i, int64_t x, int64_t n,
            int64_t none)
{
    (void)t, (void)none;
    return signal_at(place(0, x, i % c.a->ne[0]), i / c.a->ne[0], n);
}

static double
t_conv_2d(const struct ggml_tensor *t, int64_t x, int64_t y, int64_t out,
          int64_t n)
{
    double sum = 0;

    (void)t;
    for (int64_t ch = 0; ch < c.a->ne[2]; ch++)
        for (int64_t ky = 0; ky < c.a->ne[1]; ky++)
            for (int64_t kx = 0; kx < c.a->ne[0]; kx++)
                sum += test_at(c.a, kx, ky, ch, out) *
                       image(place(0, x, kx), place(1, y, ky), ch, n);
    return sum;
}

static double
t_dw_2d(const struct ggml_tensor *t, int64_t x, int64_t y, int64_t ch,
        int64_t n)
{
    double sum = 0;

    (void)t;
    for (int64_t ky = 0; ky < c.a->ne[1]; ky++)
        for (int64_t kx = 0; kx < c.a->ne[0]; kx++)
            sum += test_at(c.a, kx, ky, 0, ch) *
                   image(place(0, x, kx), place(1, y, ky), ch, n);
    return sum;
}

static double
t_conv_1d(const struct ggml_tensor *t, int64_t x, int64_t out, int64_t n,
          int64_t none)
{
    double sum = 0;

    (void)t, (void)none;
    for (int64_t ch = 0; ch < c.a->ne[1]; ch++)
        for (int64_t k = 0; k < c.a->ne[0]; k++)
            sum +=
                test_at(c.a, k, ch, out, 0) * signal_at(place(0, x, k), ch, n);
    return sum;
}

static double
t_dw_1d(const struct ggml_tensor *t, int64_t x, int64_t ch, int64_t n,
        int64_t none)
{
    double sum = 0;

    (void)t, (void)n, (void)none;
    for (int64_t k = 0; k < c.a->ne[0]; k++)
        sum += test_at(c.a, k, 0, ch, 0) * signal_at(place(0, x, k), ch, 0);
    return sum;
}

/* The sum that lands on an element: sources a multiple of the stride before. */
static double
t_transpose_2d(const struct ggml_tensor *t, int64_t x, int64_t y, int64_t out,
               int64_t n)
{
    double sum = 0;

    (void)t;
    for (int64_t ky = 0; ky < c.a->ne[1]; ky++)
        for (int64_t kx = 0; kx < c.a->ne[0]; kx++)
            for (int64_t ch = 0; ch < c.b->ne[2]; ch++)
                if (x >= kx && y >= ky && (x - kx) % c.s[0] == 0 &&
                    (y - ky) % c.s[0] == 0)
                    sum += test_at(c.a, kx, ky, out, ch) *
                           image((x - kx) / c.s[0], (y - ky) / c.s[0], ch, n);
    return sum;
}

static double
t_transpose_1d(const struct ggml_tensor *t, int64_t x, int64_t out, int64_t n,
               int64_t none)
{
    double sum = 0;

    (void)t, (void)n, (void)none;
    for (int64_t k = 0; k < c.a->ne[0]; k++)
        for (int64_t ch = 0; ch < c.b->ne[1]; ch++)
            if (x >= k && (x - k) % c.s[0] == 0)
                sum += test_at(c.a, k, out, ch, 0) *
                       signal_at((x - k) / c.s[0], ch, 0);
    return sum;
}

static void
set(const struct ggml_tensor *a, const struct ggml_tensor *b, int s, int p,
    int d)
{
    c.a = a;
    c.b = b;
    c.s[0] = s;
    c.s[1] = 1;
    c.p[0] = p;
    c.p[1] = 2;
    c.d[0] = d;
    c.d[1] = 2;
    c.half = true;
}

static void
test_im2col(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 3, 2, 4, 1);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 11, 7, 4, 3);
    struct ggml_tensor *tr = ggml_permute(
        ctx, test_tensor(ctx, GGML_TYPE_F16, 7, 11, 3, 4), 1, 0, 3, 2);
    struct ggml_tensor *a1 = test_tensor(ctx, GGML_TYPE_F16, 5, 6, 1, 1);
    struct ggml_tensor *b1 = test_tensor(ctx, GGML_TYPE_F32, 19, 6, 3, 1);
    struct ggml_tensor *few = test_tensor(ctx, GGML_TYPE_F32, 2, 2, 4, 1);

    set(a, b, 2, 1, 1);
    test_op(ctx, ggml_im2col(ctx, a, b, 2, 1, 1, 2, 1, 2, true, GGML_TYPE_F16),
            t_im2col_2d, 0, "im2col as F16");
    c.half = false;
    test_op(ctx, ggml_im2col(ctx, a, b, 2, 1, 1, 2, 1, 2, true, GGML_TYPE_F32),
            t_im2col_2d, 0, "im2col as F32");
    c.b = tr;
    test_op(ctx, ggml_im2col(ctx, a, tr, 2, 1, 1, 2, 1, 2, true, GGML_TYPE_F32),
            t_im2col_2d, 0, "im2col of a permuted, of F16");
    set(a1, b1, 1, 4, 3);
    test_op(ctx,
            ggml_im2col(ctx, a1, b1, 1, 0, 4, 0, 3, 0, false, GGML_TYPE_F16),
            t_im2col_1d, 0, "im2col of one dimension");
    set(a, few, 1, 5, 4);
    test_op(ctx,
            ggml_im2col(ctx, a, few, 1, 1, 5, 2, 4, 2, true, GGML_TYPE_F16),
            t_im2col_2d, 0, "im2col of fewer elements than a dilation");
    ggml_free(ctx);
}

static void
test_convolutions(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F16, 3, 2, 4, 5);
    struct ggml_tensor *bf = test_tensor(ctx, GGML_TYPE_BF16, 3, 2, 4, 5);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 11, 7, 4, 3);
    struct ggml_tensor *a1 = test_tensor(ctx, GGML_TYPE_F16, 5, 6, 7, 1);
    struct ggml_tensor *b1 = test_tensor(ctx, GGML_TYPE_F32, 19, 6, 3, 1);
    struct ggml_tensor *dw1 = test_tensor(ctx, GGML_TYPE_F16, 5, 1, 6, 1);
    struct ggml_tensor *b2 = test_tensor(ctx, GGML_TYPE_F32, 19, 6, 1, 1);
    struct ggml_tensor *dw = test_tensor(ctx, GGML_TYPE_F16, 3, 2, 1, 4);
    struct ggml_tensor *sq = test_tensor(ctx, GGML_TYPE_F16, 2, 2, 4, 5);

    set(a, b, 2, 1, 1);
    test_op(ctx, ggml_conv_2d(ctx, a, b, 2, 1, 1, 2, 1, 2), t_conv_2d, 2e-6,
            "conv_2d");
    c.a = bf;
    c.half = false;
    test_op(ctx, ggml_conv_2d(ctx, bf, b, 2, 1, 1, 2, 1, 2), t_conv_2d, 2e-6,
            "conv_2d of BF16");
    set(a1, b1, 2, 3, 2);
    test_op(ctx, ggml_conv_1d(ctx, a1, b1, 2, 3, 2), t_conv_1d, 2e-6,
            "conv_1d");
    set(a1, b1, 1, 2, 1);
    test_op(ctx, ggml_conv_1d_ph(ctx, a1, b1, 1, 1), t_conv_1d, 2e-6,
            "conv_1d, half padded");
    set(dw1, b2, 2, 3, 2);
    test_op(ctx, ggml_conv_1d_dw(ctx, dw1, b2, 2, 3, 2), t_dw_1d, 2e-6,
            "conv_1d_dw");
    set(dw1, b2, 1, 2, 1);
    test_op(ctx, ggml_conv_1d_dw_ph(ctx, dw1, b2, 1, 1), t_dw_1d, 2e-6,
            "conv_1d_dw, half padded");
    set(dw, b, 2, 1, 1);
    test_op(ctx, ggml_conv_2d_dw(ctx, dw, b, 2, 1, 1, 2, 1, 2), t_dw_2d, 2e-6,
            "conv_2d_dw");
    set(sq, b, 1, 1, 1);
    c.p[1] = c.d[1] = 1;
    test_op(ctx, ggml_conv_2d_s1_ph(ctx, sq, b), t_conv_2d, 2e-6,
            "conv_2d, half padded");
    set(sq, b, 2, 0, 1);
    c.s[1] = 2;
    c.p[1] = 0;
    c.d[1] = 1;
    test_op(ctx, ggml_conv_2d_sk_p0(ctx, sq, b), t_conv_2d, 2e-6,
            "conv_2d in steps of the kernel");
    ggml_free(ctx);
}

static void
test_depthwise(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 3, 2, 1, 21);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 3, 2, 1, 21);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 41, 7, 21, 2);
    struct ggml_tensor *inner = ggml_permute(
        ctx, test_tensor(ctx, GGML_TYPE_F32, 21, 41, 7, 2), 2, 0, 1, 3);
    struct ggml_tensor *of_inner = ggml_permute(
        ctx, test_tensor(ctx, GGML_TYPE_F32, 21, 3, 2, 1), 3, 0, 1, 2);
    struct ggml_tensor *t;

    set(a, b, 2, 1, 1);
    c.half = false;
    test_op(ctx, ggml_conv_2d_dw_direct(ctx, a, b, 2, 1, 1, 2, 1, 2), t_dw_2d,
            1e-6, "conv_2d_dw_direct");
    set(h, b, 1, 4, 3);
    c.half = false;
    test_op(ctx, ggml_conv_2d_dw_direct(ctx, h, b, 1, 1, 4, 2, 3, 2), t_dw_2d,
            1e-6, "conv_2d_dw_direct, a kernel of F16");
    set(of_inner, inner, 2, 1, 1);
    c.half = false;
    t = ggml_conv_2d_dw_direct(ctx, of_inner, inner, 2, 1, 1, 2, 1, 2);
    ok(ggml_is_contiguous_channels(t), "channels stay innermost");
    test_op(ctx, t, t_dw_2d, 1e-6, "conv_2d_dw_direct, channels innermost");
    c.a = h;
    test_op(ctx, ggml_conv_2d_dw_direct(ctx, h, inner, 2, 1, 1, 2, 1, 2),
            t_dw_2d, 1e-6,
            "conv_2d_dw_direct, channels innermost but the kernel's");
    ggml_free(ctx);
}

static void
test_transposed(enum ggml_type type, const char *name1, const char *name2)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, type, 3, 2, 5, 4);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 11, 7, 4, 3);
    struct ggml_tensor *a1 = test_tensor(ctx, type, 5, 7, 6, 1);
    struct ggml_tensor *b1 = test_tensor(ctx, GGML_TYPE_F32, 19, 6, 1, 1);

    set(a1, b1, 3, 0, 1);
    c.half = false;
    test_op(ctx, ggml_conv_transpose_1d(ctx, a1, b1, 3, 0, 1), t_transpose_1d,
            1e-6, name1);
    set(a, b, 2, 0, 1);
    c.half = false;
    test_op(ctx, ggml_conv_transpose_2d_p0(ctx, a, b, 2), t_transpose_2d, 1e-6,
            name2);
    ggml_free(ctx);
}

/* The greatest or the sum in a window, and how many elements it has. */
static double
window(int64_t x, int64_t y, int64_t ch, int64_t n, bool flat)
{
    double most = -INFINITY, sum = 0;
    int inside = 0;

    for (int j = 0; j < (flat ? 1 : c.k[1]); j++)
        for (int i = 0; i < c.k[0]; i++) {
            int64_t ix = x * c.s[0] - c.p[0] + i;
            int64_t iy = flat ? y : y * c.s[1] - c.p[1] + j;

            if (ix < 0 || ix >= c.b->ne[0] || iy < 0 || iy >= c.b->ne[1])
                continue;
            inside++;
            sum += test_at(c.b, ix, iy, ch, n);
            most = fmax(most, test_at(c.b, ix, iy, ch, n));
        }
    if (c.pool == GGML_OP_POOL_MAX)
        return most;
    return sum / (flat ? inside : c.k[0] * c.k[1]);
}

static double
t_pool_1d(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    (void)t;
    return window(i0, i1, i2, i3, true);
}

static double
t_pool_2d(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    (void)t;
    return window(i0, i1, i2, i3, false);
}

static void
test_pool(enum ggml_op_pool pool, enum ggml_type type, const char *name1,
          const char *name2)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *b = test_tensor(ctx, type, 23, 10, 3, 2);
    struct ggml_tensor *t;

    set(NULL, b, 2, 1, 1);
    c.pool = pool;
    c.k[0] = 3;
    c.k[1] = 2;
    c.p[1] = 1;
    c.s[1] = 3;
    test_op(ctx, ggml_pool_1d(ctx, b, pool, 3, 2, 1), t_pool_1d, 2e-7, name1);
    t = ggml_pool_2d(ctx, b, pool, 3, 2, 2, 3, 1, 1);
    ok(t->ne[0] == 12 && t->ne[1] == 4, "places of a window");
    test_op(ctx, t, t_pool_2d, 2e-7, name2);
    ggml_free(ctx);
}

int
main(void)
{
    test_im2col();
    test_convolutions();
    test_depthwise();
    test_transposed(GGML_TYPE_F32, "conv_transpose_1d", "conv_transpose_2d");
    test_transposed(GGML_TYPE_F16, "conv_transpose_1d, F16",
                    "conv_transpose_2d, F16");
    test_pool(GGML_OP_POOL_MAX, GGML_TYPE_F32, "pool_1d, max", "pool_2d, max");
    test_pool(GGML_OP_POOL_AVG, GGML_TYPE_F32, "pool_1d, mean",
              "pool_2d, mean");
    test_pool(GGML_OP_POOL_AVG, GGML_TYPE_F16, "pool_1d, mean of F16",
              "pool_2d, mean of F16");
    return tap_done();
}
