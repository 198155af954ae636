/* build_image.c - op builders: images, sequences, relative positions */
#include <math.h>
#include <stdlib.h>

#include "tensor/tensor.h"

/* op_params: mode and flags. */
struct ggml_tensor *
ggml_interpolate(struct ggml_context *ctx, struct ggml_tensor *a, int64_t ne0,
                 int64_t ne1, int64_t ne2, int64_t ne3, uint32_t mode)
{
    struct ggml_tensor *t;

    GGML_ASSERT((mode & 0xff) < GGML_SCALE_MODE_COUNT);
    GGML_ASSERT(!(mode & GGML_SCALE_FLAG_ANTIALIAS) ||
                (mode & 0xff) == GGML_SCALE_MODE_BILINEAR);
    GGML_ASSERT(a->type == GGML_TYPE_F32);
    t = ggml_new_tensor_4d(ctx, a->type, ne0, ne1, ne2, ne3);
    tensor_set_i32(t, 0, (int32_t)mode);
    return tensor_record(t, GGML_OP_UPSCALE, a, NULL);
}

struct ggml_tensor *
ggml_upscale(struct ggml_context *ctx, struct ggml_tensor *a, int scale_factor,
             enum ggml_scale_mode mode)
{
    GGML_ASSERT(scale_factor > 1);
    return ggml_interpolate(ctx, a, a->ne[0] * scale_factor,
                            a->ne[1] * scale_factor, a->ne[2], a->ne[3],
                            (uint32_t)mode);
}

struct ggml_tensor *
ggml_upscale_ext(struct ggml_context *ctx, struct ggml_tensor *a, int ne0,
                 int ne1, int ne2, int ne3, enum ggml_scale_mode mode)
{
    return ggml_interpolate(ctx, a, ne0, ne1, ne2, ne3, (uint32_t)mode);
}

/* op_params: elements before and after each dimension, whether a repeats. */
static struct ggml_tensor *
pad(struct ggml_context *ctx, struct ggml_tensor *a, const int p[8],
    bool circular)
{
    struct ggml_tensor *t = ggml_new_tensor_4d(
        ctx, a->type, a->ne[0] + p[0] + p[1], a->ne[1] + p[2] + p[3],
        a->ne[2] + p[4] + p[5], a->ne[3] + p[6] + p[7]);

    for (int i = 0; i < 8; i++) {
        GGML_ASSERT(p[i] >= 0);
        tensor_set_i32(t, i, p[i]);
    }
    tensor_set_i32(t, 8, circular);
    return tensor_record(t, GGML_OP_PAD, a, NULL);
}

struct ggml_tensor *
ggml_pad(struct ggml_context *ctx, struct ggml_tensor *a, int p0, int p1,
         int p2, int p3)
{
    return pad(ctx, a, (int[]){ 0, p0, 0, p1, 0, p2, 0, p3 }, false);
}

struct ggml_tensor *
ggml_pad_circular(struct ggml_context *ctx, struct ggml_tensor *a, int p0,
                  int p1, int p2, int p3)
{
    return pad(ctx, a, (int[]){ 0, p0, 0, p1, 0, p2, 0, p3 }, true);
}

struct ggml_tensor *
ggml_pad_ext(struct ggml_context *ctx, struct ggml_tensor *a, int lp0, int rp0,
             int lp1, int rp1, int lp2, int rp2, int lp3, int rp3)
{
    return pad(ctx, a, (int[]){ lp0, rp0, lp1, rp1, lp2, rp2, lp3, rp3 },
               false);
}

struct ggml_tensor *
ggml_pad_ext_circular(struct ggml_context *ctx, struct ggml_tensor *a, int lp0,
                      int rp0, int lp1, int rp1, int lp2, int rp2, int lp3,
                      int rp3)
{
    return pad(ctx, a, (int[]){ lp0, rp0, lp1, rp1, lp2, rp2, lp3, rp3 }, true);
}

/* op_params: elements before and after. */
struct ggml_tensor *
ggml_pad_reflect_1d(struct ggml_context *ctx, struct ggml_tensor *a, int p0,
                    int p1)
{
    struct ggml_tensor *t;

    GGML_ASSERT(p0 >= 0 && p0 < a->ne[0] && p1 >= 0 && p1 < a->ne[0]);
    GGML_ASSERT(ggml_is_contiguous(a) && a->type == GGML_TYPE_F32);
    t = ggml_new_tensor_4d(ctx, a->type, a->ne[0] + p0 + p1, a->ne[1], a->ne[2],
                           a->ne[3]);
    tensor_set_i32(t, 0, p0);
    tensor_set_i32(t, 1, p1);
    return tensor_record(t, GGML_OP_PAD_REFLECT_1D, a, NULL);
}

