/* value_stats.c - what the values of a tensor are like, in bounded memory */
#include <config.h>

#include "gg-inspect/tensor_source.h"

#include <math.h>

enum {
    LANES = 8, /* sums at once */
};

/* Sums in `mean` and `rms` what is divided later. */
static void
count_one(struct value_stats *s, double x)
{
    if (isnan(x)) {
        s->nan++;
        return;
    }
    if (isinf(x)) {
        s->inf++;
        return;
    }
    if (s->finite == 0 || x < s->min)
        s->min = x;
    if (s->finite == 0 || x > s->max)
        s->max = x;
    s->finite++;
    s->zeros += x == 0;
    s->mean += x;
    s->rms += x * x;
}

/* Counts many values, none of which is infinite or NaN: the caller has seen
 * that the sum of their squares is neither. */
static void
count_finite(struct value_stats *s, const double *x, size_t n)
{
    double min[LANES], max[LANES], sum[LANES] = { 0 }, square[LANES] = { 0 };
    uint64_t zeros = 0;

    for (int k = 0; k < LANES; k++)
        min[k] = max[k] = x[k];
    for (size_t i = 0; i < n; i += LANES)
        for (int k = 0; k < LANES; k++) {
            double v = x[i + (size_t)k];

            min[k] = v < min[k] ? v : min[k];
            max[k] = v > max[k] ? v : max[k];
            sum[k] += v;
            square[k] += v * v;
            zeros += v == 0;
        }
    for (int k = 0; k < LANES; k++) {
        if (s->finite == 0 || min[k] < s->min)
            s->min = min[k];
        if (s->finite == 0 || max[k] > s->max)
            s->max = max[k];
        s->finite += n / LANES;
        s->mean += sum[k];
        s->rms += square[k];
    }
    s->zeros += zeros;
}

static bool
all_finite(const double *x, size_t n)
{
    bool finite = true;

    for (size_t i = 0; i < n; i++)
        finite &= fabs(x[i]) <= 0x1.fffffffffffffp1023;
    return finite;
}

static void
count_values(struct value_stats *s, const double *x, size_t n)
{
    size_t whole = n - n % LANES;

    if (whole == 0 || !all_finite(x, whole))
        whole = 0;
    else
        count_finite(s, x, whole);
    for (size_t i = whole; i < n; i++)
        count_one(s, x[i]);
    s->n += n;
}

void
value_stats_compute(struct inspected *f, int64_t tensor,
                    struct value_stats *out)
{
    struct values v;
    double variance, square;

    *out = (struct value_stats){ 0 };
    values_open(&v, f, tensor);
    for (size_t n; (n = values_next(&v));)
        count_values(out, v.x, n);
    values_close(&v);
    if (!out->finite)
        return;
    out->mean /= (double)out->finite;
    square = out->rms / (double)out->finite;
    variance = square - out->mean * out->mean;
    out->rms = sqrt(square);
    out->sigma = variance > 0 ? sqrt(variance) : 0;
}

void
value_stats_bins(struct inspected *f, int64_t tensor, double from, double to,
                 uint64_t *bins, int n_bins)
{
    double scale = to > from ? n_bins / (to - from) : 0;
    struct values v;

    values_open(&v, f, tensor);
    for (size_t n; (n = values_next(&v));)
        for (size_t i = 0; i < n; i++) {
            double at = (v.x[i] - from) * scale;

            if (!(v.x[i] >= from && v.x[i] <= to))
                continue;
            if (!(at < n_bins)) /* the maximum itself */
                at = n_bins - 1;
            bins[(int)at]++;
        }
    values_close(&v);
}

uint64_t
value_stats_outliers(struct inspected *f, int64_t tensor,
                     const struct value_stats *s, double far)
{
    uint64_t count_far = 0;
    struct values v;

    if (s->max - s->mean <= far && s->mean - s->min <= far)
        return 0; /* as most tensors have it: no need to look again */
    values_open(&v, f, tensor);
    for (size_t n; (n = values_next(&v));)
        for (size_t i = 0; i < n; i++)
            count_far += isfinite(v.x[i]) && fabs(v.x[i] - s->mean) > far;
    values_close(&v);
    return count_far;
}
