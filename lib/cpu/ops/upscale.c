/* upscale.c - UPSCALE: images in another size
 *
 * Each pixel is a weighted sum of pixels near the place where it comes from,
 * columns and lines apart: PyTorch's interpolate(), whose weights for bicubic
 * are Keys' (1981) with a = -0.75. */
#include <math.h>

#include "cpu/ops/op_table.h"
#include "tensor/tensor.h"

/* How one dimension is sampled. */
struct axis {
    int64_t n;    /* of the source */
    float scale;  /* result per source */
    float offset; /* of a pixel's middle */
    float reach;  /* pixels that count; > 0: antialiased */
    bool cubic;
};

/* Source pixels [first, end), seen from `at`. */
struct taps {
    int64_t first, end;
    float at;
};

static struct axis
make_axis(const struct ggml_tensor *dst, int dim)
{
    int64_t to = dst->ne[dim], from = dst->src[0]->ne[dim];
    int32_t mode = tensor_get_i32(dst, 0);
    struct axis a = { .n = from,
                      .scale = (float)to / (float)from,
                      .offset = 0.5f,
                      .cubic = (mode & 0xff) == GGML_SCALE_MODE_BICUBIC };

    if (mode & GGML_SCALE_FLAG_ALIGN_CORNERS && dim < 2) {
        a.offset = 0;
        if (to > 1 && from > 1)
            a.scale = (float)(to - 1) / (float)(from - 1);
    }
    if (mode & GGML_SCALE_FLAG_ANTIALIAS)
        a.reach = a.scale < 1 ? 1 / a.scale : 1;
    return a;
}

