/* patches.c - pixels of patches, and the positions that they have in tables */
#include <math.h>

#include "media/graph.h"

/* ---- pixels -------------------------------------------------------------- */

enum {
    LEVELS = 256,
};

/* Computes the value that each level of a channel becomes. */
static void
level_values(const struct media_hparams *hp,
             float values[MEDIA_CHANNELS][LEVELS])
{
    for (int c = 0; c < MEDIA_CHANNELS; c++)
        for (int i = 0; i < LEVELS; i++)
            values[c][i] = ((float)i / 255.0f - hp->mean[c]) / hp->std[c];
}

struct ggml_tensor *
media_pixels(struct media_graph *m)
{
    int32_t p = m->e->hp.patch, side = p * m->nx;
    float values[MEDIA_CHANNELS][LEVELS], *to;
    struct ggml_tensor *t = media_input(
        m, GGML_TYPE_F32, (int64_t)p * p * MEDIA_CHANNELS, m->n, &to);

    level_values(&m->e->hp, values);
    for (int32_t i = 0; i < m->n && to; i++) {
        int32_t x0 = m->order[i] % m->nx * p, y0 = m->order[i] / m->nx * p;

        for (int c = 0; c < MEDIA_CHANNELS; c++)
            for (int32_t y = y0; y < y0 + p; y++) {
                const uint8_t *from =
                    m->rgb +
                    ((size_t)y * (size_t)side + (size_t)x0) * MEDIA_CHANNELS;

                for (int32_t x = 0; x < p; x++)
                    *to++ = values[c][from[x * MEDIA_CHANNELS + c]];
            }
    }
    return t;
}

struct ggml_tensor *
media_frames(struct media_graph *m)
{
    int32_t n_mel = m->e->hp.n_mel;
    float *to;
    struct ggml_tensor *t = media_input(m, GGML_TYPE_F32, n_mel, m->nx, &to);

    for (int32_t i = 0; i < m->nx && to; i++)
        for (int32_t k = 0; k < n_mel; k++)
            *to++ = m->mel[(size_t)k * (size_t)m->nx + (size_t)i];
    return t;
}

static struct ggml_tensor *
convolve(struct media_graph *m, struct ggml_tensor *filters,
         struct ggml_tensor *pixels)
{
    struct ggml_tensor *w =
        ggml_reshape_2d(m->g.ctx, filters, pixels->ne[0],
                        ggml_nelements(filters) / pixels->ne[0]);

    return graph_product(&m->g, ggml_mul_mat(m->g.ctx, w, pixels));
}

struct ggml_tensor *
media_embed(struct media_graph *m)
{
    struct ggml_tensor *pixels = media_pixels(m);
    struct ggml_tensor *x = convolve(m, m->e->patch, pixels);

    /* an image is a video of two frames that are the same */
    if (m->e->patch_2)
        x = ggml_add(m->g.ctx, x, convolve(m, m->e->patch_2, pixels));
    return m->e->patch_bias ? ggml_add(m->g.ctx, x, m->e->patch_bias) : x;
}

/* ---- positions ----------------------------------------------------------- */

enum {
    MAX_TAPS = 512, /* of an axis: MEDIA_MAX_PATCHES rows are a square of it */
};

/* Rows of an axis, and how much each counts. */
struct taps {
    int32_t first, n;
    double w[MAX_TAPS];
};

