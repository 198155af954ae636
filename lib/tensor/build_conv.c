/* build_conv.c - op builders: convolutions, pooling */
#include "tensor/tensor.h"

/* Positions of a kernel of `k` over `n` elements. */
static int64_t
conv_size(int64_t n, int64_t k, int s, int p, int d)
{
    return (n + 2 * p - d * (k - 1) - 1) / s + 1;
}

static void
set_params(struct ggml_tensor *t, const int32_t *params, int n)
{
    for (int i = 0; i < n; i++)
        tensor_set_i32(t, i, params[i]);
}

/* op_params: strides, zeros, dilations, whether there are two dimensions. */
struct ggml_tensor *
ggml_im2col(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
            int d1, bool is_2D, enum ggml_type dst_type)
{
    const int32_t params[] = { s0, s1, p0, p1, d0, d1, is_2D };
    int64_t ow = conv_size(b->ne[0], a->ne[0], s0, p0, d0), oh;
    struct ggml_tensor *t;

    GGML_ASSERT(ow > 0);
    if (is_2D) {
        oh = conv_size(b->ne[1], a->ne[1], s1, p1, d1);
        GGML_ASSERT(a->ne[2] == b->ne[2] && oh > 0);
        t = ggml_new_tensor_4d(ctx, dst_type, a->ne[0] * a->ne[1] * a->ne[2],
                               ow, oh, b->ne[3]);
    } else {
        GGML_ASSERT(a->ne[1] == b->ne[1] && b->ne[3] == 1);
        t = ggml_new_tensor_3d(ctx, dst_type, a->ne[0] * a->ne[1], ow,
                               b->ne[2]);
    }
    set_params(t, params, 7);
    return tensor_record(t, GGML_OP_IM2COL, a, b);
}

/* op_params: strides, zeros, dilations, channels. */
struct ggml_tensor *
ggml_im2col_3d(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b, int64_t IC, int s0, int s1, int s2,
               int p0, int p1, int p2, int d0, int d1, int d2,
               enum ggml_type dst_type)
{
    const int32_t params[] = { s0, s1, s2, p0, p1, p2, d0, d1, d2, (int)IC };
    int64_t ow = conv_size(b->ne[0], a->ne[0], s0, p0, d0);
    int64_t oh = conv_size(b->ne[1], a->ne[1], s1, p1, d1);
    int64_t od = conv_size(b->ne[2], a->ne[2], s2, p2, d2);
    struct ggml_tensor *t;

    GGML_ASSERT(ow > 0 && oh > 0 && od > 0);
    GGML_ASSERT(IC > 0);
    t = ggml_new_tensor_4d(ctx, dst_type, a->ne[0] * a->ne[1] * a->ne[2] * IC,
                           ow, oh, od * (b->ne[3] / IC));
    set_params(t, params, 10);
    return tensor_record(t, GGML_OP_IM2COL_3D, a, b);
}

/* op_params: stride, channels, what is cut off. */
struct ggml_tensor *
ggml_col2im_1d(struct ggml_context *ctx, struct ggml_tensor *a, int s0, int oc,
               int p0)
{
    const int32_t params[] = { s0, oc, p0 };
    struct ggml_tensor *t;
    int64_t n;

    GGML_ASSERT(ggml_is_matrix(a) && ggml_is_contiguous(a));
    GGML_ASSERT(a->type == GGML_TYPE_F32 || a->type == GGML_TYPE_F16 ||
                a->type == GGML_TYPE_BF16);
    GGML_ASSERT(s0 > 0 && oc > 0 && p0 >= 0 && a->ne[0] % oc == 0);
    n = (a->ne[1] - 1) * s0 + a->ne[0] / oc - 2 * p0;
    GGML_ASSERT(n > 0);
    t = ggml_new_tensor_2d(ctx, a->type, n, oc);
    set_params(t, params, 3);
    return tensor_record(t, GGML_OP_COL2IM_1D, a, NULL);
}

