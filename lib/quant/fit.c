/* fit.c - scales and integers with the least weighted squared error */
#include "quant/fit.h"

#include <float.h>
#include <string.h>

#include "core/half.h"

/* Starts are this many quarters of a step around the one where the extreme is
 * the last code; what follows the best start converges in a few rounds. */
#define FIRST_START (-3)
#define LAST_START  9
#define LOW_STARTS  4 /* lines: from the minimum on, halves of a step */
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

/* Rounds eight values at once; as floats. */
static inline void
round8(const struct quant_codes *codes, const float *v, float *q)
{
    float lo = (float)codes->lo, hi = (float)codes->hi;

    if (codes->levels) {
        for (int i = 0; i < 8; i++)
            q[i] = lo;
        for (int k = 0; k + 1 < codes->n; k++) {
            int low = codes->levels[k], high = codes->levels[k + 1];
            float middle = (float)(low + high) / 2, rise = (float)(high - low);

            for (int i = 0; i < 8; i++)
                q[i] += v[i] >= middle ? rise : 0;
        }
        return;
    }
    /* Adding and subtracting 1.5 * 2^23 rounds to the nearest integer. */
    for (int i = 0; i < 8; i++) {
        float in = v[i] > lo ? v[i] : lo;

        in = in < hi ? in : hi;
        q[i] = (in + 0x1.8p23f) - 0x1.8p23f;
    }
}

int
quant_nearest(const struct quant_codes *codes, float v)
{
    float in[8] = { v }, out[8];

    round8(codes, in, out);
    return (int)out[0];
}

/* q = round((x + m) * inverse) */
static void
round_all(const struct quant_codes *codes, int n, const float *x, float m,
          float inverse, int8_t *q)
{
    for (int j = 0; j < n; j += 8) {
        float v[8], to[8];

        for (int i = 0; i < 8; i++)
            v[i] = (x[j + i] + m) * inverse;
        round8(codes, v, to);
        for (int i = 0; i < 8; i++)
            q[j + i] = (int8_t)to[i];
    }
}

/* Sums over a group from which the best d for given q, and what it leaves,
 * follow: error = sum w x^2 - xq^2 / qq. */
struct sums {
    double xq, qq;
};

/* In floats: the sums are short, and only which start is better is asked. */
static struct sums
sum_rounded(const struct quant_codes *codes, int n, const float *x,
            const float *w, float inverse)
{
    float xq[8] = { 0 }, qq[8] = { 0 };
    struct sums s = { 0, 0 };

    for (int j = 0; j < n; j += 8) {
        float v[8], q[8];

        for (int i = 0; i < 8; i++)
            v[i] = x[j + i] * inverse;
        round8(codes, v, q);
        for (int i = 0; i < 8; i++) {
            xq[i] += w[j + i] * x[j + i] * q[i];
            qq[i] += w[j + i] * q[i] * q[i];
        }
    }
    for (int i = 0; i < 8; i++) {
        s.xq += (double)xq[i];
        s.qq += (double)qq[i];
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

const float *
quant_or_ones(const float *w, int n)
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
    float unit = codes->levels ? 4 : 0.25f; /* levels: 16 a code */
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
        half_from_float(quant_fit_scale(codes, n, x, quant_or_ones(w, n)));
    float d = half_to_float(half), inverse = d != 0 ? 1 / d : 0;

    round_all(codes, n, x, 0, inverse, q);
    return half;
}

/* Weighted sums over a group: of x, q, their squares and their product. */
struct moments {
    double one, x, xx, q, qq, xq;
};

/* x less its minimum, so that floats are precise enough for the sums. */
struct shifted {
    int n;
    double floor; /* m may not be above this */
    float x[32], w[32];
};

static struct moments
sum_moments(const struct quant_codes *codes, const struct shifted *of,
            float inverse, float m)
{
    float s[6][8] = { { 0 } };
    double sum[6] = { 0 };

    for (int j = 0; j < of->n; j += 8) {
        float v[8], q[8];

        for (int i = 0; i < 8; i++)
            v[i] = (of->x[j + i] - m) * inverse;
        round8(codes, v, q);
        for (int i = 0; i < 8; i++) {
            float w = of->w[j + i], x = of->x[j + i];

            s[0][i] += w;
            s[1][i] += w * x;
            s[2][i] += w * x * x;
            s[3][i] += w * q[i];
            s[4][i] += w * q[i] * q[i];
            s[5][i] += w * x * q[i];
        }
    }
    for (int k = 0; k < 6; k++)
        for (int i = 0; i < 8; i++)
            sum[k] += (double)s[k][i];
    return (struct moments){ sum[0], sum[1], sum[2], sum[3], sum[4], sum[5] };
}

/* The best line for q = round((x - m) * inverse): linear regression. An
 * infinite error: there is none. */
static struct quant_line
fit_line(const struct quant_codes *codes, const struct shifted *of,
         double inverse, double m)
{
    struct moments s = sum_moments(codes, of, (float)inverse, (float)m);
    double det = s.one * s.qq - s.q * s.q;
    struct quant_line l = { 0, 0, HUGE_VAL };

    if (!(det > 0))
        return l;
    l.d = (s.one * s.xq - s.x * s.q) / det;
    l.m = (s.qq * s.x - s.q * s.xq) / det;
    if (l.m > of->floor) {
        l.m = of->floor;
        l.d = (s.xq - l.m * s.q) / s.qq;
    }
    if (l.d > 0)
        l.error = s.xx - 2 * (l.d * s.xq + l.m * s.x) + l.d * l.d * s.qq +
                  2 * l.d * l.m * s.q + l.m * l.m * s.one;
    return l;
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
    for (int j = 0; j < from.n; j++) {
        of.x[j] = from.x[j] - r.min;
        of.w[j] = from.w[j];
    }
    for (int from_low = 0; from_low < LOW_STARTS; from_low++)
        for (int t = FIRST_START; t <= LAST_START && range > 0; t++) {
            double inverse = (hi + t / 4.0) / range;

            l = fit_line(&codes, &of, inverse, from_low * 0.5 / inverse);
            best = l.error < best.error ? l : best;
        }
    for (int i = 0; i < ROUNDS && best.d > 0; i++) {
        l = fit_line(&codes, &of, 1 / best.d, best.m);
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
    round_all(&(struct quant_codes){ .lo = 0, .hi = hi }, 32, x, -min, inverse,
              q);
    return half;
}

float
quant_round_group(const struct quant_codes *codes, struct quant_group of,
                  float d, float m, int8_t *q)
{
    float inverse = d != 0 ? 1 / d : 0, error[8] = { 0 }, sum = 0;

    for (int j = 0; j < of.n; j += 8) {
        float v[8], to[8];

        for (int i = 0; i < 8; i++)
            v[i] = (of.x[j + i] + m) * inverse;
        round8(codes, v, to);
        for (int i = 0; i < 8; i++) {
            float e = d * to[i] - m - of.x[j + i];

            error[i] += of.w[j + i] * e * e;
            q[j + i] = (int8_t)to[i];
        }
    }
    for (int i = 0; i < 8; i++)
        sum += error[i];
    return sum;
}