/* Keys' cubic with a = -0.75. */
static double
cubic(double x)
{
    const double a = -0.75;

    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

static double
triangle(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

/* Place i of n, between `side` rows, the first of which stands at 0. */
static double
place_of(enum media_positions how, int32_t i, int32_t n, int32_t side)
{
    if (how == MEDIA_CORNERS)
        return n > 1 ? (double)i * (side - 1) / (n - 1) : 0;
    return (i + 0.5) * side / n - 0.5;
}

static void
smooth_taps(struct taps *t, double place, double scale, int32_t side)
{
    double sum = 0;
    int32_t first = (int32_t)floor(place + 0.5 - scale + 0.5);
    int32_t end = (int32_t)floor(place + 0.5 + scale + 0.5);

    t->first = first > 0 ? first : 0;
    end = end < side ? end : side;
    t->n = 0;
    for (int32_t i = t->first; i < end && t->n < MAX_TAPS; i++)
        sum += t->w[t->n++] = triangle((i - place) / scale);
    for (int32_t i = 0; i < t->n && sum > 0; i++)
        t->w[i] /= sum;
}

/* Taps of radius r, those outside being the rows at the ends. */
static void
plain_taps(struct taps *t, double place, int32_t r, int32_t side)
{
    int32_t base = (int32_t)floor(place), at = base - r + 1;

    t->first = at > 0 ? at < side ? at : side - 1 : 0;
    t->n = 0;
    for (int32_t i = 0; i < 2 * r; i++)
        t->w[i] = 0;
    for (int32_t i = at; i < at + 2 * r; i++) {
        int32_t row = i < 0 ? 0 : i >= side ? side - 1 : i;
        double w = r == 1 ? triangle(place - i) : cubic(place - i);

        t->w[row - t->first] += w;
        t->n = row - t->first + 1 > t->n ? row - t->first + 1 : t->n;
    }
}

static void
set_taps(struct taps *t, enum media_positions how, int32_t i, int32_t n,
         int32_t side)
{
    double place = place_of(how, i, n, side);

    if (how == MEDIA_SMOOTHED)
        smooth_taps(t, place, side > n ? (double)side / n : 1, side);
    else
        plain_taps(t, place, how == MEDIA_BICUBIC_POSITIONS ? 2 : 1, side);
}

void
media_position_row(const struct media_table *t, enum media_positions how,
                   int32_t nx, int32_t ny, int32_t x, int32_t y, float *row)
{
    int32_t side = (int32_t)lrint(sqrt((double)t->n));
    struct taps tx, ty;

    set_taps(&tx, how, x, nx, side);
    set_taps(&ty, how, y, ny, side);
    for (int32_t i = 0; i < ty.n; i++)
        for (int32_t k = 0; k < tx.n; k++) {
            float w = (float)(ty.w[i] * tx.w[k]);
            const float *from =
                t->x +
                ((int64_t)(ty.first + i) * side + tx.first + k) * t->width;

            for (int64_t c = 0; c < t->width; c++)
                row[c] += w * from[c];
        }
}

static void
add_row(const struct media_table *t, int64_t i, float *row)
{
    for (int64_t c = 0; c < t->width; c++)
        row[c] += t->x[i * t->width + c];
}

static void
set_position(const struct media_graph *m, enum media_positions how, int32_t at,
             float *row)
{
    const struct media_table *t = &m->e->positions;
    int32_t x = at % m->nx, y = at / m->nx;
    int64_t side = lrint(sqrt((double)t->n));

    switch (how) {
    case MEDIA_AS_IS:
        add_row(t, at, row);
        break;
    case MEDIA_AFTER_CLASS:
        add_row(t, at + 1, row);
        break;
    case MEDIA_BY_AXES:
        add_row(t, x, row);
        add_row(t, t->n / 2 + y, row);
        break;
    case MEDIA_BUCKETS:
        add_row(t, side * y / m->ny * side + side * x / m->nx, row);
        break;
    default:
        media_position_row(t, how, m->nx, m->ny, x, y, row);
    }
}

struct ggml_tensor *
media_positions(struct media_graph *m, enum media_positions how)
{
    int64_t width = m->e->positions.width;
    float *to;
    struct ggml_tensor *t = media_input(m, GGML_TYPE_F32, width, m->n, &to);

    for (int32_t i = 0; i < m->n && to; i++)
        set_position(m, how, m->order[i], to + i * width);
    return t;
}

struct ggml_tensor *
media_repeated_positions(struct media_graph *m, int32_t n, int32_t period)
{
    const struct media_table *t = &m->e->positions;
    float *to;
    struct ggml_tensor *r = media_input(m, GGML_TYPE_F32, t->width, n, &to);

    for (int32_t i = 0; i < n && to; i++)
        add_row(t, i % period, to + i * t->width);
    return r;
}

struct ggml_tensor *
media_convolve(struct media_graph *m, struct ggml_tensor *filters,
               struct ggml_tensor *x, struct ggml_tensor *bias)
{
    struct ggml_context *ctx = m->g.ctx;
    int64_t n = ggml_nelements(filters) / filters->ne[3], ne[3];

    x = ggml_im2col(ctx, filters, x, 2, 2, 1, 1, 1, 1, true, GGML_TYPE_F32);
    for (int i = 0; i < 3; i++)
        ne[i] = x->ne[i + 1];
    x = ggml_reshape_2d(ctx, x, n, ne[0] * ne[1] * ne[2]);
    x = ggml_mul_mat(ctx, ggml_reshape_2d(ctx, filters, n, filters->ne[3]), x);
    if (bias)
        x = ggml_add(ctx, x, bias);
    return ggml_reshape_4d(ctx, x, x->ne[0], ne[0], ne[1], ne[2]);
}

struct ggml_tensor *
media_add_class(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_table *t = &m->e->positions;
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *c = ggml_reshape_2d(ctx, m->e->class_embd, t->width, 1);
    float *first;
    struct ggml_tensor *at = media_input(m, GGML_TYPE_F32, t->width, 1, &first);

    if (first)
        add_row(t, 0, first);
    x = ggml_add(ctx, x, media_positions(m, MEDIA_AFTER_CLASS));
    return ggml_concat(ctx, ggml_add(ctx, c, at), x, 1);
}

struct ggml_tensor *
media_append_class(struct media_graph *m, struct ggml_tensor *x)
{
    const struct media_table *t = &m->e->positions;
    struct ggml_context *ctx = m->g.ctx;
    struct ggml_tensor *c = ggml_reshape_2d(ctx, m->e->class_embd, t->width, 1);
    float *last;
    struct ggml_tensor *at = media_input(m, GGML_TYPE_F32, t->width, 1, &last);

    if (last)
        add_row(t, m->n, last);
    x = ggml_add(ctx, x, media_positions(m, MEDIA_AS_IS));
    return ggml_concat(ctx, x, ggml_add(ctx, c, at), 1);
}

struct ggml_tensor *
media_drop_class(struct media_graph *m, struct ggml_tensor *x)
{
    return ggml_view_2d(m->g.ctx, x, x->ne[0], x->ne[1] - 1, x->nb[1],
                        x->nb[1]);
}