/* BF16 has F32's range, which F16 could not hold. */
static enum ggml_type
column_type(const struct ggml_tensor *kernel)
{
    return kernel->type == GGML_TYPE_BF16 ? GGML_TYPE_F32 : GGML_TYPE_F16;
}

struct ggml_tensor *
ggml_conv_1d(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b, int s0, int p0, int d0)
{
    struct ggml_tensor *t =
        ggml_im2col(ctx, a, b, s0, 0, p0, 0, d0, 0, false, column_type(a));
    int64_t ow = t->ne[1], n = t->ne[2];

    t = ggml_mul_mat(ctx, ggml_reshape_2d(ctx, t, t->ne[0], n * ow),
                     ggml_reshape_2d(ctx, a, a->ne[0] * a->ne[1], a->ne[2]));
    if (n == 1)
        return ggml_reshape_3d(ctx, t, ow, a->ne[2], n);
    t = ggml_reshape_3d(ctx, t, ow, n, a->ne[2]);
    return ggml_cont(ctx, ggml_permute(ctx, t, 0, 2, 1, 3));
}

struct ggml_tensor *
ggml_conv_1d_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s, int d)
{
    return ggml_conv_1d(ctx, a, b, s, (int)(a->ne[0] / 2), d);
}

struct ggml_tensor *
ggml_conv_1d_dw(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s0, int p0, int d0)
{
    struct ggml_tensor *each =
        ggml_reshape_4d(ctx, b, b->ne[0], 1, b->ne[1], b->ne[2]);
    struct ggml_tensor *t =
        ggml_im2col(ctx, a, each, s0, 0, p0, 0, d0, 0, false, column_type(a));

    t = ggml_mul_mat(ctx, t, a);
    return ggml_reshape_3d(ctx, t, t->ne[0], t->ne[2], 1);
}

struct ggml_tensor *
ggml_conv_1d_dw_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, int s0, int d0)
{
    return ggml_conv_1d_dw(ctx, a, b, s0, (int)(a->ne[0] / 2), d0);
}

/* op_params: stride, zeros, dilation. */
struct ggml_tensor *
ggml_conv_transpose_1d(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b, int s0, int p0, int d0)
{
    const int32_t params[] = { s0, p0, d0 };
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_is_matrix(b) && a->ne[2] == b->ne[1] && a->ne[3] == 1);
    GGML_ASSERT(p0 == 0 && d0 == 1);
    t = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, (b->ne[0] - 1) * s0 + a->ne[0],
                           a->ne[1]);
    set_params(t, params, 3);
    return tensor_record(t, GGML_OP_CONV_TRANSPOSE_1D, a, b);
}

struct ggml_tensor *
ggml_conv_2d(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
             int d1)
{
    struct ggml_tensor *c =
        ggml_im2col(ctx, a, b, s0, s1, p0, p1, d0, d1, true, column_type(a));
    struct ggml_tensor *t = ggml_mul_mat(
        ctx, ggml_reshape_2d(ctx, c, c->ne[0], c->ne[1] * c->ne[2] * c->ne[3]),
        ggml_reshape_2d(ctx, a, a->ne[0] * a->ne[1] * a->ne[2], a->ne[3]));

    t = ggml_reshape_4d(ctx, t, c->ne[1], c->ne[2], c->ne[3], a->ne[3]);
    return ggml_cont(ctx, ggml_permute(ctx, t, 0, 1, 3, 2));
}

struct ggml_tensor *
ggml_conv_2d_sk_p0(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b)
{
    return ggml_conv_2d(ctx, a, b, (int)a->ne[0], (int)a->ne[1], 0, 0, 1, 1);
}

struct ggml_tensor *
ggml_conv_2d_s1_ph(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b)
{
    return ggml_conv_2d(ctx, a, b, 1, 1, (int)(a->ne[0] / 2),
                        (int)(a->ne[1] / 2), 1, 1);
}

