/* reference_rotate.c - rotary positions in double precision
 *
 * Su et al. 2021: pair i of a head turns by position * base^(-2i / n). What
 * stretches contexts changes those frequencies: all of them (Chen et al. 2023),
 * the slow ones (YaRN: Peng et al. 2023, and the attention's magnitude, its
 * equation 22), or each by a divisor of its own (Llama 3.1; LongRoPE: Ding et
 * al. 2024). */
#include "reference_parts.h"

#include <math.h>
#include <string.h>

bool
reference_windowed(const struct reference *r, int layer)
{
    int period = r->arch->window_period;

    if (r->windowed)
        return r->window && r->windowed[layer];
    return r->window && (period == 1 || (layer + 1) % period);
}

/* The pair that turns so many times in the original context. */
static double
pair_of_turns(const struct reference *r, double turns)
{
    double pi = acos(-1);

    return r->n_rot * log(r->n_ctx_original / (turns * 2 * pi)) /
           (2 * log(r->base));
}

/* 1: pair i turns fast and keeps its frequency; 0: it is stretched. */
static double
yarn_kept(const struct reference *r, int i)
{
    double low = pair_of_turns(r, r->beta_fast);
    double high = pair_of_turns(r, r->beta_slow);

    if (!r->arch->yarn_exact) {
        low = floor(low);
        high = ceil(high);
    }
    low = fmax(low, 0);
    high = fmin(high, r->n_rot - 1);
    if (low == high)
        high += 0.001;
    return 1 - fmin(fmax((i - low) / (high - low), 0), 1);
}

static double
divisor(const struct reference *r, int i)
{
    bool stretched = r->n_ctx > r->n_ctx_original;
    const struct weight *all = reference_weight(r, -1, "rope_freqs", "weight");
    const struct weight *one = reference_weight(
        r, -1, stretched ? "rope_factors_long" : "rope_factors_short",
        "weight");

    return (all ? all->x[i] : 1) * (one ? one->x[i] : 1);
}

static double
frequency(const struct reference *r, int layer, int i)
{
    const struct architecture *a = r->arch;
    bool local =
        (a->local_base || a->local_plain) && reference_windowed(r, layer);
    double base = local && a->local_base ? 10000 : r->base;
    double f = pow(base, -2.0 * i / r->n_rot) / divisor(r, i);
    double kept = 0;

    if (!strcmp(r->scaling, "yarn"))
        kept = yarn_kept(r, i);
    return local ? f : f * kept + f / r->factor * (1 - kept);
}

static double
magnitude(const struct reference *r, int layer)
{
    bool yarn = !strcmp(r->scaling, "yarn") && r->factor > 1;

    if (r->arch->local_plain && reference_windowed(r, layer))
        return 1;

    return r->magnitude * (yarn ? 0.1 * log(r->factor) + 1 : 1);
}

void
reference_rotate(const struct reference *r, int layer, double *x, int n_head,
                 int position)
{
    int straight = r->arch->straight_period, half = r->n_rot / 2;
    bool pairs = r->arch->rotation == ROTATE_PAIRS;

    if (r->arch->rotation == ROTATE_NOT || r->straight ||
        (straight && (layer + 1) % straight == 0))
        return;
    for (int i = 0; i < half; i++) {
        double angle = position * frequency(r, layer, i);
        double m = magnitude(r, layer);
        double c = m * cos(angle), s = m * sin(angle);

        for (int h = 0; h < n_head; h++) {
            double *p = x + h * r->d + (pairs ? 2 * i : i);
            double *q = p + (pairs ? 1 : half), a = *p, b = *q;

            *p = a * c - b * s;
            *q = a * s + b * c;
        }
    }
}
