/* fit.c - scales and integers with the least weighted squared error */
#include "quant/fit.h"

#include <float.h>
#include <string.h>

#include "core/half.h"

/* Starts are this many tenths of a step around the one where the extreme is
 * the last code; what follows the best start converges in a few rounds. */
#define FIRST_START (-10)
#define LAST_START  24
#define ROUNDS      8

float
quant_extreme(const float *x, int n)
{
    float amax = 0, max = 0;

    for (int j = 0; j < n; j++) {
        if (amax < fabsf(x[j])) {
            amax = fabsf(x[j]);
            max = x[j];
        }
    }
    return max;
}

struct quant_range
quant_range(const float *x, int n)
{
    struct quant_range r = { FLT_MAX, -FLT_MAX };

    for (int j = 0; j < n; j++) {
        r.min = x[j] < r.min ? x[j] : r.min;
        r.max = x[j] > r.max ? x[j] : r.max;
    }
    return r;
}

int
quant_nearest(const struct quant_codes *codes, float v)
{
    const int8_t *level = codes->levels;
    int i = 1;

    if (!level)
        return quant_round(v, codes->lo, codes->hi);
    if (!(v > (float)codes->lo))
        return codes->lo;
    if (v >= (float)codes->hi)
        return codes->hi;
    while ((float)level[i] <= v)
        i++;
    return v - (float)level[i - 1] < (float)level[i] - v ? level[i - 1]
                                                         : level[i];
}

/* Sums over a group from which the best d for given q, and what it leaves,
 * follow: error = sum w x^2 - xq^2 / qq. */
struct sums {
    double xq, qq;
};

static struct sums
sum_rounded(const struct quant_codes *codes, int n, const float *x,
            const float *w, float inverse)
{
    struct sums s = { 0, 0 };

    for (int j = 0; j < n; j++) {
        double q = quant_nearest(codes, x[j] * inverse);

        s.xq += (double)w[j] * (double)x[j] * q;
        s.qq += (double)w[j] * q * q;
    }
    return s;
}

static bool
keep_better(struct sums *best, struct sums s)
{
    if (!(s.qq > 0 && s.xq * s.xq * best->qq > best->xq * best->xq * s.qq))
        return false;
    *best = s;
    return true;
}

static const float *
or_ones(const float *w, int n)
{
    static const float ones[QUANT_MOST_VALUES] = {
#define EIGHT 1, 1, 1, 1, 1, 1, 1, 1
#define HALF  EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT
        HALF, HALF, HALF, HALF
    };

    for (int j = 0; j < n; j++)
        if (w && w[j] > 0)
            return w;
    return ones;
}

float
quant_fit_scale(const struct quant_codes *codes, int n, const float *x,
                const float *w)
{
    const int ends[] = { codes->lo, codes->hi };
    float extreme = quant_extreme(x, n);
    float unit = codes->levels ? 1.6f : 0.1f; /* levels: 16 a code */
    struct sums best = { 0, 1 };
    int round = 0;

    if (!(fabsf(extreme) <= FLT_MAX) || extreme == 0)
        return 0;
    for (int e = 0; e < 2; e++)
        for (int t = FIRST_START; t <= LAST_START && ends[e] != 0; t++) {
            float step = unit * (float)(ends[e] < 0 ? -t : t);

            keep_better(&best, sum_rounded(codes, n, x, w,
                                           ((float)ends[e] + step) / extreme));
        }
    while (round++ < ROUNDS && best.xq != 0)
        if (!keep_better(
                &best, sum_rounded(codes, n, x, w, (float)(best.qq / best.xq))))
            break;
    return (float)(best.xq / best.qq);
}

uint16_t
quant_fit_block(const struct quant_codes *codes, int n, const float *x,
                const float *w, int8_t *q)
{
    uint16_t half =
        half_from_float(quant_fit_scale(codes, n, x, or_ones(w, n)));
    float d = half_to_float(half), inverse = d != 0 ? 1 / d : 0;

    for (int j = 0; j < n; j++)
        q[j] = (int8_t)quant_nearest(codes, x[j] * inverse);
    return half;
}

/* A line x = d * q + m through a group, and the error that it leaves. */
struct line {
    double d, m, error;
};

/* The best line for q = round((x - m) / d), d = 1 / inverse. With `below`, m
 * is not above 0. An infinite error: there is none. */
static struct line
fit_line(int hi, int n, const float *x, const float *w, double inverse,
         double m, bool below)
{
    double s = 0, sx = 0, sxx = 0, sq = 0, sqq = 0, sxq = 0, det;
    struct line l = { 0, 0, HUGE_VAL };

    for (int j = 0; j < n; j++) {
        double v = (double)x[j], wj = (double)w[j];
        double q = quant_round((float)((v - m) * inverse), 0, hi);

        s += wj;
        sx += wj * v;
        sxx += wj * v * v;
        sq += wj * q;
        sqq += wj * q * q;
        sxq += wj * v * q;
    }
    det = s * sqq - sq * sq;
    if (!(det > 0))
        return l;
    l.d = (s * sxq - sx * sq) / det;
    l.m = (sqq * sx - sq * sxq) / det;
    if (below && l.m > 0) {
        l.m = 0;
        l.d = sxq / sqq;
    }
    if (l.d > 0)
        l.error = sxx - 2 * (l.d * sxq + l.m * sx) + l.d * l.d * sqq +
                  2 * l.d * l.m * sq + l.m * l.m * s;
    return l;
}

