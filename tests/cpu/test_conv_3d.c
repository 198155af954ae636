/* test_conv_3d.c - convolutions without im2col, those of volumes, and columns
 * that overlap, against sums in double precision */
#include "cpu_test.h"

/* The op that is tested: kernel a over b; of width, height, depth. */
static struct {
    const struct ggml_tensor *a, *b;
    int s[3], p[3], d[3];
    int64_t channels;
    bool half; /* b is rounded to F16 on the way */
} c;

static void
set(const struct ggml_tensor *a, const struct ggml_tensor *b, int s,
    int64_t channels)
{
    c.a = a;
    c.b = b;
    c.s[0] = s, c.s[1] = 1, c.s[2] = 2;
    c.p[0] = 1, c.p[1] = 2, c.p[2] = 0;
    c.d[0] = 1, c.d[1] = 2, c.d[2] = 1;
    c.channels = channels;
    c.half = false;
}

static bool
find(int dim, int64_t out, int64_t k, int64_t *at)
{
    *at = out * c.s[dim] + k * c.d[dim] - c.p[dim];
    return *at >= 0 && *at < c.b->ne[dim];
}

/* b under an element of the kernel; zeros lie around it. */
static double
volume(const int64_t out[3], const int64_t k[3], int64_t channel, int64_t n)
{
    int64_t at[3];
    double v;

    for (int i = 0; i < 3; i++)
        if (!find(i, out[i], k[i], &at[i]))
            return 0;
    v = test_at(c.b, at[0], at[1], at[2], n * c.channels + channel);
    return c.half ? (double)ggml_fp16_to_fp32(ggml_fp32_to_fp16((float)v)) : v;
}

static double
t_im2col(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
         int64_t i3)
{
    const int64_t *kn = c.a->ne;
    int64_t planes = t->ne[3] / (c.b->ne[3] / c.channels);
    int64_t out[] = { i1, i2, i3 % planes };
    int64_t k[] = { i0 % kn[0], i0 / kn[0] % kn[1],
                    i0 / (kn[0] * kn[1]) % kn[2] };

    return volume(out, k, i0 / (kn[0] * kn[1] * kn[2]), i3 / planes);
}

static double
t_conv_3d(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    int64_t n_out = c.a->ne[3] / c.channels, out[] = { i0, i1, i2 };
    double sum = 0;

    (void)t;
    for (int64_t ch = 0; ch < c.channels; ch++)
        for (int64_t kz = 0; kz < c.a->ne[2]; kz++)
            for (int64_t ky = 0; ky < c.a->ne[1]; ky++)
                for (int64_t kx = 0; kx < c.a->ne[0]; kx++) {
                    int64_t k[] = { kx, ky, kz };

                    sum +=
                        test_at(c.a, kx, ky, kz, i3 % n_out * c.channels + ch) *
                        volume(out, k, ch, i3 / n_out);
                }
    return sum;
}

static double
t_conv_2d(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    double sum = 0;
    int64_t x, y;

    (void)t;
    for (int64_t ch = 0; ch < c.a->ne[2]; ch++)
        for (int64_t ky = 0; ky < c.a->ne[1]; ky++)
            for (int64_t kx = 0; kx < c.a->ne[0]; kx++)
                if (find(0, i0, kx, &x) && find(1, i1, ky, &y))
                    sum += test_at(c.a, kx, ky, ch, i2) *
                           test_at(c.b, x, y, ch, i3);
    return sum;
}

static void
test_2d(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 3, 2, 4, 5);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 3, 2, 4, 5);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 31, 7, 4, 3);
    struct ggml_tensor *bh = test_tensor(ctx, GGML_TYPE_F16, 31, 7, 4, 3);
    struct ggml_tensor *tr = ggml_permute(
        ctx, test_tensor(ctx, GGML_TYPE_F32, 7, 31, 3, 4), 1, 0, 3, 2);

    set(a, b, 1, 4);
    test_op(ctx, ggml_conv_2d_direct(ctx, a, b, 1, 1, 1, 2, 1, 2), t_conv_2d,
            2e-6, "conv_2d_direct");
    set(h, b, 2, 4);
    test_op(ctx, ggml_conv_2d_direct(ctx, h, b, 2, 1, 1, 2, 1, 2), t_conv_2d,
            2e-6, "conv_2d_direct in steps, a kernel of F16");
    set(a, tr, 2, 4);
    test_op(ctx, ggml_conv_2d_direct(ctx, a, tr, 2, 1, 1, 2, 1, 2), t_conv_2d,
            2e-6, "conv_2d_direct of a permuted");
    set(h, bh, 1, 4);
    test_op(ctx, ggml_conv_2d_direct(ctx, h, bh, 1, 1, 1, 2, 1, 2), t_conv_2d,
            2e-3, "conv_2d_direct of F16");
    ggml_free(ctx);
}