/* op_params: the shifts. */
struct ggml_tensor *
ggml_roll(struct ggml_context *ctx, struct ggml_tensor *a, int shift0,
          int shift1, int shift2, int shift3)
{
    const int shifts[] = { shift0, shift1, shift2, shift3 };
    struct ggml_tensor *t = ggml_dup_tensor(ctx, a);

    GGML_ASSERT(a->nb[0] == ggml_type_size(a->type));
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        GGML_ASSERT(abs(shifts[i]) < a->ne[i]);
        tensor_set_i32(t, i, shifts[i]);
    }
    return tensor_record(t, GGML_OP_ROLL, a, NULL);
}

/* op_params: start, stop, step. */
struct ggml_tensor *
ggml_arange(struct ggml_context *ctx, float start, float stop, float step)
{
    struct ggml_tensor *t;

    GGML_ASSERT(stop > start);
    t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32,
                           (int64_t)ceilf((stop - start) / step));
    tensor_set_f32(t, 0, start);
    tensor_set_f32(t, 1, stop);
    tensor_set_f32(t, 2, step);
    return tensor_record(t, GGML_OP_ARANGE, NULL, NULL);
}

/* op_params: dimensions, longest period. */
struct ggml_tensor *
ggml_timestep_embedding(struct ggml_context *ctx, struct ggml_tensor *timesteps,
                        int dim, int max_period)
{
    struct ggml_tensor *t =
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, dim, timesteps->ne[0]);

    tensor_set_i32(t, 0, dim);
    tensor_set_i32(t, 1, max_period);
    return tensor_record(t, GGML_OP_TIMESTEP_EMBEDDING, timesteps, NULL);
}

/* Windows of w over n elements. */
static int64_t
windows(int64_t n, int w)
{
    return (n + w - 1) / w;
}

/* op_params: windows of a line, of a column, w. */
struct ggml_tensor *
ggml_win_part(struct ggml_context *ctx, struct ggml_tensor *a, int w)
{
    int64_t nx, ny;
    struct ggml_tensor *t;

    GGML_ASSERT(w > 0 && a->ne[3] == 1 && a->type == GGML_TYPE_F32);
    nx = windows(a->ne[1], w);
    ny = windows(a->ne[2], w);
    t = ggml_new_tensor_4d(ctx, GGML_TYPE_F32, a->ne[0], w, w, nx * ny);
    tensor_set_i32(t, 0, (int32_t)nx);
    tensor_set_i32(t, 1, (int32_t)ny);
    tensor_set_i32(t, 2, w);
    return tensor_record(t, GGML_OP_WIN_PART, a, NULL);
}

/* op_params: w. */
struct ggml_tensor *
ggml_win_unpart(struct ggml_context *ctx, struct ggml_tensor *a, int w0, int h0,
                int w)
{
    struct ggml_tensor *t;

    GGML_ASSERT(w > 0 && a->type == GGML_TYPE_F32);
    GGML_ASSERT(a->ne[1] == w && a->ne[2] == w);
    GGML_ASSERT(a->ne[3] >= windows(w0, w) * windows(h0, w));
    t = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, a->ne[0], w0, h0);
    tensor_set_i32(t, 0, w);
    return tensor_record(t, GGML_OP_WIN_UNPART, a, NULL);
}

struct ggml_tensor *
ggml_get_rel_pos(struct ggml_context *ctx, struct ggml_tensor *a, int qh,
                 int kh)
{
    struct ggml_tensor *t;

    GGML_ASSERT(qh == kh && 2 * (int64_t)qh - 1 == a->ne[1]);
    t = ggml_new_tensor_3d(ctx, GGML_TYPE_F16, a->ne[0], kh, qh);
    return tensor_record(t, GGML_OP_GET_REL_POS, a, NULL);
}

/* op_params: whether it works in place. */
static struct ggml_tensor *
add_rel_pos(struct ggml_context *ctx, struct ggml_tensor *a,
            struct ggml_tensor *pw, struct ggml_tensor *ph, bool inplace)
{
    struct ggml_tensor *t;

    GGML_ASSERT(ggml_are_same_shape(pw, ph));
    GGML_ASSERT(ggml_is_contiguous(a) && ggml_is_contiguous(pw) &&
                ggml_is_contiguous(ph));
    GGML_ASSERT(pw->type == GGML_TYPE_F32 && ph->type == GGML_TYPE_F32);
    GGML_ASSERT(pw->ne[0] * pw->ne[0] == a->ne[0]);
    GGML_ASSERT(pw->ne[1] * pw->ne[2] == a->ne[1] && pw->ne[3] == a->ne[2]);
    t = tensor_like(ctx, a, inplace);
    tensor_set_i32(t, 0, inplace);
    t->src[2] = ph;
    return tensor_record(t, GGML_OP_ADD_REL_POS, a, pw);
}

struct ggml_tensor *
ggml_add_rel_pos(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *pw, struct ggml_tensor *ph)
{
    return add_rel_pos(ctx, a, pw, ph, false);
}

struct ggml_tensor *
ggml_add_rel_pos_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                         struct ggml_tensor *pw, struct ggml_tensor *ph)
{
    return add_rel_pos(ctx, a, pw, ph, true);
}