static struct line
best_line(int hi, int n, const float *x, const float *w, bool below)
{
    struct quant_range r = quant_range(x, n);
    struct line best = { 0, 0, HUGE_VAL }, l;

    if (!(r.min >= -FLT_MAX && r.max <= FLT_MAX && r.max - r.min <= FLT_MAX))
        return best;
    if (below && r.min > 0)
        r.min = 0;
    best.m = (double)r.min;
    if (!(r.max > r.min))
        return best;
    for (int t = FIRST_START; t <= LAST_START; t++) {
        double range = (double)r.max - (double)r.min;

        l = fit_line(hi, n, x, w, (hi + t / 10.0) / range, (double)r.min,
                     below);
        best = l.error < best.error ? l : best;
    }
    for (int i = 0; i < ROUNDS && best.d > 0; i++) {
        l = fit_line(hi, n, x, w, 1 / best.d, best.m, below);
        if (!(l.error < best.error))
            break;
        best = l;
    }
    return best;
}

uint16_t
quant_fit_line_block(int hi, const float *x, const float *w, int8_t *q,
                     uint16_t *m)
{
    struct line l = best_line(hi, 32, x, or_ones(w, 32), false);
    uint16_t half = half_from_float((float)l.d);
    float d = half_to_float(half), inverse = d != 0 ? 1 / d : 0, min;

    *m = half_from_float((float)l.m);
    min = half_to_float(*m);
    for (int j = 0; j < 32; j++)
        q[j] = (int8_t)quant_round((x[j] - min) * inverse, 0, hi);
    return half;
}

/* One attempt at a block of 256: what it holds, and the error. */
struct attempt {
    struct quant_super s;
    double error;
};

struct group {
    const float *x, *w;
    int n;
};

static struct group
group_at(const struct quant_shape *shape, const float *x, const float *w, int g)
{
    struct group of = { x + g * shape->group, or_ones(NULL, 0), shape->group };

    if (w)
        of.w = or_ones(w + g * shape->group, shape->group);
    return of;
}

/* Rounds a group with the scale d and the min m; returns the error. */
static double
round_group(const struct quant_codes *codes, struct group of, float d, float m,
            int8_t *q)
{
    float inverse = d != 0 ? 1 / d : 0;
    double error = 0;

    for (int j = 0; j < of.n; j++) {
        int code = quant_nearest(codes, (of.x[j] + m) * inverse);
        double e = (double)(d * (float)code - m - of.x[j]);

        q[j] = (int8_t)code;
        error += (double)of.w[j] * e * e;
    }
    return error;
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
choose_group(const struct quant_shape *shape, struct group of, int g,
             float scale, float min, struct attempt *a)
{
    const struct quant_codes mins = { .lo = 0, .hi = shape->max_min };
    float d = half_to_float(a->s.d), dmin = half_to_float(a->s.dmin);
    int at_scale = quant_nearest(&shape->scales, d != 0 ? scale / d : 0);
    int at_min = quant_nearest(&mins, dmin != 0 ? min / dmin : 0);
    int s[3], m[3];
    int n_s = neighbours(&shape->scales, at_scale, s);
    int n_m = neighbours(&mins, at_min, m);
    double best = HUGE_VAL;
    int8_t q[32];

    for (int i = 0; i < n_s * n_m; i++) {
        double e = round_group(&shape->codes, of, d * (float)s[i % n_s],
                               dmin * (float)m[i / n_s], q);

        if (i == 0 || e < best) {
            best = e;
            a->s.scale[g] = (int8_t)s[i % n_s];
            a->s.min[g] = (int8_t)m[i / n_s];
            memcpy(a->s.q + g * shape->group, q, (size_t)of.n);
        }
    }
    a->error += best;
}

/* d and dmin that fit the block's integers best: normal equations of
 * x = d * (scale q) - dmin * min. */
static void
refit(const struct quant_shape *shape, const float *x, const float *w,
      struct quant_super *s)
{
    double aa = 0, ab = 0, bb = 0, xa = 0, xb = 0, det;

    for (int g = 0; g < QUANT_MOST_VALUES / shape->group; g++) {
        struct group of = group_at(shape, x, w, g);

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
wish_group(const struct quant_shape *shape, struct group of, int g,
           struct wishes *wish)
{
    double qq = 0, sum = 0;
    int8_t q[32];

    wish->min[g] = 0;
    if (shape->max_min) {
        struct line l = best_line(shape->codes.hi, of.n, of.x, of.w, true);

        wish->scale[g] = (float)l.d;
        wish->min[g] = (float)-l.m;
    } else {
        wish->scale[g] = quant_fit_scale(&shape->codes, of.n, of.x, of.w);
    }
    round_group(&shape->codes, of, wish->scale[g], wish->min[g], q);
    for (int j = 0; j < of.n; j++) {
        qq += (double)of.w[j] * q[j] * q[j];
        sum += (double)of.w[j];
    }
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
    a.s.d = half_from_float(quant_fit_scale(&shape->scales, n, wish.scale,
                                            or_ones(wish.scale_weight, n)));
    a.s.dmin = half_from_float(
        quant_fit_scale(&mins, n, wish.min, or_ones(wish.min_weight, n)));
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