static void
test_3d(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F16, 3, 2, 2, 4 * 5);
    struct ggml_tensor *bf = test_tensor(ctx, GGML_TYPE_BF16, 3, 2, 2, 4 * 5);
    struct ggml_tensor *shape = test_tensor(ctx, GGML_TYPE_F16, 3, 2, 2, 1);
    struct ggml_tensor *b = test_tensor(ctx, GGML_TYPE_F32, 11, 7, 5, 4 * 3);
    struct ggml_tensor *tr = ggml_permute(
        ctx, test_tensor(ctx, GGML_TYPE_F32, 5, 11, 7, 12), 2, 0, 1, 3);

    set(a, b, 2, 4);
    test_op(
        ctx,
        ggml_im2col_3d(ctx, a, b, 4, 2, 1, 2, 1, 2, 0, 1, 2, 1, GGML_TYPE_F32),
        t_im2col, 0, "im2col_3d");
    set(shape, b, 2, 4);
    test_op(ctx,
            ggml_im2col_3d(ctx, shape, b, 4, 2, 1, 2, 1, 2, 0, 1, 2, 1,
                           GGML_TYPE_F32),
            t_im2col, 0, "im2col_3d by a kernel's shape alone");
    set(a, tr, 2, 4);
    test_op(
        ctx,
        ggml_im2col_3d(ctx, a, tr, 4, 2, 1, 2, 1, 2, 0, 1, 2, 1, GGML_TYPE_F32),
        t_im2col, 0, "im2col_3d of a permuted");
    set(a, b, 2, 4);
    test_op(ctx,
            ggml_conv_3d_direct(ctx, a, b, 2, 1, 2, 1, 2, 0, 1, 2, 1, 4, 3, 5),
            t_conv_3d, 2e-6, "conv_3d_direct");
    set(bf, b, 1, 4);
    test_op(ctx, ggml_conv_3d(ctx, bf, b, 4, 1, 1, 2, 1, 2, 0, 1, 2, 1),
            t_conv_3d, 4e-6, "conv_3d of BF16");
    set(a, b, 2, 4);
    c.half = true;
    test_op(ctx, ggml_conv_3d(ctx, a, b, 4, 2, 1, 2, 1, 2, 0, 1, 2, 1),
            t_conv_3d, 4e-6, "conv_3d");
    ggml_free(ctx);
}

static int stride, cut;

/* The sum of what each column puts there. */
static double
t_col2im(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
         int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t k = a->ne[0] / t->ne[1];
    double sum = 0;

    for (int64_t j = 0; j < a->ne[1]; j++)
        for (int64_t l = 0; l < k; l++)
            if (j * stride + l - cut == i0)
                sum += test_at(a, i1 * k + l, j, i2, i3);
    return sum;
}

static void
test_col2im(int64_t k, int64_t channels, int64_t n, int s, int p)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a =
        test_tensor(ctx, GGML_TYPE_F32, k * channels, n, 1, 1);
    struct ggml_tensor *h =
        test_tensor(ctx, GGML_TYPE_F16, k * channels, n, 1, 1);

    stride = s;
    cut = p;
    test_op(ctx, ggml_col2im_1d(ctx, a, s, (int)channels, p), t_col2im, 1e-6,
            "col2im_1d");
    test_op(ctx, ggml_col2im_1d(ctx, h, s, (int)channels, p), t_col2im, 2e-3,
            "col2im_1d of F16");
    ggml_free(ctx);
}

int
main(void)
{
    test_2d();
    test_3d();
    test_col2im(6, 4, 11, 3, 1);
    test_col2im(2, 3, 9, 3, 0);
    test_col2im(5, 4, 11, 2, 0);
    test_col2im(8, 2, 3, 2, 5);
    return tap_done();
}
