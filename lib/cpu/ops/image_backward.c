/* image_backward.c - IM2COL_BACK, POOL_2D_BACK: gradients of images */
#include <float.h>
#include <string.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* ---- IM2COL_BACK ----------------------------------------------------------
 */

/* An axis of the image: elements of the kernel, the distance of its places,
 * zeros before, dilation, places. */
struct axis {
    int64_t k, s, p, d, places;
};

static struct axis
axis_of(const struct ggml_tensor *dst, int dim, bool is_2d)
{
    const struct ggml_tensor *g = dst->src[0], *kernel = dst->src[1];

    if (dim == 1 && !is_2d)
        return (struct axis){ 1, 1, 0, 1, 1 };
    return (struct axis){ kernel->ne[dim], tensor_get_i32(dst, dim),
                          tensor_get_i32(dst, 2 + dim),
                          tensor_get_i32(dst, 4 + dim), g->ne[1 + dim] };
}

/* The place at which element i of the image lies under element k of the
 * kernel; -1: none. */
static int64_t
place_of(const struct axis *a, int64_t i, int64_t k)
{
    int64_t from = i + a->p - k * a->d;

    if (from < 0 || from % a->s != 0 || from / a->s >= a->places)
        return -1;
    return from / a->s;
}

/* Row r of the image of a channel: g is [k.. of all channels, w, h, n] */
struct line {
    const struct ggml_tensor *g;
    struct axis w, h;
    int64_t channel, y, image;
    bool is_2d;
};

static float
gradient_at(const struct line *l, int64_t ow, int64_t oh, int64_t kw,
            int64_t kh)
{
    int64_t column = (l->channel * l->h.k + kh) * l->w.k + kw;
    struct cpu_row r = { ow, l->is_2d ? oh : l->image,
                         l->is_2d ? l->image : 0 };
    float v;

    cpu_gather(l->g->type, cpu_row_data(l->g, r) + (size_t)column * l->g->nb[0],
               0, 1, &v);
    return v;
}

static float
sum_of_places(const struct line *l, int64_t x)
{
    float sum = 0;

    for (int64_t kh = 0; kh < l->h.k; kh++) {
        int64_t oh = place_of(&l->h, l->y, kh);

        for (int64_t kw = 0; kw < l->w.k && oh >= 0; kw++) {
            int64_t ow = place_of(&l->w, x, kw);

            if (ow >= 0)
                sum += gradient_at(l, ow, oh, kw, kh);
        }
    }
    return sum;
}

/* dst [w, h, channels, n], or [w, channels, n] */
static void
compute_im2col_back(const struct cpu_task *t, struct ggml_tensor *dst)
{
    bool is_2d = tensor_get_i32(dst, 6) != 0;
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    struct line l = { .g = dst->src[0],
                      .w = axis_of(dst, 0, is_2d),
                      .h = axis_of(dst, 1, is_2d),
                      .is_2d = is_2d };

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = (float *)(void *)cpu_row_data(dst, r);

        l.channel = is_2d ? r.i2 : r.i1;
        l.image = is_2d ? r.i3 : r.i2;
        l.y = is_2d ? r.i1 : 0;
        for (int64_t j = 0; j < dst->ne[0]; j++)
            y[j] = sum_of_places(&l, j);
    }
}

static bool
supports_im2col_back(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && cpu_has_elements(dst->src[0]->type);
}

static int64_t
cost_im2col_back(const struct ggml_tensor *dst)
{
    return 4 * ggml_nelements(dst) * dst->src[1]->ne[0];
}

const struct cpu_op cpu_op_im2col_back = { .compute = compute_im2col_back,
                                           .supports = supports_im2col_back,
                                           .cost = cost_im2col_back };

/* ---- POOL_2D_BACK ---------------------------------------------------------
 */

/* The elements of an axis of n under a window. */
static struct cpu_range
window_of(const struct ggml_tensor *dst, int dim, int64_t place)
{
    int64_t first =
        place * tensor_get_i32(dst, 3 + dim) - tensor_get_i32(dst, 5 + dim);
    int64_t end = first + tensor_get_i32(dst, 1 + dim);
    int64_t n = dst->ne[dim];

    return (struct cpu_range){ first < 0 ? 0 : first, end < n ? end : n };
}

static float *
element(const struct ggml_tensor *x, int64_t i0, struct cpu_row r)
{
    return (float *)(void *)(cpu_row_data(x, r) + (size_t)i0 * x->nb[0]);
}

/* To the first of the greatest. */
static void
give_to_greatest(const struct ggml_tensor *dst, struct cpu_row r,
                 struct cpu_range w, struct cpu_range h, float g)
{
    float greatest = -FLT_MAX, *to = NULL;

    for (r.i1 = h.first; r.i1 < h.end; r.i1++)
        for (int64_t i = w.first; i < w.end; i++) {
            float x = *element(dst->src[1], i, r);

            if (x > greatest) {
                greatest = x;
                to = element(dst, i, r);
            }
        }
    if (to)
        *to += g;
}

static void
give_to_all(const struct ggml_tensor *dst, struct cpu_row r, struct cpu_range w,
            struct cpu_range h, float g)
{
    float each = g / (float)(tensor_get_i32(dst, 1) * tensor_get_i32(dst, 2));

    for (r.i1 = h.first; r.i1 < h.end; r.i1++)
        for (int64_t i = w.first; i < w.end; i++)
            *element(dst, i, r) += each;
}

static void
pool_back_plane(struct ggml_tensor *dst, struct cpu_row plane)
{
    const struct ggml_tensor *g = dst->src[0];
    bool max = tensor_get_i32(dst, 0) == GGML_OP_POOL_MAX;

    for (int64_t y = 0; y < g->ne[1]; y++)
        for (int64_t x = 0; x < g->ne[0]; x++) {
            struct cpu_range w = window_of(dst, 0, x);
            struct cpu_range h = window_of(dst, 1, y);
            struct cpu_row of_g = { y, plane.i2, plane.i3 };

            (max ? give_to_greatest : give_to_all)(dst, plane, w, h,
                                                   *element(g, x, of_g));
        }
}

/* Windows may overlap: a plane is never shared. */
static void
compute_pool_2d_back(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range planes = cpu_share(t, dst->ne[2] * dst->ne[3]);

    for (int64_t i = planes.first; i < planes.end; i++) {
        struct cpu_row plane = { 0, i % dst->ne[2], i / dst->ne[2] };

        for (int64_t y = 0; y < dst->ne[1]; y++) {
            plane.i1 = y;
            memset(cpu_row_data(dst, plane), 0,
                   (size_t)dst->ne[0] * sizeof(float));
        }
        pool_back_plane(dst, plane);
    }
}

static bool
supports_pool_2d_back(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && dst->src[0]->type == GGML_TYPE_F32 &&
           dst->src[1]->type == GGML_TYPE_F32;
}

static int64_t
cost_pool_2d_back(const struct ggml_tensor *dst)
{
    return 2 * ggml_nelements(dst);
}

const struct cpu_op cpu_op_pool_2d_back = { .compute = compute_pool_2d_back,
                                            .supports = supports_pool_2d_back,
                                            .cost = cost_pool_2d_back };
