/* picture.c - --png: a tensor, or histograms, as a picture */
#include <config.h>

#include "common/cli.h"
#include "gg-inspect/bins.h"
#include "gg-inspect/tensor_source.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST = 1024,  /* pixels of a side */
    BAR = 12,     /* wide, of one histogram; */
    HEIGHT = 256, /* its height */
    WIDE = 16,    /* a step's width, of several; */
    BAND = 8,     /* their height, or 1 where there are many */
    MOST_BANDS = 4096,
};

struct image {
    size_t width, height;
    unsigned char *rgb;
};

#ifdef HAVE_LIBPNG

#include <png.h>

void
picture_check(void)
{
}

static void
write_image(const struct image *m)
{
    png_image png = { .version = PNG_IMAGE_VERSION,
                      .width = (png_uint_32)m->width,
                      .height = (png_uint_32)m->height,
                      .format = PNG_FORMAT_RGB };

    /* A failed write is told when standard output is closed. */
    if (!png_image_write_to_stdio(&png, stdout, 0, m->rgb, 0, NULL) &&
        !ferror(stdout))
        cli_die("no picture: %s", png.message);
}

#else

void
picture_check(void)
{
    cli_die("pictures need the png library, and this gg-inspect was built "
            "without it");
}

static void
write_image(const struct image *m)
{
    (void)m;
}

#endif

/* ---- pixels -------------------------------------------------------------- */

static void
new_image(struct image *m, size_t width, size_t height)
{
    *m = (struct image){ width, height, cli_alloc(NULL, 3 * width, height) };
    memset(m->rgb, 0, 3 * width * height);
}

/* 0 to 1: black, violet, red, yellow, white. */
static void
paint(struct image *m, size_t x, size_t y, double level)
{
    static const double stops[5][3] = { { 0, 0, 0 },
                                        { 80, 18, 123 },
                                        { 220, 60, 70 },
                                        { 252, 180, 60 },
                                        { 255, 255, 255 } };
    double at = (level < 0 ? 0 : level > 1 ? 1 : level) * 4;
    int i = at < 3 ? (int)at : 3;

    for (int c = 0; c < 3; c++)
        m->rgb[3 * (y * m->width + x) + (size_t)c] =
            (unsigned char)(stops[i][c] +
                            (stops[i + 1][c] - stops[i][c]) * (at - i) + 0.5);
}

static void
paint_odd(struct image *m, size_t x, size_t y)
{
    static const unsigned char green[3] = { 0, 255, 0 };

    memcpy(m->rgb + 3 * (y * m->width + x), green, 3);
}

/* ---- histograms ---------------------------------------------------------- */

static uint64_t
most_of(const struct bins *b)
{
    uint64_t most = 1;

    for (int k = 0; k < BINS; k++)
        most = b->n[k] > most ? b->n[k] : most;
    return most;
}

static void
paint_bars(struct image *m, const struct bins *b)
{
    double most = (double)most_of(b);

    for (size_t y = 0; y < m->height; y++)
        for (size_t x = 0; x < m->width; x++) {
            double part = (double)b->n[x / BAR] / most;

            if ((double)(m->height - y) <= part * (double)m->height + 0.5)
                paint(m, x, y, x % BAR == BAR - 1 ? 0.6 : 0.75);
        }
}

/* By the logarithm, so that tails are seen. */
static void
paint_bands(struct image *m, const struct bins *b, size_t n, size_t band)
{
    for (size_t y = 0; y < n * band; y++) {
        const struct bins *row = &b[y / band];
        double most = log1p((double)most_of(row));

        for (size_t x = 0; x < m->width; x++)
            paint(m, x, y, log1p((double)row->n[x / WIDE]) / most);
    }
}

void
picture_bins(const struct bins *b, int64_t n)
{
    size_t band = n * BAND <= MOST_BANDS ? BAND : 1;
    struct image m;

    if (n == 1) {
        new_image(&m, BAR * BINS, HEIGHT);
        paint_bars(&m, b);
    } else {
        if (n < 1 || n > MOST_BANDS)
            cli_die("a picture of histograms shows 1 to %d tensors",
                    MOST_BANDS);
        new_image(&m, WIDE * BINS, (size_t)n * band);
        paint_bands(&m, b, (size_t)n, band);
    }
    write_image(&m);
    free(m.rgb);
}

