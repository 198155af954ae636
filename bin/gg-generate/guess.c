/* guess.c - how many ids to guess: as many as pay */
#include <config.h>

#include "gg-generate/guess.h"

#include <math.h>

static const double hope[GUESS_KINDS] = { 0.4, 0.6, 0.8 };

void
guess_init(struct guess *g)
{
    *g = (struct guess){ .each = 0 };
    for (int i = 0; i < GUESS_KINDS; i++)
        g->right[i] = hope[i];
}

/* What is known of fewer guesses, and somewhat more for each further one: low,
 * so that it is tried. */
static double
time_of(const struct guess *g, size_t n)
{
    size_t k = n;

    while (k > 0 && g->times[k] == 0)
        k--;
    return g->times[k] * (1 + 0.05 * (double)(n - k));
}

size_t
guess_count(const struct guess *g, int kind, size_t most)
{
    double p = g->right[kind], ids = 1, power = 1, best = 0;
    size_t found = 0;

    if (g->times[0] == 0)
        return 0;
    for (size_t n = 0; n <= most && n <= GUESS_MOST; n++) {
        double rate = ids / (time_of(g, n) + (double)n * g->each);

        if (rate > best) {
            best = rate;
            found = n;
        }
        power *= p;
        ids +=
            power; /* those that are right so far, and the one drawn behind */
    }
    return found;
}

void
guess_learn(struct guess *g, int kind, size_t n, size_t right)
{
    for (size_t i = 0; i < right; i++)
        g->right[kind] += 0.1 * (0.98 - g->right[kind]);
    if (right < n)
        g->right[kind] -= 0.1 * g->right[kind];
}

void
guess_skipped(struct guess *g, int kind)
{
    g->right[kind] += 0.01 * (hope[kind] - g->right[kind]);
}

static void
average(double *mean, double x)
{
    *mean += (*mean == 0 ? 1 : 0.2) * (x - *mean);
}

void
guess_took(struct guess *g, size_t n, double us)
{
    average(&g->times[n], fmax(us, 1));
}

void
guess_made(struct guess *g, size_t n, double us)
{
    if (n)
        average(&g->each, us / (double)n);
}