/* Each channel of each image is an image of one channel. */
struct ggml_tensor *
ggml_conv_2d_dw(struct ggml_context *ctx, struct ggml_tensor *a,
                struct ggml_tensor *b, int s0, int s1, int p0, int p1, int d0,
                int d1)
{
    struct ggml_tensor *kernel =
        ggml_reshape_4d(ctx, a, a->ne[0], a->ne[1], 1, a->ne[2] * a->ne[3]);
    struct ggml_tensor *images =
        ggml_reshape_4d(ctx, b, b->ne[0], b->ne[1], 1, b->ne[2] * b->ne[3]);
    struct ggml_tensor *c = ggml_im2col(ctx, kernel, images, s0, s1, p0, p1, d0,
                                        d1, true, column_type(a));
    int64_t ow = c->ne[1], oh = c->ne[2];
    struct ggml_tensor *t = ggml_mul_mat(
        ctx,
        ggml_reshape_4d(ctx, kernel, a->ne[0] * a->ne[1], 1, kernel->ne[3], 1),
        ggml_reshape_4d(ctx, c, c->ne[0], ow * oh, b->ne[2], b->ne[3]));

    return ggml_reshape_4d(ctx, t, ow, oh, b->ne[2], b->ne[3]);
}

/* op_params: strides, zeros, dilations. */
struct ggml_tensor *
ggml_conv_2d_dw_direct(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b, int stride0, int stride1,
                       int pad0, int pad1, int dilation0, int dilation1)
{
    const int32_t params[] = { stride0, stride1,   pad0,
                               pad1,    dilation0, dilation1 };
    int64_t ow = conv_size(b->ne[0], a->ne[0], stride0, pad0, dilation0);
    int64_t oh = conv_size(b->ne[1], a->ne[1], stride1, pad1, dilation1);
    struct ggml_tensor *t;

    GGML_ASSERT(a->ne[2] == 1 && a->ne[3] == b->ne[2]);
    t = ggml_new_tensor_4d(ctx, b->type, ow, oh, b->ne[2], b->ne[3]);
    if (ggml_is_contiguous_channels(b)) {
        t->nb[2] = ggml_type_size(t->type);
        t->nb[0] = (size_t)t->ne[2] * t->nb[2];
        t->nb[1] = (size_t)t->ne[0] * t->nb[0];
    }
    set_params(t, params, 6);
    return tensor_record(t, GGML_OP_CONV_2D_DW, a, b);
}

/* op_params: stride. */
struct ggml_tensor *
ggml_conv_transpose_2d_p0(struct ggml_context *ctx, struct ggml_tensor *a,
                          struct ggml_tensor *b, int stride)
{
    struct ggml_tensor *t;

    GGML_ASSERT(a->ne[3] == b->ne[2]);
    t = ggml_new_tensor_4d(
        ctx, GGML_TYPE_F32, (b->ne[0] - 1) * stride + a->ne[0],
        (b->ne[1] - 1) * stride + a->ne[1], a->ne[2], b->ne[3]);
    tensor_set_i32(t, 0, stride);
    return tensor_record(t, GGML_OP_CONV_TRANSPOSE_2D, a, b);
}

/* Half of a padded element may be left over: floats, as p is one. */
static int64_t
pool_size(int64_t n, int k, int s, float p)
{
    int64_t size = (int64_t)(((double)n + 2 * (double)p - k) / s + 1);

    GGML_ASSERT(size > 0);
    return size;
}

/* op_params: which, window, stride, padding. */
struct ggml_tensor *
ggml_pool_1d(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_op_pool op, int k0, int s0, int p0)
{
    const int32_t params[] = { (int32_t)op, k0, s0, p0 };
    struct ggml_tensor *t = ggml_new_tensor_4d(
        ctx, GGML_TYPE_F32, pool_size(a->ne[0], k0, s0, (float)p0), a->ne[1],
        a->ne[2], a->ne[3]);

    set_params(t, params, 4);
    return tensor_record(t, GGML_OP_POOL_1D, a, NULL);
}

