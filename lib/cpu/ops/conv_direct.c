/* conv_direct.c - CONV_2D, CONV_3D, IM2COL_3D, COL2IM_1D: convolutions line by
 * line; what others need of a line */
#include <string.h>

#include "cpu/ops/conv_axis.h"
#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

struct conv_axis
cpu_conv_axis(const struct ggml_tensor *dst, int dim, int n_dims)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];

    return (struct conv_axis){ b->ne[dim], a->ne[dim], tensor_get_i32(dst, dim),
                               tensor_get_i32(dst, n_dims + dim),
                               tensor_get_i32(dst, 2 * n_dims + dim) };
}

void
cpu_conv_unfold(const struct conv_axis *w, const struct ggml_tensor *x,
                const char *from, int64_t place, float *y)
{
    int64_t first = 0, end = from ? w->k : 0;

    while (first < end && !cpu_conv_inside(w, cpu_conv_source(w, place, first)))
        y[first++] = 0;
    while (end > first &&
           !cpu_conv_inside(w, cpu_conv_source(w, place, end - 1)))
        end--;
    if (end > first)
        cpu_gather(x->type,
                   from + (size_t)cpu_conv_source(w, place, first) * x->nb[0],
                   (size_t)w->d * x->nb[0], end - first, y + first);
    for (end = end > first ? end : first; end < w->k; end++)
        y[end] = 0;
}

void
cpu_conv_add_line(const struct cpu_task *t, const struct conv_axis *w,
                  int64_t k, float value, const float *x, int64_t n, float *y)
{
    int64_t first = 0, end = n;

    while (first < end && !cpu_conv_inside(w, cpu_conv_source(w, first, k)))
        first++;
    while (end > first && !cpu_conv_inside(w, cpu_conv_source(w, end - 1, k)))
        end--;
    if (end == first)
        return;
    x += cpu_conv_source(w, first, k);
    if (w->s == 1)
        t->k->add_weighted_rows[GGML_TYPE_F32](
            &(struct cpu_small_batch){ .m = 1,
                                       .n = 1,
                                       .k = end - first,
                                       .a = &value,
                                       .b = (const char *)x,
                                       .c = y + first });
    else
        for (int64_t i = first; i < end; i++)
            y[i] += value * x[(i - first) * w->s];
}

/* A convolution over width, height and depth; that of two dimensions has a
 * depth of 1. */
struct conv {
    struct conv_axis w, h, d;
    int64_t n_channels, n_out;
};

static struct conv
make_conv(const struct ggml_tensor *dst)
{
    bool is_2d = dst->op == GGML_OP_CONV_2D;
    int n = is_2d ? 2 : 3;
    struct conv c = { .w = cpu_conv_axis(dst, 0, n),
                      .h = cpu_conv_axis(dst, 1, n),
                      .d = { 1, 1, 1, 0, 1 } };

    if (!is_2d)
        c.d = cpu_conv_axis(dst, 2, n);
    c.n_channels = is_2d ? dst->src[0]->ne[2] : tensor_get_i32(dst, 9);
    c.n_out = is_2d ? dst->ne[2] : dst->src[0]->ne[3] / c.n_channels;
    return c;
}

/* The line of a tensor: of an image, a channel and, in 3D, a depth. */
static struct cpu_row
line_at(const struct ggml_tensor *dst, const struct conv *c, int64_t line,
        int64_t depth, int64_t channel, int64_t image)
{
    if (dst->op == GGML_OP_CONV_2D)
        return (struct cpu_row){ line, channel, image };
    return (struct cpu_row){ line, depth, image * c->n_channels + channel };
}

/* Adds what one line under the kernel gives. */
static void
conv_line(const struct cpu_task *t, struct ggml_tensor *dst,
          const struct conv *c, struct cpu_row of_kernel, struct cpu_row from,
          float *y)
{
    const float *k =
        cpu_load_row(t, dst->src[0], of_kernel, cpu_row_buffer(t, dst, 0));
    const float *x =
        cpu_load_row(t, dst->src[1], from, cpu_row_buffer(t, dst, 1));

    for (int64_t i = 0; i < c->w.k; i++)
        cpu_conv_add_line(t, &c->w, i, k[i], x, dst->ne[0], y);
}

