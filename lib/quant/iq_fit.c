/* iq_fit.c - writing types whose blocks refer to points of a grid
 *
 * Every point is tried for every vector: the error of a point is the sum of
 * two figures from tables that hold all halves of points. */
#include "quant/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "quant/blocks.h"
#include "quant/fit.h"
#include "quant/iq.h"

/* Twice the bits of half a point: IQ2 4 codes of 2 bits, IQ3 2 of 3. */
#define MOST_HALVES 256

struct vector {
    float x[8], w[8]; /* x without signs, but for one that must be flipped */
    uint8_t signs;
};

/* A number of negative values that is odd where it must not be is mended at
 * the value where that costs least. */
static void
take_signs(const struct quant_shape *shape, struct quant_group of, int first,
           struct vector *v)
{
    float least = HUGE_VALF;
    int negative = 0, at = 0;

    v->signs = 0;
    for (int i = 0; i < 8; i++) {
        float x = of.x[first + i], cost = of.w[first + i] * x * x;

        v->w[i] = of.w[first + i];
        v->x[i] = fabsf(x);
        v->signs |= (uint8_t)((x < 0) << i);
        negative += x < 0;
        at = cost < least ? i : at;
        least = cost < least ? cost : least;
    }
    if (shape->even && negative % 2) {
        v->x[at] = -v->x[at];
        v->signs ^= (uint8_t)(1 << at);
    }
}

/* errors[codes] of the size / 2 values from x on. */
static void
half_errors(const struct quant_grid *grid, const float *x, const float *w,
            float d, float *errors)
{
    int n_levels = grid->mask == 3 ? 3 : 8, n = 1;

    errors[0] = 0;
    for (int i = grid->size / 2 - 1; i >= 0; i--) {
        int step = 1 << grid->bits;

        for (int k = n - 1; k >= 0; k--) {
            float rest = errors[k];

            for (int c = 0; c < n_levels; c++) {
                float e = d * (float)grid->levels[c] - x[i];

                errors[k * step + c] = rest + w[i] * e * e;
            }
        }
        n *= step;
    }
}

/* The best point; its error is added to *error. */
static uint16_t
best_point(const struct quant_grid *grid, const float *x, const float *w,
           float d, float *error)
{
    int half = grid->size / 2 * grid->bits, mask = (1 << half) - 1;
    float low[MOST_HALVES] = { 0 }, high[MOST_HALVES] = { 0 };
    float least = HUGE_VALF;
    int best = 0;

    half_errors(grid, x, w, d, low);
    half_errors(grid, x + grid->size / 2, w + grid->size / 2, d, high);
    for (int i = 0; i < grid->n; i++) {
        float e = low[grid->points[i] & mask] + high[grid->points[i] >> half];

        best = e < least ? i : best;
        least = e < least ? e : least;
    }
    *error += least;
    return grid->points[best];
}

static float
round_on_grid(const struct quant_shape *shape, struct quant_group of, float d,
              int8_t *q)
{
    const struct quant_grid *grid = shape->grid;
    float error = 0;

    for (int j = 0; j < of.n; j += 8) {
        struct vector v;

        take_signs(shape, of, j, &v);
        for (int k = 0; k < 8; k += grid->size) {
            uint16_t point = best_point(grid, v.x + k, v.w + k, d, &error);

            quant_put_point(q + j + k, point, grid, v.signs >> k);
        }
    }
    return error;
}

/* The number in the grid of the point that q is on. */
static int
index_of(const struct quant_grid *grid, const int8_t *q)
{
    int point = 0, first = 0, end = grid->n;

    for (int i = 0; i < grid->size; i++) {
        int code = 0;

        while (grid->levels[code] != abs(q[i]))
            code++;
        point |= code << (i * grid->bits);
    }
    while (end - first > 1) {
        int middle = (first + end) / 2;

        if (grid->points[middle] <= point)
            first = middle;
        else
            end = middle;
    }
    return first;
}

static int
signs_of(const int8_t *q)
{
    int signs = 0;

    for (int i = 0; i < 8; i++)
        signs |= (q[i] < 0) << i;
    return signs;
}

static void
pack_iq2_s(const struct quant_super *s, struct block_iq2_s *b)
{
    b->d = s->d;
    for (int g = 0; g < 16; g++)
        b->scales[g / 2] |= (uint8_t)(s->scale[g] / 2 << (g % 2 * 4));
    for (int i = 0; i < 32; i++) {
        int index = index_of(&quant_grid_iq2_s, s->q + 8 * i);

        b->qs[i] = (uint8_t)index;
        b->qh[i / 4] |= (uint8_t)(index >> 8 << (i % 4 * 2));
        b->signs[i] = (uint8_t)signs_of(s->q + 8 * i);
    }
}

