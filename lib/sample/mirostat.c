/* mirostat.c - Mirostat: the surprise of drawn tokens is held at a target */
#include <config.h>

#include "sample/mirostat.h"

#include <math.h>

#include "sample/sampler.h"

enum {
    MIROSTAT_M = 100, /* the likeliest tokens of which s is estimated */
};

/* The exponent of Zipf's law, by the probabilities of the first tokens:
 * equation (6) of the paper, with b the logarithms of their ratios. */
static double
zipf_exponent(const struct sample_draw *d, size_t n)
{
    const struct gg_candidate *c = d->s->candidates;
    double tb = 0, tt = 0;

    for (size_t i = 0; i + 1 < n; i++) {
        double t = log((double)(i + 2) / (double)(i + 1));
        double b = ((double)c[i].logit - c[i + 1].logit) / d->list.temperature;

        tb += t * b;
        tt += t * t;
    }
    return tb / tt;
}

/* How many tokens have the cross-entropy mu, of n that follow the law. */
static double
mirostat_k(double exponent, double mu, double n)
{
    double e = exponent - 1, part;

    if (!(exponent > 0))
        return n; /* they are all alike */
    part = fabs(e) < 1e-9 ? 1 / log(n) : e / (1 - pow(n, -e));
    return pow(part * exp2(mu), 1 / exponent);
}

static size_t
take_version_1(struct sample_draw *d, double mu)
{
    size_t n = 0;
    double k = 1;

    while (n < MIROSTAT_M && sample_chain_next(d->s, &d->list, n))
        n++;
    if (n > 1)
        k = mirostat_k(zipf_exponent(d, n), mu, (double)d->list.n);
    if (!(k >= 2))
        return 1;
    while ((double)n < floor(k) && sample_chain_next(d->s, &d->list, n))
        n++;
    return (double)n < k ? n : (size_t)k;
}

static size_t
take_version_2(struct sample_draw *d, double mu)
{
    double bar = exp2(-mu) * sample_candidates_weight(&d->list);
    size_t n = 0;

    sample_candidates_limit(&d->list, bar);
    while (sample_chain_next(d->s, &d->list, n)) {
        if (n > 0 && d->s->weights[n] < bar)
            break;
        n++;
    }
    return n;
}

size_t
sample_mirostat_take(struct sample_draw *d, const double *v)
{
    return v[MIROSTAT_VERSION] == 1 ? take_version_1(d, d->h->mu)
                                    : take_version_2(d, d->h->mu);
}

void
sample_mirostat_begin(struct gg_history *h, const double *v)
{
    h->mu = 2.0 * v[MIROSTAT_TAU];
    h->is_mean = false;
}

/* Towards the surprise that is wanted. */
void
sample_mirostat_learn(struct gg_history *h, const double *v,
                      const struct sample_draw *d, size_t i)
{
    double logprob = log(d->s->weights[i] / d->whole);

    h->mu -= v[MIROSTAT_ETA] * (-logprob / log(2) - v[MIROSTAT_TAU]);
}
