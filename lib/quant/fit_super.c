/* fit_super.c - blocks whose scales are themselves small integers
 *
 * First each group is fitted by itself. What scales it would have is fitted
 * as if they were values. Then, in turns where there are mins, each group takes
 * the best of the scales near it, and d and dmin are fitted to all that was
 * chosen. At last, these are made a little larger. */
#include "quant/fit.h"

#include <string.h>

#include "core/half.h"
#include "quant/fit_groups8.h"
#include "quant/fit_loops_table.h"

#define ROUNDS 2

/* One attempt at a block of 256: what it holds, and the error. */
struct attempt {
    struct quant_super s;
    struct quant_sums sums[QUANT_MOST_GROUPS];
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

/* The sums of codes that depend on each other. */
static void
sum_codes(struct quant_group of, const int8_t *q, float error,
          struct quant_sums *s)
{
    *s = (struct quant_sums){ .error = error };
    for (int j = 0; j < of.n; j++) {
        float wq = of.w[j] * (float)q[j];

        s->qq += wq * (float)q[j];
        s->xq += wq * of.x[j];
    }
}

static void
round_group(const struct quant_shape *shape, struct quant_group of, float d,
            float m, int8_t *q, struct quant_sums *s)
{
    if (shape->round)
        sum_codes(of, q, shape->round(shape, of, d, q), s);
    else
        quant_round_group(&shape->codes, of, d, m, q, s);
}

/* Scales and mins to try: the nearest ones, and of their neighbours those that
 * are not a step up in one and down in the other, which all but cancel. */
struct trials {
    int n;
    int scale[8], min[8];
    float d[8], m[8];
};

/* A block's d and dmin, rounded to F16. */
struct units {
    float d, dmin;
};

static void
add_trial(const struct quant_shape *shape, struct units u, int scale, int min,
          struct trials *t)
{
    if (scale < shape->scales.lo || scale > shape->scales.hi || min < 0 ||
        min > shape->max_min)
        return;
    t->scale[t->n] = scale;
    t->min[t->n] = min;
    t->d[t->n] = u.d * (float)scale;
    t->m[t->n++] = u.dmin * (float)min;
}

static void
set_trials(const struct quant_shape *shape, struct units u, float scale,
           float min, struct trials *t)
{
    static const int8_t steps[][2] = { { 0, 0 },  { -1, 0 }, { 1, 0 },
                                       { 0, -1 }, { 0, 1 },  { -1, -1 },
                                       { 1, 1 } };
    const struct quant_codes mins = { .lo = 0, .hi = shape->max_min };
    int n = shape->max_min ? (int)(sizeof(steps) / sizeof(steps[0])) : 3;
    int at_scale = quant_nearest(&shape->scales, u.d != 0 ? scale / u.d : 0);
    int at_min = quant_nearest(&mins, u.dmin != 0 ? min / u.dmin : 0);
    int step = shape->scales.levels ? 2 : 1; /* levels are odd numbers */

    t->n = 0;
    for (int i = 0; i < n; i++)
        add_trial(shape, u, at_scale + step * steps[i][0], at_min + steps[i][1],
                  t);
}

/* The best of them, without looking at codes that depend on each other. */
static int
best_trial(const struct quant_shape *shape, struct quant_group of,
           struct trials *t)
{
    float error[8];
    int best = 0;