static void
pack_iq3_s(const struct quant_super *s, struct block_iq3_s *b)
{
    b->d = s->d;
    for (int g = 0; g < 8; g++)
        b->scales[g / 2] |= (uint8_t)(s->scale[g] / 2 << (g % 2 * 4));
    for (int i = 0; i < 64; i++) {
        int index = index_of(&quant_grid_iq3_s, s->q + 4 * i);

        b->qs[i] = (uint8_t)index;
        b->qh[i / 8] |= (uint8_t)(index >> 8 << (i % 8));
    }
    for (int i = 0; i < 32; i++)
        b->signs[i] = (uint8_t)signs_of(s->q + 8 * i);
}

static void
pack_iq3_xxs(const struct quant_super *s, struct block_iq3_xxs *b)
{
    b->d = s->d;
    for (int i = 0; i < 64; i++)
        b->qs[i] = (uint8_t)index_of(&quant_grid_iq3_xxs, s->q + 4 * i);
    for (int g = 0; g < 8; g++) {
        uint32_t word = (uint32_t)(s->scale[g] / 2) << 28;

        for (int i = 0; i < 4; i++)
            word |= (uint32_t)(signs_of(s->q + 32 * g + 8 * i) & 127)
                    << (7 * i);
        for (int i = 0; i < 4; i++)
            b->words[4 * g + i] = (uint8_t)(word >> (8 * i));
    }
}

/* Scales are odd: 2 * scale + 1. */
static const int8_t odd[16] = { 1,  3,  5,  7,  9,  11, 13, 15,
                                17, 19, 21, 23, 25, 27, 29, 31 };
#define ODD                                                                    \
    {                                                                          \
        .lo = 1, .hi = 31, .levels = odd, .n = 16                              \
    }

/* What values may be if each is looked at by itself. */
static const int8_t signed_2[] = { -43, -25, -8, 8, 25, 43 };
static const int8_t signed_3_s[] = { -15, -13, -11, -9, -7, -5, -3, -1,
                                     1,   3,   5,   7,  9,  11, 13, 15 };
static const int8_t signed_3_xxs[] = { -62, -52, -44, -36, -28, -20, -12, -4,
                                       4,   12,  20,  28,  36,  44,  52,  62 };

static const struct quant_shape shape_iq2_s = {
    .group = 16,
    .codes = { .lo = -43, .hi = 43, .levels = signed_2, .n = 6 },
    .scales = ODD,
    .round = round_on_grid,
    .grid = &quant_grid_iq2_s
};
static const struct quant_shape shape_iq3_s = {
    .group = 32,
    .codes = { .lo = -15, .hi = 15, .levels = signed_3_s, .n = 16 },
    .scales = ODD,
    .round = round_on_grid,
    .grid = &quant_grid_iq3_s
};
static const struct quant_shape shape_iq3_xxs = {
    .group = 32,
    .codes = { .lo = -62, .hi = 62, .levels = signed_3_xxs, .n = 16 },
    .scales = ODD,
    .round = round_on_grid,
    .grid = &quant_grid_iq3_xxs,
    .even = true
};

/* Blocks of the rows; a file's d stands for `unit` times the d of a fit. */
#define QUANTIZE(name, unit)                                                   \
    void weigh_##name(const float *x, void *y, int64_t n, const float *w)      \
    {                                                                          \
        struct block_##name *b = y;                                            \
        struct quant_super s;                                                  \
        float in[QUANT_SUPER];                                                 \
        for (int64_t i = 0; i < n; i += QUANT_SUPER, b++) {                    \
            for (int j = 0; j < QUANT_SUPER; j++)                              \
                in[j] = x[i + j] * (unit);                                     \
            quant_fit_super(&shape_##name, in, w ? w + i : NULL, &s);          \
            memset(b, 0, sizeof(*b));                                          \
            pack_##name(&s, b);                                                \
        }                                                                      \
    }                                                                          \
    void quant_##name(const float *x, void *y, int64_t n)                      \
    {                                                                          \
        weigh_##name(x, y, n, NULL);                                           \
    }
QUANTIZE(iq2_s, 8)
QUANTIZE(iq3_s, 1)
QUANTIZE(iq3_xxs, 4)
