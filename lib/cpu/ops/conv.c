/* conv.c - IM2COL, CONV_2D_DW: what lies under a kernel, place by place */
#include <string.h>

#include "cpu/ops/conv_axis.h"
#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* im2col's axis of one dimension has a height of 1. */
static struct conv_axis
make_axis(const struct ggml_tensor *dst, int dim)
{
    return cpu_conv_axis(dst, dim, 2);
}

/* b [w, h, channels, n], or [w, channels, n] */
static void
im2col_row(const struct ggml_tensor *dst, struct cpu_row r, float *y)
{
    const struct ggml_tensor *x = dst->src[1];
    struct conv_axis w = make_axis(dst, 0), h = { 1, 1, 1, 0, 1 };
    bool is_2d = tensor_get_i32(dst, 6) != 0;
    int channel = is_2d ? 2 : 1;
    const char *image =
        (char *)x->data + (size_t)(is_2d ? r.i3 : r.i2) * x->nb[channel + 1];

    if (is_2d)
        h = make_axis(dst, 1);
    else
        r.i2 = 0;
    for (int64_t c = 0; c < x->ne[channel]; c++)
        for (int64_t k = 0; k < h.k; k++, y += w.k) {
            int64_t line = cpu_conv_source(&h, r.i2, k);
            const char *from = image + (size_t)c * x->nb[channel];

            if (!cpu_conv_inside(&h, line))
                from = NULL;
            else if (is_2d)
                from += (size_t)line * x->nb[1];
            cpu_conv_unfold(&w, x, from, r.i1, y);
        }
}

static void
compute_im2col(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        float *y = cpu_target_row(dst, r, cpu_row_buffer(t, dst, 2));

        im2col_row(dst, r, y);
        cpu_store_row(t, dst, r, y);
    }
}

static bool
supports_im2col(const struct ggml_tensor *dst)
{
    return cpu_has_elements(dst->type) && cpu_has_elements(dst->src[1]->type);
}

static int64_t
cost_im2col(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst);
}

const struct cpu_op cpu_op_im2col = { .compute = compute_im2col,
                                      .supports = supports_im2col,
                                      .cost = cost_im2col,
                                      .work_size = cpu_rows_work_size };

static const float *
floats(const char *p)
{
    return (const float *)(const void *)p;
}

/* A line of one channel: a [kw, kh, 1, channels], b [w, h, channels, n] */
static void
dw_line(const struct cpu_task *t, struct ggml_tensor *dst, struct cpu_row r)
{
    const struct ggml_tensor *a = dst->src[0], *b = dst->src[1];
    struct conv_axis w = make_axis(dst, 0), h = make_axis(dst, 1);
    float *y = (float *)(void *)cpu_row_data(dst, r);

    memset(y, 0, (size_t)dst->ne[0] * sizeof(*y));
    for (int64_t i = 0; i < h.k; i++) {
        struct cpu_row from = { cpu_conv_source(&h, r.i1, i), r.i2, r.i3 };
        struct cpu_row of_k = { i, 0, r.i2 };

        for (int64_t j = 0; j < w.k && cpu_conv_inside(&h, from.i1); j++) {
            float value;

            cpu_gather(a->type, cpu_row_data(a, of_k) + (size_t)j * a->nb[0], 0,
                       1, &value);
            cpu_conv_add_line(t, &w, j, value, floats(cpu_row_data(b, from)),
                              dst->ne[0], y);
        }
    }
}

/* Where channels are innermost they go side by side: the kernel's elements
 * for all of them as floats, and one row of products. */
struct channels {
    const struct ggml_tensor *a, *b;
    struct conv_axis w, h;
    float *kernel, *product;
};

static size_t
kernel_size(const struct ggml_tensor *dst)
{
    return cpu_pad((size_t)ggml_nelements(dst->src[0]) * sizeof(float));
}

static bool
by_channels(const struct ggml_tensor *dst)
{
    return dst->nb[0] != sizeof(float);
}

