/* test_image.c - images in other sizes, sequences and positions against
 * formulas in double precision or exact integers */
#include "cpu_test.h"

static const struct ggml_tensor *from;
static bool corners;

static int64_t
clamped(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

/* Where an element of the result lies among those of the source. */
static double
position(const struct ggml_tensor *t, int dim, int64_t i)
{
    double to = (double)t->ne[dim], n = (double)from->ne[dim];

    if (corners)
        return to > 1 ? (double)i * (n - 1) / (to - 1) : 0;
    return ((double)i + 0.5) * n / to - 0.5;
}

static double
triangle(double d)
{
    return fmax(0, 1 - fabs(d));
}

/* Keys' cubic convolution. */
static double
keys(double d)
{
    const double a = -0.75;

    d = fabs(d);
    if (d <= 1)
        return (a + 2) * d * d * d - (a + 3) * d * d + 1;
    return d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4) : 0;
}

/* All elements that could count, those beyond the edges as the edges. */
static double
weighed(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
        int64_t i3, double (*weight)(double))
{
    double x = position(t, 0, i0), y = position(t, 1, i1), sum = 0;
    int64_t z = i2 * from->ne[2] / t->ne[2], n = i3 * from->ne[3] / t->ne[3];

    for (int64_t j = -3; j < from->ne[1] + 3; j++)
        for (int64_t i = -3; i < from->ne[0] + 3; i++)
            sum += weight(x - (double)i) * weight(y - (double)j) *
                   test_at(from, clamped(i, from->ne[0]),
                           clamped(j, from->ne[1]), z, n);
    return sum;
}

static double
t_bilinear(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
           int64_t i3)
{
    return weighed(t, i0, i1, i2, i3, triangle);
}

static double
t_bicubic(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    return weighed(t, i0, i1, i2, i3, keys);
}

/* A triangle as wide as two elements of the result, of what is there. */
static double
t_antialias(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
            int64_t i3)
{
    double wide = fmax(1, (double)from->ne[0] / (double)t->ne[0]);
    double high = fmax(1, (double)from->ne[1] / (double)t->ne[1]);
    double x = position(t, 0, i0), y = position(t, 1, i1), sum = 0, total = 0;

    for (int64_t j = 0; j < from->ne[1]; j++)
        for (int64_t i = 0; i < from->ne[0]; i++) {
            double w = triangle((x - (double)i) / wide) *
                       triangle((y - (double)j) / high);

            sum += w * test_at(from, i, j, i2, i3);
            total += w;
        }
    return sum / total;
}

/* Integers only: which element a place falls into. */
static double
t_nearest(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    return test_at(from, i0 * from->ne[0] / t->ne[0],
                   i1 * from->ne[1] / t->ne[1], i2 * from->ne[2] / t->ne[2],
                   i3 * from->ne[3] / t->ne[3]);
}

static void
test_interpolate(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 5, 7, 3, 2);
    struct ggml_tensor *p = ggml_permute(ctx, a, 1, 0, 2, 3);
    const uint32_t aligned = GGML_SCALE_FLAG_ALIGN_CORNERS;

    from = a;
    test_op(ctx, ggml_upscale(ctx, a, 3, GGML_SCALE_MODE_NEAREST), t_nearest, 0,
            "nearest, three times");
    test_op(ctx, ggml_interpolate(ctx, a, 8, 5, 6, 2, GGML_SCALE_MODE_NEAREST),
            t_nearest, 0, "nearest, wider, lower and deeper");
    test_op(ctx, ggml_upscale(ctx, a, 2, GGML_SCALE_MODE_BILINEAR), t_bilinear,
            1e-6, "bilinear, twice");
    test_op(ctx,
            ggml_interpolate(ctx, a, 13, 4, 6, 4, GGML_SCALE_MODE_BILINEAR),
            t_bilinear, 1e-6, "bilinear, wider and lower");
    test_op(ctx, ggml_interpolate(ctx, a, 13, 4, 3, 2, GGML_SCALE_MODE_BICUBIC),
            t_bicubic, 2e-6, "bicubic");
    test_op(
        ctx,
        ggml_interpolate(ctx, a, 3, 2, 3, 2,
                         GGML_SCALE_MODE_BILINEAR | GGML_SCALE_FLAG_ANTIALIAS),
        t_antialias, 1e-6, "bilinear, antialiased, smaller");
    test_op(
        ctx,
        ggml_interpolate(ctx, a, 9, 7, 3, 2,
                         GGML_SCALE_MODE_BILINEAR | GGML_SCALE_FLAG_ANTIALIAS),
        t_antialias, 1e-6, "bilinear, antialiased, wider");
    corners = true;
    test_op(ctx,
            ggml_interpolate(ctx, a, 13, 4, 3, 2,
                             GGML_SCALE_MODE_BILINEAR | aligned),
            t_bilinear, 2e-6, "bilinear, corners aligned");
    test_op(ctx,
            ggml_interpolate(ctx, a, 13, 4, 3, 2,
                             GGML_SCALE_MODE_BICUBIC | aligned),
            t_bicubic, 4e-6, "bicubic, corners aligned");
    corners = false;
    from = p;
    test_op(ctx, ggml_interpolate(ctx, p, 9, 9, 3, 2, GGML_SCALE_MODE_BILINEAR),
            t_bilinear, 1e-6, "bilinear of a permuted");
    ggml_free(ctx);
}