    for (int i = t->n; i < 8; i++)
        t->d[i] = t->m[i] = 0;
    quant_fit_loops()->sum_errors(&shape->codes, of, t->d, t->m, error);
    for (int i = 1; i < t->n; i++)
        best = error[i] < error[best] ? i : best;
    return best;
}

/* Leaves its codes in q. */
static int
best_on_grid(const struct quant_shape *shape, struct quant_group of,
             const struct trials *t, int8_t *q, struct quant_sums *s)
{
    float least = HUGE_VALF;
    int best = 0;
    int8_t other[32];

    for (int i = 0; i < t->n; i++) {
        float e = shape->round(shape, of, t->d[i], other);

        if (i > 0 && !(e < least))
            continue;
        best = i;
        least = e;
        memcpy(q, other, (size_t)of.n);
    }
    sum_codes(of, q, least, s);
    return best;
}

/* The scale and min of each group if scales were free, and how much an error
 * of each weighs. */
struct wishes {
    float scale[QUANT_MOST_GROUPS], min[QUANT_MOST_GROUPS];
    float scale_weight[QUANT_MOST_GROUPS], min_weight[QUANT_MOST_GROUPS];
    float sum[QUANT_MOST_GROUPS]; /* weighted, of the values; with mins */
};

/* Chooses scale and min of group g near the wanted ones. */
static void
choose_group(const struct quant_shape *shape, struct quant_group of, int g,
             struct units u, const struct wishes *wish, struct attempt *a)
{
    int8_t *q = a->s.q + g * shape->group;
    struct trials t;
    int best;

    set_trials(shape, u, wish->scale[g], wish->min[g], &t);
    if (shape->round) {
        best = best_on_grid(shape, of, &t, q, &a->sums[g]);
    } else {
        best = best_trial(shape, of, &t);
        quant_round_group(&shape->codes, of, t.d[best], t.m[best], q,
                          &a->sums[g]);
    }
    a->s.scale[g] = (int8_t)t.scale[best];
    a->s.min[g] = (int8_t)t.min[best];
    a->error += (double)a->sums[g].error;
}

static void
wish_group(const struct quant_shape *shape, struct quant_group of, int g,
           struct wishes *wish)
{
    struct quant_sums sums;
    int8_t q[32];

    wish->min[g] = wish->min_weight[g] = wish->sum[g] = 0;
    if (shape->max_min) {
        struct quant_line l = quant_fit_line(shape->codes.hi, of, true);

        wish->scale[g] = (float)l.d;
        wish->min[g] = (float)-l.m;
        for (int j = 0; j < of.n; j++) {
            wish->min_weight[g] += of.w[j];
            wish->sum[g] += of.w[j] * of.x[j];
        }
    } else {
        wish->scale[g] = quant_fit_scale(&shape->codes, of.n, of.x, of.w);
    }
    if (shape->round) /* the sign is in the values */
        wish->scale[g] = fabsf(wish->scale[g]);
    round_group(shape, of, wish->scale[g], wish->min[g], q, &sums);
    if (shape->round && sums.qq > 0 && sums.xq > 0)
        wish->scale[g] = sums.xq / sums.qq;
    wish->scale_weight[g] = sums.qq;
}

/* d that fits the block's integers best, where there are no mins. */
static void
refit_scale(int n, struct attempt *at)
{
    double aa = 0, xa = 0;

    for (int g = 0; g < n; g++) {
        double a = at->s.scale[g];

        aa += a * a * (double)at->sums[g].qq;
        xa += a * (double)at->sums[g].xq;
    }
    if (aa > 0)
        at->s.d = half_from_float((float)(xa / aa));
}

/* A value that is fitted again grows less than 8 times, unless only rounding is
 * left of weights far apart. */
static void
replace_half(uint16_t *h, double by)
{
    if (by < 8 * (double)half_to_float(*h))
        *h = half_from_float((float)by);
}

/* d and dmin that fit: normal equations of x = d * (scale q) - dmin * min. */
static void
refit(int n, const struct wishes *wish, struct attempt *at)
{
    double aa = 0, ab = 0, bb = 0, xa = 0, xb = 0, det;
    struct quant_super *s = &at->s;

    for (int g = 0; g < n; g++) {
        const struct quant_sums *sums = &at->sums[g];
        double a = s->scale[g], b = -s->min[g];

        aa += a * a * (double)sums->qq;
        ab += a * b * (double)sums->q;
        bb += b * b * (double)wish->min_weight[g];
        xa += a * (double)sums->xq;
        xb += b * (double)wish->sum[g];
    }
    det = aa * bb - ab * ab;
    if (det > 0 && xa * bb - xb * ab > 0 && xb * aa - xa * ab >= 0) {
        replace_half(&s->d, (xa * bb - xb * ab) / det);
        replace_half(&s->dmin, (xb * aa - xa * ab) / det);
    } else if (aa > 0) {
        replace_half(&s->d, (xa + (double)half_to_float(s->dmin) * -ab) / aa);
    }
}

static bool
multiply_half(uint16_t *h, double by)
{
    uint16_t product = half_from_float((float)(by * (double)half_to_float(*h)));

    if ((product & 0x7c00) == 0x7c00)
        return false;
    *h = product;
    return true;
}

/* A fit of least squares is shorter than what it stands for, and its product
 * with that is smaller by its error: the fewer bits, the more so. What a model
 * computes suffers more from that than from a little more error, so scales
 * grow: the square root of `all / left` would keep the length, all of it the
 * product, and what lies between them was best for models. */
static void
stretch(struct quant_lengths of, struct quant_super *s)
{
    double root;

    if (!(of.left > of.all / 2 && of.left < of.all))
        return;
    root = sqrt(of.all / of.left);
    if (multiply_half(&s->d, root * sqrt(root)))
        multiply_half(&s->dmin, root * sqrt(root));
}

static void
choose_all(const struct quant_shape *shape, const float *x, const float *w,
           const struct wishes *wish, struct attempt *a)
{
    struct units u = { half_to_float(a->s.d), half_to_float(a->s.dmin) };

    a->error = 0;
    for (int g = 0; g < QUANT_MOST_VALUES / shape->group; g++)
        choose_group(shape, group_at(shape, x, w, g), g, u, wish, a);
}

/* With mins: groups for d and dmin, d and dmin for the groups. */
static void
choose_in_turns(const struct quant_shape *shape, const float *x, const float *w,
                struct wishes *wish, struct attempt *best)
{
    struct attempt a = *best;
    int n = QUANT_MOST_VALUES / shape->group;

