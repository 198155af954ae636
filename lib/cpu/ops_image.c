/* ops_image.c - UPSCALE: images in another size
 *
 * Each pixel is a weighted sum of pixels near the place where it comes from,
 * columns and lines apart: PyTorch's interpolate(), whose weights for bicubic
 * are Keys' (1981) with a = -0.75. */
#include <math.h>

#include "cpu/ops.h"
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
clamp(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n - 1;
}

static int64_t
nearest(const struct axis *a, int64_t i)
{
    return clamp((int64_t)((float)i / a->scale), a->n);
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

/* Weights add up to 1, but for those of the antialiased. */
static float
sample(const struct ggml_tensor *x, const char *plane, const struct axis axes[],
       const struct taps *w, const struct taps *h)
{
    float sum = 0, total = 0;

    for (int64_t i = h->first; i < h->end; i++) {
        const char *row = plane + (size_t)clamp(i, axes[1].n) * x->nb[1];
        float line = weight(&axes[1], h, i);

        for (int64_t j = w->first; j < w->end; j++) {
            size_t at = (size_t)clamp(j, axes[0].n) * x->nb[0];
            float part = line * weight(&axes[0], w, j);

            sum += part * *(const float *)(const void *)(row + at);
            total += part;
        }
    }
    return axes[0].reach > 0 && total > 0 ? sum / total : sum;
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
        y[i] =
            *(const float *)(const void *)(row + (size_t)nearest(&axes[0], i) *
                                                     x->nb[0]);
}

static void
compute(const struct cpu_task *t, struct ggml_tensor *dst)
{
    const struct ggml_tensor *x = dst->src[0];
    struct cpu_range rows = cpu_share(t, ggml_nrows(dst));
    struct axis axes[GGML_MAX_DIMS];

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        axes[i] = make_axis(dst, i);
    for (int64_t i = rows.first; i < rows.end; i++) {
        struct cpu_row r = cpu_row_at(dst, i);
        struct cpu_row from = { 0, nearest(&axes[2], r.i2),
                                nearest(&axes[3], r.i3) };
        float *y = (float *)(void *)cpu_row_data(dst, r);

        if ((tensor_get_i32(dst, 0) & 0xff) == GGML_SCALE_MODE_NEAREST)
            nearest_row(dst, cpu_row_data(x, from), axes, r.i1, y);
        else
            sample_row(dst, cpu_row_data(x, from), axes, r.i1, y);
    }
}

static bool
supports(const struct ggml_tensor *dst)
{
    return cpu_is_plain(dst) && dst->src[0]->type == GGML_TYPE_F32;
}

static int64_t
cost(const struct ggml_tensor *dst)
{
    return 20 * ggml_nelements(dst);
}

const struct cpu_op cpu_op_upscale = { .compute = compute,
                                       .supports = supports,
                                       .cost = cost };