/* op_params: which, windows, strides, paddings. */
struct ggml_tensor *
ggml_pool_2d(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_op_pool op, int k0, int k1, int s0, int s1, float p0,
             float p1)
{
    const int32_t params[] = { (int32_t)op, k0,          k1,         s0,
                               s1,          (int32_t)p0, (int32_t)p1 };
    struct ggml_tensor *t =
        ggml_new_tensor_4d(ctx, GGML_TYPE_F32, pool_size(a->ne[0], k0, s0, p0),
                           pool_size(a->ne[1], k1, s1, p1), a->ne[2], a->ne[3]);

    set_params(t, params, 7);
    return tensor_record(t, GGML_OP_POOL_2D, a, NULL);
}

/* op_params: strides, zeros, dilations. */
struct ggml_tensor *
ggml_conv_2d_direct(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, int s0, int s1, int p0, int p1,
                    int d0, int d1)
{
    const int32_t params[] = { s0, s1, p0, p1, d0, d1 };
    int64_t ow = conv_size(b->ne[0], a->ne[0], s0, p0, d0);
    int64_t oh = conv_size(b->ne[1], a->ne[1], s1, p1, d1);
    struct ggml_tensor *t;

    GGML_ASSERT(a->ne[2] == b->ne[2] && ow > 0 && oh > 0);
    t = ggml_new_tensor_4d(ctx, b->type, ow, oh, a->ne[3], b->ne[3]);
    set_params(t, params, 6);
    return tensor_record(t, GGML_OP_CONV_2D, a, b);
}

struct ggml_tensor *
ggml_conv_3d(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b, int64_t IC, int s0, int s1, int s2, int p0,
             int p1, int p2, int d0, int d1, int d2)
{
    struct ggml_tensor *c = ggml_im2col_3d(ctx, a, b, IC, s0, s1, s2, p0, p1,
                                           p2, d0, d1, d2, column_type(a));
    int64_t oc = a->ne[3] / IC, n = b->ne[3] / IC, od = c->ne[3] / n;
    struct ggml_tensor *t = ggml_mul_mat(
        ctx, ggml_reshape_2d(ctx, c, c->ne[0], c->ne[1] * c->ne[2] * c->ne[3]),
        ggml_reshape_2d(ctx, a, c->ne[0], oc));

    t = ggml_reshape_4d(ctx, t, c->ne[1] * c->ne[2], od, n, oc);
    t = ggml_cont(ctx, ggml_permute(ctx, t, 0, 1, 3, 2));
    return ggml_reshape_4d(ctx, t, c->ne[1], c->ne[2], od, oc * n);
}

/* op_params: strides, zeros, dilations, channels, images, channels of the
 * result. */
struct ggml_tensor *
ggml_conv_3d_direct(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *b, int s0, int s1, int s2, int p0,
                    int p1, int p2, int d0, int d1, int d2, int n_channels,
                    int n_batch, int n_channels_out)
{
    const int32_t params[] = {
        s0, s1, s2, p0, p1, p2, d0, d1, d2, n_channels, n_batch, n_channels_out
    };
    int64_t ow = conv_size(b->ne[0], a->ne[0], s0, p0, d0);
    int64_t oh = conv_size(b->ne[1], a->ne[1], s1, p1, d1);
    int64_t od = conv_size(b->ne[2], a->ne[2], s2, p2, d2);
    struct ggml_tensor *t;

    GGML_ASSERT(ow > 0 && oh > 0 && od > 0);
    GGML_ASSERT(a->ne[3] == (int64_t)n_channels * n_channels_out);
    GGML_ASSERT(b->ne[3] == (int64_t)n_channels * n_batch);
    t = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, ow, oh, od,
                           (int64_t)n_channels_out * n_batch);
    set_params(t, params, 12);
    return tensor_record(t, GGML_OP_CONV_3D, a, b);
}
