/* fit_super.c - blocks whose scales are themselves small integers
 *
 * First each group is fitted by itself. What scales it would have is fitted
 * as if they were values. Then, in turns, each group takes the best of the
 * scales near it, and d and dmin are fitted to all that was chosen. */
#include "quant/fit.h"

#include <string.h>

#include "core/half.h"

#define ROUNDS 8

/* One attempt at a block of 256: what it holds, and the error. */
struct attempt {
    struct quant_super s;
    double error;
};

static struct quant_group
group_at(const struct quant_shape *shape, const float *x, const float *w, int g)
{
    int first = g * shape->group;

    return (struct quant_group){ shape->group, x + first,
                                 quant_or_ones(w ? w + first : NULL,
                                               shape->group) };
}

static float
round_group(const struct quant_shape *shape, struct quant_group of, float d,
            float m, int8_t *q)
{
    if (shape->round)
        return shape->round(shape, of, d, q);
    return quant_round_group(&shape->codes, of, d, m, q);
}

/* The neighbours of a code: the code itself and those beside it. */
static int
neighbours(const struct quant_codes *codes, int code, int *out)
{
    int step = codes->levels ? 2 : 1, n = 0; /* levels are odd numbers */

    for (int c = code - step; c <= code + step; c += step)
        if (c >= codes->lo && c <= codes->hi)
            out[n++] = c;
    return n;
}

/* Chooses scale and min of group g near the wanted ones. */
static void
choose_group(const struct quant_shape *shape, struct quant_group of, int g,
             float scale, float min, struct attempt *a)
{
    const struct quant_codes mins = { .lo = 0, .hi = shape->max_min };
    float d = half_to_float(a->s.d), dmin = half_to_float(a->s.dmin);
    int at_scale = quant_nearest(&shape->scales, d != 0 ? scale / d : 0);
    int at_min = quant_nearest(&mins, dmin != 0 ? min / dmin : 0);
    int s[3], m[3];
    int n_s = neighbours(&shape->scales, at_scale, s);
    int n_m = neighbours(&mins, at_min, m);
    float best = HUGE_VALF;
    int8_t q[32];

    for (int i = 0; i < n_s * n_m; i++) {
        float e = round_group(shape, of, d * (float)s[i % n_s],
                              dmin * (float)m[i / n_s], q);

        if (i == 0 || e < best) {
            best = e;
            a->s.scale[g] = (int8_t)s[i % n_s];
            a->s.min[g] = (int8_t)m[i / n_s];
            memcpy(a->s.q + g * shape->group, q, (size_t)of.n);
        }
    }
    a->error += (double)best;
}

/* d and dmin that fit the block's integers best: normal equations of
 * x = d * (scale q) - dmin * min. */
static void
refit(const struct quant_shape *shape, const float *x, const float *w,
      struct quant_super *s)
{
    double aa = 0, ab = 0, bb = 0, xa = 0, xb = 0, det;

    for (int g = 0; g < QUANT_MOST_VALUES / shape->group; g++) {
        struct quant_group of = group_at(shape, x, w, g);

        for (int j = 0; j < of.n; j++) {
            double a = s->scale[g] * s->q[g * of.n + j], b = -s->min[g];
            double v = (double)of.x[j], wj = (double)of.w[j];

            aa += wj * a * a;
            ab += wj * a * b;
            bb += wj * b * b;
            xa += wj * v * a;
            xb += wj * v * b;
        }
    }
    det = aa * bb - ab * ab;
    if (det > 0 && xa * bb - xb * ab > 0 && xb * aa - xa * ab >= 0) {
        s->d = half_from_float((float)((xa * bb - xb * ab) / det));
        s->dmin = half_from_float((float)((xb * aa - xa * ab) / det));
    } else if (aa > 0) {
        s->d = half_from_float(
            (float)((xa + (double)half_to_float(s->dmin) * -ab) / aa));
    }
}

/* What each group would have if scales were free, and how much an error of
 * its scale and of its min weighs. */
struct wishes {
    float scale[QUANT_MOST_GROUPS], min[QUANT_MOST_GROUPS];
    float scale_weight[QUANT_MOST_GROUPS], min_weight[QUANT_MOST_GROUPS];
};

static void
wish_group(const struct quant_shape *shape, struct quant_group of, int g,
           struct wishes *wish)
{
    double qq = 0, xq = 0, sum = 0;
    int8_t q[32];

    wish->min[g] = 0;
    if (shape->max_min) {
        struct quant_line l = quant_fit_line(shape->codes.hi, of, true);

        wish->scale[g] = (float)l.d;
        wish->min[g] = (float)-l.m;
    } else {
        wish->scale[g] = quant_fit_scale(&shape->codes, of.n, of.x, of.w);
    }
    if (shape->round) /* the sign is in the values */
        wish->scale[g] = fabsf(wish->scale[g]);
    round_group(shape, of, wish->scale[g], wish->min[g], q);
    for (int j = 0; j < of.n; j++) {
        qq += (double)of.w[j] * q[j] * q[j];
        xq += (double)of.w[j] * q[j] * (double)of.x[j];
        sum += (double)of.w[j];
    }
    if (shape->round && qq > 0 && xq > 0)
        wish->scale[g] = (float)(xq / qq);
    wish->scale_weight[g] = (float)qq;
    wish->min_weight[g] = (float)sum;
}

void
quant_fit_super(const struct quant_shape *shape, const float *x, const float *w,
                struct quant_super *s)
{
    const struct quant_codes mins = { .lo = 0, .hi = shape->max_min };
    int n = QUANT_MOST_VALUES / shape->group;
    struct attempt best = { .error = HUGE_VAL }, a = { .error = 0 };
    struct wishes wish;

    for (int g = 0; g < n; g++)
        wish_group(shape, group_at(shape, x, w, g), g, &wish);
    a.s.d = half_from_float(quant_fit_scale(
        &shape->scales, n, wish.scale, quant_or_ones(wish.scale_weight, n)));
    a.s.dmin = half_from_float(
        quant_fit_scale(&mins, n, wish.min, quant_or_ones(wish.min_weight, n)));
    for (int round = 0; round < ROUNDS; round++) {
        a.error = 0;
        for (int g = 0; g < n; g++)
            choose_group(shape, group_at(shape, x, w, g), g, wish.scale[g],
                         wish.min[g], &a);
        if (round > 0 && !(a.error < best.error))
            break;
        best = a;
        refit(shape, x, w, &a.s);
        for (int g = 0; g < n; g++) {
            wish.scale[g] = (float)a.s.scale[g] * half_to_float(a.s.d);
            wish.min[g] = (float)a.s.min[g] * half_to_float(a.s.dmin);
        }
    }
    *s = best.s;
}