static double
t_reflect(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
          int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t i = i0 - t->op_params[0], last = a->ne[0] - 1;

    i = i < 0 ? -i : i > last ? 2 * last - i : i;
    return test_at(a, i, i1, i2, i3);
}

static double
t_roll(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
       int64_t i3)
{
    const struct ggml_tensor *a = t->src[0];
    int64_t i[] = { i0, i1, i2, i3 };

    for (int d = 0; d < 4; d++)
        i[d] = (i[d] + 2 * a->ne[d] - t->op_params[d]) % a->ne[d];
    return test_at(a, i[0], i[1], i[2], i[3]);
}

static double
t_arange(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
         int64_t i3)
{
    (void)t, (void)i1, (void)i2, (void)i3;
    return -2.5 + 0.75 * (double)i0;
}

static double
t_timestep(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
           int64_t i3)
{
    int64_t half = t->op_params[0] / 2;
    double angle = test_at(t->src[0], i1, 0, 0, 0) *
                   pow(t->op_params[1], -(double)(i0 % half) / (double)half);

    (void)i2, (void)i3;
    return i0 == 2 * half ? 0 : i0 < half ? cos(angle) : sin(angle);
}

static void
test_sequences(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 11, 4, 3, 2);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F16, 11, 4, 3, 2);
    struct ggml_tensor *times = test_tensor(ctx, GGML_TYPE_F32, 9, 1, 1, 1);
    struct ggml_tensor *t;

    test_op(ctx, ggml_pad_reflect_1d(ctx, a, 10, 3), t_reflect, 0,
            "pad_reflect_1d");
    test_op(ctx, ggml_pad_reflect_1d(ctx, a, 0, 10), t_reflect, 0,
            "pad_reflect_1d at one end");
    test_op(ctx, ggml_roll(ctx, a, 3, -2, 1, -1), t_roll, 0, "roll");
    test_op(ctx, ggml_roll(ctx, h, -10, 3, 0, 0), t_roll, 0, "roll of F16");
    test_op(ctx, ggml_roll(ctx, ggml_permute(ctx, a, 0, 2, 1, 3), 1, 2, -3, 0),
            t_roll, 0, "roll of a permuted");
    t = ggml_arange(ctx, -2.5f, 500, 0.75f);
    is(t->ne[0], 670, "arange stops before its end");
    test_op(ctx, t, t_arange, 0, "arange");
    is(ggml_arange(ctx, 0, 3, 1)->ne[0], 3, "the end is not reached");
    for (int i = 0; i < 9; i++)
        ggml_set_f32_1d(times, i, (float)(i * i * i) * 1.75f);
    test_op(ctx, ggml_timestep_embedding(ctx, times, 32, 10000), t_timestep,
            1e-6, "timestep_embedding");
    test_op(ctx, ggml_timestep_embedding(ctx, times, 7, 500), t_timestep, 1e-6,
            "timestep_embedding of an odd size");
    ggml_free(ctx);
}

static double
t_get_rel_pos(const struct ggml_tensor *t, int64_t i0, int64_t key,
              int64_t query, int64_t none)
{
    double x = test_at(t->src[0], i0, t->ne[1] - 1 + query - key, 0, 0);

    (void)none;
    return (double)ggml_fp16_to_fp32(ggml_fp32_to_fp16((float)x));
}

static double
t_add_rel_pos(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2,
              int64_t i3)
{
    const struct ggml_tensor *w = t->src[1], *h = t->src[2];
    int64_t k = w->ne[0], qx = i1 % w->ne[1], qy = i1 / w->ne[1];

    return test_at(from, i0, i1, i2, i3) + test_at(w, i0 % k, qx, qy, i2) +
           test_at(h, i0 / k, qx, qy, i2);
}

static void
test_rel_pos(void)
{
    struct ggml_context *ctx = test_context();
    struct ggml_tensor *rel = test_tensor(ctx, GGML_TYPE_F16, 20, 13, 1, 1);
    struct ggml_tensor *bf = test_tensor(ctx, GGML_TYPE_BF16, 20, 13, 1, 1);
    struct ggml_tensor *a = test_tensor(ctx, GGML_TYPE_F32, 25, 12, 3, 1);
    struct ggml_tensor *w = test_tensor(ctx, GGML_TYPE_F32, 5, 4, 3, 3);
    struct ggml_tensor *h = test_tensor(ctx, GGML_TYPE_F32, 5, 4, 3, 3);
    struct ggml_tensor *once;

    test_op(ctx, ggml_get_rel_pos(ctx, rel, 7, 7), t_get_rel_pos, 0,
            "get_rel_pos");
    test_op(ctx, ggml_get_rel_pos(ctx, bf, 7, 7), t_get_rel_pos, 0,
            "get_rel_pos of BF16");
    from = a;
    test_op(ctx, ggml_add_rel_pos(ctx, a, w, h), t_add_rel_pos, 2e-7,
            "add_rel_pos");
    from = ggml_dup(ctx, a);
    test_run(ctx, (struct ggml_tensor *)from, 1);
    once = ggml_add_rel_pos_inplace(ctx, a, w, h);
    test_run(ctx, once, 3);
    ok(once->data == a->data && test_error(once, t_add_rel_pos) < 2e-7,
       "add_rel_pos in place");
    ggml_free(ctx);
}

int
main(void)
{
    test_interpolate();
    test_sequences();
    test_rel_pos();
    return tap_done();
}
