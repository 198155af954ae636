/* fit.c - scales and integers with the least weighted squared error */
#include "quant/fit.h"

#include <float.h>
#include <string.h>

#include "core/half.h"
#include "quant/fit_loops_table.h"

/* Eight starts lie between these quarters of a step around the one where the
 * extreme is the last code; what follows the best start converges in a few
 * rounds. */
#define FIRST_START (-3.0f)
#define LAST_START  9.0f
#define LOW_STARTS  2 /* lines: from the minimum on, halves of a step */

float
quant_extreme(const float *x, int n)
{
    return quant_fit_loops()->extreme(n, x);
}

float
quant_extreme_or_nan(const float *x, int n)
{
    uint32_t most = 0;

    for (int j = 0; j < n; j++) {
        uint32_t bits;

        memcpy(&bits, &x[j], sizeof(bits));
        bits &= 0x7fffffff;
        most = bits > most ? bits : most;
    }
    return most > 0x7f800000 ? NAN : quant_extreme(x, n);
}

struct quant_range
quant_range(const float *x, int n)
{
    struct quant_range r;

    quant_fit_loops()->range(n, x, &r);
    return r;
}

void
quant_cut(const float *x, int n, float m, float inverse, float add, int hi,
          int8_t *q)
{
    quant_fit_loops()->cut(n, x, m, inverse, add, (float)hi, q);
}

int
quant_nearest(const struct quant_codes *codes, float v)
{
    float lo = (float)codes->lo, hi = (float)codes->hi, x[8] = { v };
    int8_t q[8];

    if (!codes->levels) {
        v = v > lo ? v : lo;
        return (int)lrintf(v < hi ? v : hi);
    }
    quant_fit_loops()->round_all(codes, 8, x, 0, 1, q);
    return q[0];
}

static struct fit_sums
sum_rounded(const struct quant_codes *codes, int n, const float *x,
            const float *w, float inverse)
{
    struct fit_sums s;

    quant_fit_loops()->sum_rounded(codes, n, x, w, inverse, &s);
    return s;
}

static bool
keep_better(struct fit_sums *best, struct fit_sums s)
{
    if (!(s.qq > 0 && s.xq * s.xq * best->qq > best->xq * best->xq * s.qq))
        return false;
    *best = s;
    return true;
}

const float *
quant_or_ones(const float *w, int n)
{
    static const float ones[QUANT_MOST_VALUES] = {
#define EIGHT 1, 1, 1, 1, 1, 1, 1, 1
#define HALF  EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT, EIGHT
        HALF, HALF, HALF, HALF
    };

    for (int j = 0; w && j < n; j++)
        if (w[j] > 0)
            return w;
    return ones;
}

/* The eight starts, in steps. */
#define START(i) ((FIRST_START + (i) * (LAST_START - FIRST_START) / 7) / 4)
const float quant_fit_starts[8] = { START(0), START(1), START(2), START(3),
                                    START(4), START(5), START(6), START(7) };

/* Tries the starts where the extreme is near this end. */
static void
try_starts(const struct quant_codes *codes, struct quant_group of, int end,
           float extreme, struct fit_sums *best)
{
    float unit = codes->levels ? 16 : 1; /* levels: 16 a code */
    float inverse[8], xq[8], qq[8];

    quant_fit_loops()->spread(quant_fit_starts, end < 0 ? -unit : unit,
                              (float)end, extreme, inverse);
    quant_fit_loops()->sum_starts(codes, of, inverse, xq, qq);
    for (int i = 0; i < 8; i++)
        keep_better(best, (struct fit_sums){ (double)xq[i], (double)qq[i] });
}

float
quant_fit_scale(const struct quant_codes *codes, int n, const float *x,
                const float *w)
{
    struct quant_group of = { n, x, w };
    float extreme = quant_extreme(x, n);
    struct fit_sums best = { 0, 1 };
    int round = 0;

    if (!(fabsf(extreme) <= FLT_MAX) || extreme == 0)
        return 0;
    if (codes->lo)
        try_starts(codes, of, codes->lo, extreme, &best);
    if (codes->hi)
        try_starts(codes, of, codes->hi, extreme, &best);
    while (round++ < QUANT_FIT_ROUNDS && best.xq != 0)
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
        half_from_float(quant_fit_scale(codes, n, x, quant_or_ones(w, n)));
    float d = half_to_float(half), inverse = d != 0 ? 1 / d : 0;

    quant_fit_loops()->round_all(codes, n, x, 0, inverse, q);
    return half;
}

/* x less its minimum, so that floats are precise enough for the sums. */
struct shifted {
    int n;
    double floor;          /* m may not be above this */
    double most_d, most_m; /* no sound line has as much */
    float x[32], w[32];
    struct fit_moments sums;
};

