/* fit_groups8.c - scales of scales, no mins, and codes of their own: eight
 * groups at once
 *
 * Each group is fitted by itself; what scales it would have is fitted as if
 * they were values. Each takes the best of the three scales near its own, and
 * d is fitted to all that was chosen. A second turn would change next to
 * nothing. */
#include "quant/fit_groups8.h"

#include <string.h>

#include "core/half.h"
#include "quant/fit_loops_table.h"

enum {
    NEAR = 3, /* scales to try */
};

/* A block of 256: batches of eight groups, interleaved as struct fit_groups8
 * wants. */
struct interleaved {
    int n_batches;
    struct fit_groups8 batches[QUANT_MOST_GROUPS / 8];
    float x[QUANT_MOST_VALUES], w[QUANT_MOST_VALUES];
};

static void
interleave(const struct quant_shape *shape, const float *x, const float *w,
           struct interleaved *t)
{
    int n = shape->group;

    t->n_batches = QUANT_MOST_VALUES / n / 8;
    for (int i = 0; i < t->n_batches; i++) {
        float *xs = t->x + 8 * n * i, *ws = t->w + 8 * n * i;

        for (int g = 0; g < 8; g++) {
            int first = (8 * i + g) * n;
            const float *of = quant_or_ones(w ? w + first : NULL, n);

            for (int j = 0; j < n; j++) {
                xs[8 * j + g] = x[first + j];
                ws[8 * j + g] = of[j];
            }
        }
        t->batches[i] = (struct fit_groups8){ n, xs, ws };
    }
}

/* The scales of eight groups, of which each would have wish[g]. */
static void
choose_scales(const struct quant_shape *shape, const struct fit_groups8 *of,
              float d, const float *wish, int8_t *scale)
{
    static const int steps[NEAR] = { 0, -1, 1 };
    float error[NEAR][8], by[8];
    int at[8];

    for (int g = 0; g < 8; g++)
        at[g] = quant_nearest(&shape->scales, d != 0 ? wish[g] / d : 0);
    for (int i = 0; i < NEAR; i++) {
        for (int g = 0; g < 8; g++)
            by[g] = d * (float)(at[g] + steps[i]);
        quant_fit_loops()->groups8_errors(&shape->codes, of, by, error[i]);
    }
    for (int g = 0; g < 8; g++) {
        int best = 0;

        for (int i = 1; i < NEAR; i++)
            if (error[i][g] < error[best][g] &&
                at[g] + steps[i] >= shape->scales.lo &&
                at[g] + steps[i] <= shape->scales.hi)
                best = i;
        scale[g] = (int8_t)(at[g] + steps[best]);
    }
}

struct quant_lengths
quant_fit_groups8(const struct quant_shape *shape, const float *x,
                  const float *w, struct quant_super *s)
{
    float wish[QUANT_MOST_GROUPS], weight[QUANT_MOST_GROUPS], d;
    double all = 0, xa = 0, aa = 0;
    struct interleaved t;

    interleave(shape, x, w, &t);
    for (int i = 0; i < t.n_batches; i++)
        quant_fit_loops()->fit_groups8(&shape->codes, &t.batches[i],
                                       quant_fit_starts, QUANT_FIT_ROUNDS,
                                       wish + 8 * i, weight + 8 * i);
    s->d = half_from_float(
        quant_fit_scale(&shape->scales, 8 * t.n_batches, wish,
                        quant_or_ones(weight, 8 * t.n_batches)));
    s->dmin = 0;
    memset(s->min, 0, sizeof(s->min));
    d = half_to_float(s->d);
    for (int i = 0; i < t.n_batches; i++) {
        const struct fit_groups8 *of = &t.batches[i];
        float by[8], xx[8], xq[8], qq[8];

        choose_scales(shape, of, d, wish + 8 * i, s->scale + 8 * i);
        for (int g = 0; g < 8; g++)
            by[g] = d * (float)s->scale[8 * i + g];
        quant_fit_loops()->round_groups8(&shape->codes, of, by,
                                         s->q + 8 * of->n * i, xx, xq, qq);
        for (int g = 0; g < 8; g++) {
            double a = s->scale[8 * i + g];

            all += (double)xx[g];
            xa += a * (double)xq[g];
            aa += a * a * (double)qq[g];
        }
    }
    if (aa > 0)
        s->d = half_from_float((float)(xa / aa));
    d = half_to_float(s->d);
    return (struct quant_lengths){ all, (2 * xa - (double)d * aa) * (double)d };
}
