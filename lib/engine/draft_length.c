/* draft_length.c - how many ids to draft: as many as pay */
#include "engine/draft_length.h"

#include <math.h>

#include "engine/draft.h"

static const double hope[DRAFT_KINDS] = { 0.4, 0.6, 0.8, 0.9 };

void
engine_draft_length_init(struct draft_length *d)
{
    *d = (struct draft_length){ .each = 0 };
    for (int i = 0; i < DRAFT_KINDS; i++)
        d->accepted[i] = hope[i];
}

/* Time with n ids; if unknown, that with fewer, and somewhat more for each
 * further one: low, so that it is tried. */
static double
time_of(const struct draft_length *d, size_t n)
{
    size_t k = n;

    while (k > 0 && d->times[k] == 0)
        k--;
    return d->times[k] * (1 + 0.05 * (double)(n - k));
}

/* The cost of evaluating accepted ids again, where a draft is not accepted
 * whole: it is with probability `whole`, and `made` ids are expected. */
static double
time_again(const struct draft_length *d, double whole, double made)
{
    size_t n = d->again + (size_t)made;

    if (!d->goes_back)
        return 0;
    n = n < DRAFT_MOST ? n : DRAFT_MOST;
    return (1 - whole) * (time_of(d, n) - time_of(d, 0));
}

size_t
engine_draft_length_best(const struct draft_length *d, int kind, size_t most)
{
    double p = d->accepted[kind], power = 1, best = 0;
    double ids = 1 + (double)d->given;
    size_t found = 0, before = d->again + d->given;

    if (d->times[0] == 0)
        return 0;
    for (size_t n = 0; n <= most && before + n <= DRAFT_MOST; n++) {
        double us = time_of(d, before + n) + (double)n * d->each;
        double rate = ids / (us + time_again(d, power, ids));

        if (rate > best) {
            best = rate;
            found = n;
        }
        power *= p;
        ids += power; /* those accepted so far, and the one drawn after */
    }
    return found;
}

void
engine_draft_length_learn(struct draft_length *d, int kind, size_t n,
                          size_t accepted)
{
    for (size_t i = 0; i < accepted; i++)
        d->accepted[kind] += 0.1 * (0.98 - d->accepted[kind]);
    if (accepted < n)
        d->accepted[kind] -= 0.1 * d->accepted[kind];
}

void
engine_draft_length_skipped(struct draft_length *d, int kind)
{
    d->accepted[kind] += 0.01 * (hope[kind] - d->accepted[kind]);
}

static void
average(double *mean, double x)
{
    *mean += (*mean == 0 ? 1 : 0.2) * (x - *mean);
}

void
engine_draft_length_evaluated(struct draft_length *d, size_t n, double us)
{
    average(&d->times[n], fmax(us, 1));
}

void
engine_draft_length_drafted(struct draft_length *d, size_t n, double us)
{
    if (n)
        average(&d->each, us / (double)n);
}

size_t
engine_draft_wanted(struct engine_draft *d, struct gg_text *t, size_t most)
{
    size_t n;

    d->length.again = t->draft.again;
    d->length.given = 0;
    n = engine_draft_length_best(&d->length, DRAFT_LIKELY, most);
    t->draft.kind = DRAFT_LIKELY;
    if (n == 0)
        engine_draft_length_skipped(&d->length, DRAFT_LIKELY);
    return n;
}