static int64_t
clamp_index(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static int64_t
nearest(const struct axis *a, int64_t i)
{
    return clamp_index((int64_t)((float)i / a->scale), a->n);
}

static struct taps
taps_at(const struct axis *a, int64_t i)
{
    float middle = ((float)i + a->offset) / a->scale;
    struct taps t = { .at = middle - a->offset };

    if (a->reach > 0) {
        t.first = (int64_t)(middle - a->reach + a->offset);
        t.end = (int64_t)(middle + a->reach + a->offset);
        t.first = t.first < 0 ? 0 : t.first;
        t.end = t.end < a->n ? t.end : a->n;
    } else {
        t.first = (int64_t)floorf(t.at) - a->cubic;
        t.end = t.first + (a->cubic ? 4 : 2);
    }
    return t;
}

static float
cubic(float d)
{
    const float a = -0.75f;

    return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1
                  : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

static float
weight(const struct axis *a, const struct taps *t, int64_t i)
{
    float d = fabsf((float)i - t->at);

    if (a->cubic)
        return cubic(d);
    if (a->reach > 0)
        d /= a->reach;
    return d < 1 ? 1 - d : 0;
}

/* The weights of a few pixels, and where these lie in bytes. */
struct filter {
    size_t at[4];
    float weight[4];
};

static struct filter
make_filter(const struct axis *a, int64_t i, size_t stride)
{
    struct taps t = taps_at(a, i);
    struct filter f = { { 0 }, { 0 } };

    for (int64_t j = t.first; j < t.end; j++) {
        f.at[j - t.first] = (size_t)clamp_index(j, a->n) * stride;
        f.weight[j - t.first] = weight(a, &t, j);
    }
    return f;
}

static float
pixel(const char *p)
{
    return *(const float *)(const void *)p;
}

static float
mix_2(const char *row, const struct filter *f)
{
    return f->weight[0] * pixel(row + f->at[0]) +
           f->weight[1] * pixel(row + f->at[1]);
}

static float
mix_4(const char *row, const struct filter *f)
{
    return mix_2(row, f) + f->weight[2] * pixel(row + f->at[2]) +
           f->weight[3] * pixel(row + f->at[3]);
}

/* columns: a filter for each element of the row. */
static void
filter_row(const struct ggml_tensor *dst, const char *plane,
           const struct axis axes[], const struct filter *columns, int64_t line,
           float *y)
{
    struct filter h = make_filter(&axes[1], line, dst->src[0]->nb[1]);

    for (int64_t i = 0; i < dst->ne[0]; i++, columns++) {
        float sum = 0;

        if (axes[0].cubic)
            for (int j = 0; j < 4; j++)
                sum += h.weight[j] * mix_4(plane + h.at[j], columns);
        else
            sum = h.weight[0] * mix_2(plane + h.at[0], columns) +
                  h.weight[1] * mix_2(plane + h.at[1], columns);
        y[i] = sum;
    }
}

/* Antialiased: as many pixels as an element of the result covers, whose
 * weights do not add up to 1. */
static float
sample(const struct ggml_tensor *x, const char *plane, const struct axis axes[],
       const struct taps *w, const struct taps *h)
{
    float sum = 0, total = 0;

    for (int64_t i = h->first; i < h->end; i++) {
        const char *row = plane + (size_t)i * x->nb[1];
        float line = weight(&axes[1], h, i);

        for (int64_t j = w->first; j < w->end; j++) {
            float part = line * weight(&axes[0], w, j);

            sum += part * pixel(row + (size_t)j * x->nb[0]);
            total += part;
        }
    }
    return total > 0 ? sum / total : sum;
}

static void
sample_row(const struct ggml_tensor *dst, const char *plane,
           const struct axis axes[], int64_t line, float *y)
{
    struct taps h = taps_at(&axes[1], line);

    for (int64_t i = 0; i < dst->ne[0]; i++) {
        struct taps w = taps_at(&axes[0], i);

        y[i] = sample(dst->src[0], plane, axes, &w, &h);
    }
}

static void
nearest_row(const struct ggml_tensor *dst, const char *plane,
            const struct axis axes[], int64_t line, float *y)
{
    const struct ggml_tensor *x = dst->src[0];
    const char *row = plane + (size_t)nearest(&axes[1], line) * x->nb[1];

    for (int64_t i = 0; i < dst->ne[0]; i++)
        y[i] = pixel(row + (size_t)nearest(&axes[0], i) * x->nb[0]);
}

static bool
is_nearest(const struct ggml_tensor *dst)
{
    return (tensor_get_i32(dst, 0) & 0xff) == GGML_SCALE_MODE_NEAREST;
}

/* A thread's filters for the columns. */
static size_t
filters_size(const struct ggml_tensor *dst)
{
    bool none =
        is_nearest(dst) || tensor_get_i32(dst, 0) & GGML_SCALE_FLAG_ANTIALIAS;

    return none ? 0 : cpu_pad((size_t)dst->ne[0] * sizeof(struct filter));
}

static size_t
upscale_work_size(const struct ggml_tensor *dst, int n_threads,
                  const struct cpu_kernels *k)
{
    (void)k;
    return filters_size(dst) * (size_t)n_threads;
}

static struct filter *
make_columns(const struct cpu_task *t, const struct ggml_tensor *dst,
             const struct axis *a)
{
    struct filter *columns;

    if (!filters_size(dst))
        return NULL;
    columns = cpu_scratch(t, filters_size(dst));
    for (int64_t i = 0; i < dst->ne[0]; i++)
        columns[i] = make_filter(a, i, dst->src[0]->nb[0]);
    return columns;
}

static void
upscale_compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    struct filter *columns;
    struct axis axes[GGML_MAX_DIMS];

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        axes[i] = make_axis(dst, i);
    columns = make_columns(t, dst, &axes[0]);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row from = { 0, nearest(&axes[2], r.i2),
                                nearest(&axes[3], r.i3) };
        const char *plane = cpu_row_data(x, from);
        float *y = (float *)(void *)cpu_row_data(dst, r);

        if (is_nearest(dst))
            nearest_row(dst, plane, axes, r.i1, y);
        else if (columns)
            filter_row(dst, plane, axes, columns, r.i1, y);
        else
            sample_row(dst, plane, axes, r.i1, y);
    }
}

static bool
upscale_supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && dst->src[0]->type == GGML_TYPE_F32;
}

static int64_t
upscale_cost(const struct ggml_tensor *dst)
{
    return 20 * ggml_nelements(dst);
}

const struct cpu_op cpu_op_upscale = { .compute = upscale_compute,
                                       .supports = upscale_supports,
                                       .cost = upscale_cost,
                                       .work_size = upscale_work_size };