    for (int round = 0; round < ROUNDS; round++) {
        choose_all(shape, x, w, wish, &a);
        if (round > 0 && !(a.error < best->error))
            break;
        *best = a;
        refit(n, wish, &a);
        for (int g = 0; g < n; g++) {
            wish->scale[g] = (float)a.s.scale[g] * half_to_float(a.s.d);
            wish->min[g] = (float)a.s.min[g] * half_to_float(a.s.dmin);
        }
    }
}

/* As quant_fit_super() without its last step, for any shape. */
static struct quant_lengths
fit_groups(const struct quant_shape *shape, const float *x, const float *w,
           struct quant_super *s)
{
    const struct quant_codes mins = { .lo = 0, .hi = shape->max_min };
    int n = QUANT_MOST_VALUES / shape->group;
    struct attempt a = { .error = 0 };
    struct wishes wish;
    double all = 0;

    for (int g = 0; g < n; g++)
        wish_group(shape, group_at(shape, x, w, g), g, &wish);
    a.s.d = half_from_float(quant_fit_scale(
        &shape->scales, n, wish.scale, quant_or_ones(wish.scale_weight, n)));
    a.s.dmin = half_from_float(
        quant_fit_scale(&mins, n, wish.min, quant_or_ones(wish.min_weight, n)));
    if (shape->max_min) {
        choose_in_turns(shape, x, w, &wish, &a);
    } else { /* a second turn would change next to nothing */
        choose_all(shape, x, w, &wish, &a);
        refit_scale(n, &a);
    }
    for (int g = 0; g < n; g++)
        all += (double)quant_fit_loops()->sum_squares(group_at(shape, x, w, g));
    *s = a.s;
    return (struct quant_lengths){ all, all - a.error };
}

void
quant_fit_super(const struct quant_shape *shape, const float *x, const float *w,
                struct quant_super *s)
{
    if (shape->max_min || shape->round)
        stretch(fit_groups(shape, x, w, s), s);
    else
        stretch(quant_fit_groups8(shape, x, w, s), s);
}