/* The sums that do not depend on q. */
static void
sum_values(struct shifted *of)
{
    of->sums = (struct fit_moments){ 0 };
    for (int j = 0; j < of->n; j++) {
        double w = (double)of->w[j], x = (double)of->x[j];

        of->sums.one += w;
        of->sums.x += w * x;
        of->sums.xx += w * x * x;
    }
}

/* The best line for the integers that these sums are of: linear regression. An
 * infinite error: there is none. Where weights are some powers of ten apart
 * their sums are of the largest alone, and the line of what rounding left. */
static struct quant_line
solve(const struct fit_moments *s, const struct shifted *of)
{
    double floor = of->floor;
    struct quant_line l = { 0, 0, HUGE_VAL };
    double det = s->one * s->qq - s->q * s->q;

    if (!(det > 0))
        return l;
    l.d = (s->one * s->xq - s->x * s->q) / det;
    l.m = (s->qq * s->x - s->q * s->xq) / det;
    if (l.m > floor) {
        l.m = floor;
        l.d = (s->xq - l.m * s->q) / s->qq;
    }
    if (l.d > 0 && l.d < of->most_d && fabs(l.m) < of->most_m)
        l.error = s->xx - 2 * (l.d * s->xq + l.m * s->x) + l.d * l.d * s->qq +
                  2 * l.d * l.m * s->q + l.m * l.m * s->one;
    return l;
}

static struct quant_line
better(struct quant_line a, struct quant_line b)
{
    return b.error < a.error ? b : a;
}

/* The best of eight starts, from `low` steps above the minimum on. */
static struct quant_line
best_start(const struct quant_codes *codes, const struct shifted *of,
           double range, double low)
{
    struct quant_group group = { of->n, of->x, of->w };
    struct quant_line best = { 0, 0, HUGE_VAL };
    float inverse[8], m[8];
    struct fit_lines sums;

    for (int i = 0; i < 8; i++) {
        double steps = codes->hi + (double)quant_fit_starts[i];

        inverse[i] = (float)(steps / range);
        m[i] = (float)(low * range / steps);
    }
    quant_fit_loops()->sum_lines(codes, group, inverse, m, &sums);
    for (int i = 0; i < 8; i++) {
        struct fit_moments s = of->sums;

        s.q = (double)sums.q[i];
        s.qq = (double)sums.qq[i];
        s.xq = (double)sums.xq[i];
        best = better(best, solve(&s, of));
    }
    return best;
}

/* q = round((x - m) / d), and the best line for these. */
static struct quant_line
improve(const struct quant_codes *codes, const struct shifted *of,
        struct quant_line l)
{
    struct fit_moments s = of->sums;

    quant_fit_loops()->sum_moments(codes, of->n, of->x, of->w, (float)(1 / l.d),
                                   (float)l.m, &s);
    return solve(&s, of);
}

struct quant_line
quant_fit_line(int hi, struct quant_group from, bool below)
{
    const struct quant_codes codes = { .lo = 0, .hi = hi };
    struct quant_range r = quant_range(from.x, from.n);
    struct quant_line best = { 0, 0, HUGE_VAL }, l;
    struct shifted of = { .n = from.n, .floor = HUGE_VAL };
    double range;

    if (!(r.min >= -FLT_MAX && r.max <= FLT_MAX && r.max - r.min <= FLT_MAX))
        return best;
    if (below && r.min > 0)
        r.min = 0;
    if (below)
        of.floor = -(double)r.min;
    range = (double)r.max - (double)r.min;
    of.most_m = 8 * range;
    of.most_d = of.most_m / hi;
    for (int j = 0; j < from.n; j++) {
        of.x[j] = from.x[j] - r.min;
        of.w[j] = from.w[j];
    }
    sum_values(&of);
    for (int low = 0; low < LOW_STARTS && range > 0; low++)
        best = better(best, best_start(&codes, &of, range, low * 0.5));
    for (int i = 0; i < QUANT_FIT_ROUNDS && best.d > 0; i++) {
        l = improve(&codes, &of, best);
        if (!(l.error < best.error))
            break;
        best = l;
    }
    best.m += (double)r.min;
    return best;
}

uint16_t
quant_fit_line_block(int hi, const float *x, const float *w, int8_t *q,
                     uint16_t *m)
{
    struct quant_group of = { 32, x, quant_or_ones(w, 32) };
    struct quant_line l = quant_fit_line(hi, of, false);
    uint16_t half = half_from_float((float)l.d);
    float d = half_to_float(half), inverse = d != 0 ? 1 / d : 0, min;

    *m = half_from_float((float)l.m);
    min = half_to_float(*m);
    quant_fit_loops()->round_all(&(struct quant_codes){ .lo = 0, .hi = hi }, 32,
                                 x, -min, inverse, q);
    return half;
}

void
quant_round_group(const struct quant_codes *codes, struct quant_group of,
                  float d, float m, int8_t *q, struct quant_sums *s)
{
    quant_fit_loops()->round_group(codes, of, d, m, q, s);
}