static size_t
dw_work_size(const struct ggml_tensor *dst, int n_threads,
             const struct cpu_kernels *k)
{
    (void)k;
    if (!by_channels(dst))
        return 0;
    return (kernel_size(dst) + cpu_pad((size_t)dst->ne[2] * sizeof(float))) *
           (size_t)n_threads;
}

static void
load_kernel(const struct channels *c)
{
    int64_t n = c->b->ne[2];

    for (int64_t i = 0; i < c->h.k; i++)
        for (int64_t j = 0; j < c->w.k; j++)
            cpu_gather(c->a->type,
                       (char *)c->a->data + (size_t)i * c->a->nb[1] +
                           (size_t)j * c->a->nb[0],
                       c->a->nb[3], n, c->kernel + (i * c->w.k + j) * n);
}

static void
dw_pixel(const struct cpu_task *t, const struct channels *c, const char *image,
         int64_t line, int64_t column, float *y)
{
    int64_t n = c->b->ne[2];

    memset(y, 0, (size_t)n * sizeof(*y));
    for (int64_t i = 0; i < c->h.k; i++) {
        int64_t from = cpu_conv_source(&c->h, line, i);

        for (int64_t j = 0; j < c->w.k && cpu_conv_inside(&c->h, from); j++) {
            int64_t at = cpu_conv_source(&c->w, column, j);

            if (!cpu_conv_inside(&c->w, at))
                continue;
            t->k->mul(n, c->product, c->kernel + (i * c->w.k + j) * n,
                      floats(image + (size_t)from * c->b->nb[1] +
                             (size_t)at * c->b->nb[0]));
            t->k->add(n, y, y, c->product);
        }
    }
}

static void
dw_by_channels(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range lines = cpu_share(t, dst->ne[1] * dst->ne[3]);
    size_t row = cpu_pad((size_t)dst->ne[2] * sizeof(float));
    char *work = cpu_scratch(t, kernel_size(dst) + row);
    struct channels c = {
        dst->src[0],           dst->src[1],
        make_axis(dst, 0),     make_axis(dst, 1),
        (float *)(void *)work, (float *)(void *)(work + kernel_size(dst))
    };

    if (lines.first < lines.end)
        load_kernel(&c);
    for (int64_t i = lines.first; i < lines.end; i++) {
        struct cpu_row r = { i % dst->ne[1], 0, i / dst->ne[1] };
        const char *image = (char *)c.b->data + (size_t)r.i3 * c.b->nb[3];
        char *y = cpu_row_data(dst, r);

        for (int64_t j = 0; j < dst->ne[0]; j++, y += dst->nb[0])
            dw_pixel(t, &c, image, r.i1, j, (float *)(void *)y);
    }
}

static void
compute_dw(const struct cpu_task *t, struct ggml_tensor *dst)
{
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));

    if (by_channels(dst)) {
        dw_by_channels(t, dst);
        return;
    }
    for (int64_t i = rows.first; i < rows.end; i++)
        dw_line(t, dst, cpu_row_at(dst, i));
}

static bool
supports_dw(const struct ggml_tensor *dst)
{
    const struct ggml_tensor *b = dst->src[1];
    int inner = by_channels(dst) ? 2 : 0;

    return dst->type == GGML_TYPE_F32 && b->type == GGML_TYPE_F32 &&
           dst->nb[inner] == sizeof(float) && b->nb[inner] == sizeof(float) &&
           cpu_has_elements(dst->src[0]->type);
}

static int64_t
cost_dw(const struct ggml_tensor *dst)
{
    return ggml_nelements(dst) * dst->src[0]->ne[0] * dst->src[0]->ne[1] / 4;
}

const struct cpu_op cpu_op_conv_2d_dw = { .compute = compute_dw,
                                          .supports = supports_dw,
                                          .cost = cost_dw,
                                          .work_size = dw_work_size };