/* A line of the result: its channel, its image, and where it lies. */
static void
conv_row(const struct cpu_task *t, struct ggml_tensor *dst,
         const struct conv *c, struct cpu_row r, float *y)
{
    bool is_2d = dst->op == GGML_OP_CONV_2D;
    int64_t out = is_2d ? r.i2 : r.i3 % c->n_out;
    int64_t image = is_2d ? r.i3 : r.i3 / c->n_out;
    int64_t plane = is_2d ? 0 : r.i2;

    memset(y, 0, (size_t)dst->ne[0] * sizeof(*y));
    for (int64_t channel = 0; channel < c->n_channels; channel++)
        for (int64_t d = 0; d < c->d.k; d++)
            for (int64_t h = 0; h < c->h.k; h++) {
                int64_t line = cpu_conv_source(&c->h, r.i1, h);
                int64_t depth = cpu_conv_source(&c->d, plane, d);

                if (cpu_conv_inside(&c->h, line) &&
                    cpu_conv_inside(&c->d, depth))
                    conv_line(t, dst, c, line_at(dst, c, h, d, channel, out),
                              line_at(dst, c, line, depth, channel, image), y);
            }
}

static void
conv_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    struct conv c = make_conv(dst);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 2));

        conv_row(t, dst, &c, r, y);
        cpu_store_row(t, dst, r, y);
    }
}

static int64_t
conv_cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) * ggml_nelements(dst->src[0]) /
           (4 * dst->src[0]->ne[3]);
}

const struct cpu_op cpu_op_conv_2d = { .compute = conv_compute,
                                       .supports = cpu_rows_supported,
                                       .cost = conv_cost,
                                       .work_size = cpu_rows_work_size };
const struct cpu_op cpu_op_conv_3d = { .compute = conv_compute,
                                       .supports = cpu_rows_supported,
                                       .cost = conv_cost,
                                       .work_size = cpu_rows_work_size };

/* Channel after channel, each with its planes, lines, elements. */
static void
im2col_3d_row(const struct ggml_tensor *dst, const struct conv *c,
              struct cpu_row r, float *y)
{
    const struct ggml_tensor *x = dst->src[1];
    int64_t n = x->ne[3] / c->n_channels, planes = dst->ne[3] / n;
    int64_t image = r.i3 / planes, plane = r.i3 % planes;

    for (int64_t channel = 0; channel < c->n_channels; channel++)
        for (int64_t d = 0; d < c->d.k; d++)
            for (int64_t h = 0; h < c->h.k; h++, y += c->w.k) {
                int64_t line = cpu_conv_source(&c->h, r.i2, h);
                int64_t depth = cpu_conv_source(&c->d, plane, d);
                struct cpu_row at =
                    line_at(dst, c, line, depth, channel, image);
                bool is_there = cpu_conv_inside(&c->h, line) &&
                                cpu_conv_inside(&c->d, depth);

                cpu_conv_unfold(&c->w, x, is_there ? cpu_row_data(x, at) : NULL,
                                r.i1, y);
            }
}

static void
im2col_3d_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    struct conv c = make_conv(dst);

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 2));

        im2col_3d_row(dst, &c, r, y);
        cpu_store_row(t, dst, r, y);
    }
}

/* The kernel's type does not matter: only its shape is read. */
static bool
im2col_3d_supports(const struct ggml_tensor *dst)
{
    return cpu_has_elements(dst->type) && cpu_has_elements(dst->src[1]->type);
}

static int64_t
im2col_3d_cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst);
}

const struct cpu_op cpu_op_im2col_3d = { .compute = im2col_3d_compute,
                                         .supports = im2col_3d_supports,
                                         .cost = im2col_3d_cost,
                                         .work_size = cpu_rows_work_size };

/* A channel: the sums of what its part of each column puts there. */
static void
col2im_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, dst->ne[1]);
    int64_t s = tensor_get_i32(dst, 0), cut = tensor_get_i32(dst, 2);
    int64_t k = x->ne[0] / dst->ne[1], n = dst->ne[0];

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = { i, 0, 0 };
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 1));
        float *column = cpu_row_buffer(t, dst, 0);

        memset(y, 0, (size_t)n * sizeof(*y));
        for (int64_t j = 0; j < x->ne[1]; j++) {
            const float *from =
                cpu_load_row(t, x, (struct cpu_row){ j, 0, 0 }, column);

            for (int64_t l = 0; l < k; l++) {
                int64_t at = j * s + l - cut;

                if (at >= 0 && at < n)
                    y[at] += from[i * k + l];
            }
        }
        cpu_store_row(t, dst, r, y);
    }
}

static int64_t
col2im_cost(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst->src[0]);
}

const struct cpu_op cpu_op_col2im_1d = { .compute = col2im_compute,
                                         .supports = cpu_rows_supported,
                                         .cost = col2im_cost,
                                         .work_size = cpu_rows_work_size };
