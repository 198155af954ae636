/* resize.c - resizing of images, byte for byte as Pillow before version 13
 *
 * A pixel of the result is a weighted sum of pixels of a row, then of a column.
 * Where the image shrinks, the filter is stretched, so that each pixel counts.
 * Weights are rounded to 22 bits, sums to 8: what an encoder was trained on. */
#include <config.h>

#include <math.h>

#include "core/check.h"
#include "core/error.h"
#include "core/mem.h"
#include "media/image.h"

enum {
    BITS = 22,   /* of the fraction of a weight */
    STRIP = 192, /* bytes of a row that are summed at a time */
};

/* ---- filters ------------------------------------------------------------- */

static double
bilinear(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

static double
bicubic(double x)
{
    const double a = -0.5;

    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    if (x < 2)
        return (((x - 5) * x + 8) * x - 4) * a;
    return 0;
}

static double
sinc(double x)
{
    x *= M_PI;
    return x == 0 ? 1 : sin(x) / x;
}

static double
lanczos(double x)
{
    return x >= -3 && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

static const struct {
    double (*weight)(double x);
    double support; /* beyond it weights are 0 */
} filters[] = {
    [MEDIA_BILINEAR] = { bilinear, 1 },
    [MEDIA_BICUBIC] = { bicubic, 2 },
    [MEDIA_LANCZOS] = { lanczos, 3 },
};

/* ---- weights ------------------------------------------------------------- */

/* For each of n pixels of the result: count[i] pixels from first[i] on, times
 * the weights from weight[i * most] on. */
struct taps {
    uint32_t n, most;
    uint32_t *first, *count;
    int32_t *weight;
};

static void
taps_clear(struct taps *t)
{
    mem_free(t->first);
    mem_free(t->count);
    mem_free(t->weight);
    *t = (struct taps){ 0 };
}

static enum gg_status
taps_allocate(struct taps *t, uint32_t n, double most, struct gg_error *err)
{
    size_t total;

    *t = (struct taps){ .n = n };
    if (most < UINT32_MAX && check_mul(n, (uint64_t)most, &total)) {
        t->most = (uint32_t)most;
        t->first = mem_array(n, sizeof(*t->first));
        t->count = mem_array(n, sizeof(*t->count));
        t->weight = mem_array(total, sizeof(*t->weight));
    }
    if (t->first && t->count && t->weight)
        return GG_OK;
    taps_clear(t);
    return error_nomem(err);
}

static int32_t
fixed_point(double x)
{
    double scaled = x * (1 << BITS);

    return (int32_t)(x < 0 ? scaled - 0.5 : scaled + 0.5);
}

/* Weights of one pixel of the result, whose middle is at `center` of the
 * source; `real` has room for them. */
static void
weigh(struct taps *t, uint32_t i, double center, double stretch,
      enum media_filter filter, uint32_t size, double *real)
{
    double support = filters[filter].support * stretch, sum = 0;
    double left = center - support + 0.5, right = center + support + 0.5;
    uint32_t first = left < 0 ? 0 : (uint32_t)left;
    uint32_t end = right > size ? size : (uint32_t)right;

    t->first[i] = first;
    t->count[i] = end - first;
    for (uint32_t k = 0; k < end - first; k++) {
        double at = (double)k + first - center + 0.5;

        real[k] = filters[filter].weight(at * (1 / stretch));
        sum += real[k];
    }
    for (uint32_t k = 0; k < end - first; k++)
        t->weight[(size_t)i * t->most + k] =
            fixed_point(sum != 0 ? real[k] / sum : real[k]);
}

static enum gg_status
taps_init(struct taps *t, uint32_t from, uint32_t to, enum media_filter filter,
          struct gg_error *err)
{
    double scale = (double)from / to, stretch = scale < 1 ? 1 : scale;
    double most = ceil(filters[filter].support * stretch) * 2 + 1;
    enum gg_status st = taps_allocate(t, to, most, err);
    double *real;

    if (st != GG_OK)
        return st;
    real = mem_array(t->most, sizeof(*real));
    if (!real) {
        taps_clear(t);
        return error_nomem(err);
    }
    for (uint32_t i = 0; i < to; i++)
        weigh(t, i, (i + 0.5) * scale, stretch, filter, from, real);
    mem_free(real);
    return GG_OK;
}

/* ---- passes -------------------------------------------------------------- */

static inline uint8_t
clip(int32_t sum)
{
    sum >>= BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static void
resize_row(const struct taps *t, const uint8_t *row, uint8_t *out)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const uint8_t *p = row + 3 * (size_t)t->first[i];
        const int32_t *w = t->weight + (size_t)i * t->most;
        int32_t r = 1 << (BITS - 1), g = r, b = r;

        for (uint32_t k = 0; k < t->count[i]; k++, p += 3) {
            r += p[0] * w[k];
            g += p[1] * w[k];
            b += p[2] * w[k];
        }
        *out++ = clip(r);
        *out++ = clip(g);
        *out++ = clip(b);
    }
}

static enum gg_status
resize_rows(const struct media_image *from, uint32_t width,
            enum media_filter filter, struct media_image *to,
            struct gg_error *err)
{
    struct taps t;
    enum gg_status st = taps_init(&t, from->width, width, filter, err);

    if (st == GG_OK)
        st = media_image_init(to, width, from->height, err);
    for (uint32_t y = 0; st == GG_OK && y < from->height; y++)
        resize_row(&t, from->rgb + 3 * (size_t)y * from->width,
                   to->rgb + 3 * (size_t)y * width);
    taps_clear(&t);
    return st;
}

/* n bytes of row i of the result, of those from column p on. */
static void
sum_columns(const struct taps *t, uint32_t i, const uint8_t *p, size_t stride,
            size_t n, uint8_t *out)
{
    const int32_t *w = t->weight + (size_t)i * t->most;
    int32_t sum[STRIP];

    for (size_t x = 0; x < n; x++)
        sum[x] = 1 << (BITS - 1);
    p += t->first[i] * stride;
    for (uint32_t k = 0; k < t->count[i]; k++, p += stride)
        for (size_t x = 0; x < n; x++)
            sum[x] += p[x] * w[k];
    for (size_t x = 0; x < n; x++)
        out[x] = clip(sum[x]);
}

static enum gg_status
resize_columns(const struct media_image *from, uint32_t height,
               enum media_filter filter, struct media_image *to,
               struct gg_error *err)
{
    size_t stride = 3 * (size_t)from->width;
    struct taps t;
    enum gg_status st = taps_init(&t, from->height, height, filter, err);

    if (st == GG_OK)
        st = media_image_init(to, from->width, height, err);
    for (uint32_t y = 0; st == GG_OK && y < height; y++)
        for (size_t x = 0; x < stride; x += STRIP)
            sum_columns(&t, y, from->rgb + x, stride,
                        stride - x < STRIP ? stride - x : STRIP,
                        to->rgb + y * stride + x);
    taps_clear(&t);
    return st;
}

static enum gg_status
copy_image(const struct media_image *from, struct media_image *to,
           struct gg_error *err)
{
    static const uint8_t black[3];

    return media_window(from, 0, 0, from->width, from->height, black, to, err);
}

enum gg_status
media_resize(const struct media_image *from, uint32_t width, uint32_t height,
             enum media_filter filter, struct media_image *to,
             struct gg_error *err)
{
    struct media_image wide = { 0 };
    enum gg_status st;

    *to = (struct media_image){ 0 };
    if (width == 0 || height == 0)
        return media_image_init(to, width, height, err);
    if (width == from->width && height == from->height)
        return copy_image(from, to, err);
    if (width == from->width)
        return resize_columns(from, height, filter, to, err);
    if (height == from->height)
        return resize_rows(from, width, filter, to, err);
    st = resize_rows(from, width, filter, &wide, err);
    if (st == GG_OK)
        st = resize_columns(&wide, height, filter, to, err);
    media_image_clear(&wide);
    return st;
}