/* ---- a tensor ------------------------------------------------------------ */

/* Cells of as many rows and columns as a pixel has. */
struct cells {
    uint64_t columns, rows; /* of the tensor */
    uint64_t wide, high;    /* of a cell */
    struct image m;
    double *squares; /* sums */
    bool *odd;       /* NaN or infinite */
    double sum;
};

static void
add_value(struct cells *c, uint64_t i, double x)
{
    size_t cell = (size_t)(i / c->columns / c->high) * c->m.width +
                  (size_t)(i % c->columns / c->wide);

    if (isfinite(x)) {
        c->squares[cell] += x * x;
        c->sum += x * x;
    } else {
        c->odd[cell] = true;
    }
}

static void
open_cells(struct cells *c, const struct inspected *f, int64_t tensor)
{
    const int64_t *ne = gguf_get_tensor_ne(f->gguf, tensor);
    size_t n;

    *c = (struct cells){ .columns = (uint64_t)ne[0],
                         .rows =
                             totals_values(f->gguf, tensor) / (uint64_t)ne[0] };
    c->wide = (c->columns + MOST - 1) / MOST;
    c->high = (c->rows + MOST - 1) / MOST;
    new_image(&c->m, (size_t)((c->columns + c->wide - 1) / c->wide),
              (size_t)((c->rows + c->high - 1) / c->high));
    n = c->m.width * c->m.height;
    c->squares = cli_alloc(NULL, n, sizeof(*c->squares));
    c->odd = cli_alloc(NULL, n, sizeof(*c->odd));
    for (size_t i = 0; i < n; i++) {
        c->squares[i] = 0;
        c->odd[i] = false;
    }
}

/* The root of the mean square of each cell: that of the tensor is in the
 * middle, and what is three times that, or more, is white. */
static void
paint_cells(struct cells *c)
{
    double rms = sqrt(c->sum / (double)c->columns / (double)c->rows);

    for (size_t y = 0; y < c->m.height; y++)
        for (size_t x = 0; x < c->m.width; x++) {
            size_t i = y * c->m.width + x;
            uint64_t left = c->columns - x * c->wide;
            uint64_t below = c->rows - y * c->high;
            uint64_t n = (left < c->wide ? left : c->wide) *
                         (below < c->high ? below : c->high);
            double level = rms > 0 ? sqrt(c->squares[i] / (double)n) / rms : 0;

            if (c->odd[i])
                paint_odd(&c->m, x, y);
            else
                paint(&c->m, x, y, level <= 1 ? level / 2 : (level + 1) / 4);
        }
}

int
picture_tensor(struct inspected *f, const struct inspect_options *o)
{
    int64_t n, *tensors = select_tensors(f, o, &n), tensor = tensors[0];
    enum ggml_type type = gguf_get_tensor_type(f->gguf, tensor);
    struct values v;
    struct cells c;
    uint64_t at = 0;

    free(tensors);
    if (n > 1)
        cli_die("%s: %s: %lld tensors have such a name, and --png shows one",
                f->path, o->tensor, (long long)n);
    if (!values_known(type))
        cli_die("%s: values of type %s cannot be read yet", f->path,
                ggml_type_name(type));
    if (!totals_values(f->gguf, tensor))
        cli_die("%s: %s has no values, which make no picture", f->path,
                gguf_get_tensor_name(f->gguf, tensor));
    open_cells(&c, f, tensor);
    values_open(&v, f, tensor);
    for (size_t k; (k = values_next(&v));)
        for (size_t i = 0; i < k; i++)
            add_value(&c, at++, v.x[i]);
    values_close(&v);
    paint_cells(&c);
    write_image(&c.m);
    free(c.m.rgb);
    free(c.squares);
    free(c.odd);
    return EXIT_SUCCESS;
}
