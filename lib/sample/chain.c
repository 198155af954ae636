/* chain.c - what is left of the list of tokens
 *
 * Top-k, top-p and min-p each keep the front of the list, and so by themselves
 * they are the shortest of three prefixes: k long; up to the token at which
 * the sum of probabilities (of the k) reaches p; down to min-p times the first
 * one's probability. Locally typical sampling keeps a part of the list that
 * may have gaps; XTC takes the front off. All sums are in double, in list
 * order. */
#include <config.h>

#include <math.h>

#include "sample/sampler.h"

enum {
    MIROSTAT_M = 100, /* the likeliest tokens of which s is estimated */
};

static void
put_candidate(struct gg_sampler *s, size_t i, const struct sample_candidates *p,
              struct choice c)
{
    s->candidates[i] = (struct gg_candidate){ c.id, c.logit, 0 };
    s->weights[i] = sample_candidates_weigh(p, c.logit);
}

static double
sum_of(const struct gg_sampler *s, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += s->weights[i];
    return sum;
}

/* The first `most` of the list. */
static size_t
take_candidates(struct gg_sampler *s, struct sample_candidates *p, size_t most)
{
    struct choice c;
    size_t n = 0;

    while (n < most && sample_candidates_take(p, &c))
        put_candidate(s, n++, p, c);
    return n;
}

/* ---- top-p and min-p, of the list itself ---- */

/* Moves candidates from the list until the chain stops, or until the sum of
 * their weights exceeds `enough`. */
static size_t
take_prefix(struct gg_sampler *s, struct sample_candidates *p, double enough,
            double *sum)
{
    float part = s->params.top_p;
    double stop = part < 1 ? part * sample_candidates_weight(p) : INFINITY;
    struct choice c;
    size_t n = 0;

    *sum = 0;
    sample_candidates_limit(p, s->params.min_p);
    while ((n == 0 || (*sum < stop && *sum <= enough)) &&
           sample_candidates_take(p, &c)) {
        put_candidate(s, n, p, c);
        if (s->weights[n] < s->params.min_p)
            break;
        *sum += s->weights[n++];
    }
    return n;
}

/* ---- and of what another stage has left ---- */

static size_t
top_p(const struct gg_sampler *s, size_t n)
{
    double stop = s->params.top_p * sum_of(s, n), sum = 0;
    size_t i = 0;

    if (s->params.top_p >= 1)
        return n;
    do
        sum += s->weights[i++];
    while (i < n && sum < stop);
    return i;
}

static size_t
min_p(const struct gg_sampler *s, size_t n)
{
    while (n > 1 && s->weights[n - 1] < s->params.min_p * s->weights[0])
        n--;
    return n;
}

/* ---- typical ---- */

/* How unlikely token i of the list is: -log of its probability, where
 * exp(whole) is the sum of all weights. */
static double
surprisal(const struct gg_sampler *s, const struct sample_candidates *p,
          double whole, size_t i)
{
    double x = s->candidates[i].logit;

    return whole - (x - p->highest) / p->temperature;
}

/* Without that of a weight so small that it is 0, whose share of the entropy
 * is none. */
static double
entropy(const struct gg_sampler *s, const struct sample_candidates *p, size_t n,
        double all)
{
    double h = 0, whole = log(all);

    for (size_t i = 0; i < n; i++)
        if (s->weights[i] > 0)
            h += s->weights[i] / all * surprisal(s, p, whole, i);
    return h;
}

static void
move(struct gg_sampler *s, size_t to, size_t from)
{
    s->candidates[to] = s->candidates[from];
    s->weights[to] = s->weights[from];
}

/* Where the tokens that have the logit of the one before `end` begin. */
static size_t
begin_of_equals(const struct gg_sampler *s, size_t end)
{
    size_t i = end - 1;

    while (i > 0 && s->candidates[i - 1].logit == s->candidates[i].logit)
        i--;
    return i;
}

/* Along the list surprise grows, so that its distance from the entropy falls
 * and then rises: tokens are taken to both sides from where it is least, the
 * nearest first, of equals the first one. */
static size_t
typical(struct gg_sampler *s, const struct sample_candidates *p, size_t n)
{
    double all = sum_of(s, n), h = entropy(s, p, n, all), whole = log(all);
    double enough = s->params.typical_p * all, sum = 0;
    size_t first = 0, end, part, m = 0;

    while (first < n && surprisal(s, p, whole, first) < h)
        first++;
    end = part = first;
    do {
        bool front = end == n;

        if (first > 0 && end < n)
            front = h - surprisal(s, p, whole, first - 1) <=
                    surprisal(s, p, whole, end) - h;
        if (front) {
            part = first;
            first = begin_of_equals(s, first);
            for (m = first; m < part && (m == first || sum < enough); m++)
                sum += s->weights[m];
            if (m < part)
                break; /* of these equals the last ones are left out */
        } else {
            sum += s->weights[end++];
        }
        part = m = first;
    } while (sum < enough && end - first < n);
    n = m - first + end - part;
    for (size_t i = 0; i < n; i++)
        move(s, i, i < m - first ? first + i : part + i - (m - first));
    return n;
}

static bool
has_typical(const struct gg_sampler_params *p)
{
    return p->typical_p > 0 && p->typical_p < 1 && p->temperature > 0;
}

/* ---- XTC ---- */

/* Of those that reach the threshold the last one stays, and what is after
 * it. */
static size_t
exclude_top(struct gg_sampler *s, size_t n)
{
    double bar = s->params.xtc_threshold * sum_of(s, n);
    size_t top = 0;

    while (top < n && s->weights[top] >= bar)
        top++;
    if (top < 2)
        return n;
    n -= top - 1;
    for (size_t i = 0; i < n; i++) {
        s->candidates[i] = s->candidates[i + top - 1];
        s->weights[i] = s->weights[i + top - 1];
    }
    return n;
}

/* ---- Mirostat ---- */

/* Of the exponent of Zipf's law, by the probabilities of the first tokens:
 * equation (6) of the paper, with b the logarithms of their ratios. */
static double
zipf_exponent(const struct sample_candidates *p, const struct gg_sampler *s,
              size_t n)
{
    double tb = 0, tt = 0;

    for (size_t i = 0; i + 1 < n; i++) {
        double t = log((double)(i + 2) / (double)(i + 1));
        double b =
            ((double)s->candidates[i].logit - s->candidates[i + 1].logit) /
            p->temperature;

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
mirostat_1(struct gg_sampler *s, struct sample_candidates *p, double mu)
{
    size_t n = take_candidates(s, p, MIROSTAT_M);
    double k = 1;
    struct choice c;

    if (n > 1)
        k = mirostat_k(zipf_exponent(p, s, n), mu, (double)p->n);
    if (!(k >= 2))
        return 1;
    while ((double)n < floor(k) && sample_candidates_take(p, &c))
        put_candidate(s, n++, p, c);
    return (double)n < k ? n : (size_t)k;
}

static size_t
mirostat_2(struct gg_sampler *s, struct sample_candidates *p, double mu)
{
    double bar = exp2(-mu) * sample_candidates_weight(p);
    struct choice c;
    size_t n = 0;

    sample_candidates_limit(p, bar);
    while (sample_candidates_take(p, &c)) {
        put_candidate(s, n, p, c);
        if (n > 0 && s->weights[n] < bar)
            break;
        n++;
    }
    return n;
}

/* ---- all ---- */

static size_t
take_part(struct gg_sampler *s, struct sample_candidates *p, double mu,
          double *sum)
{
    size_t n;

    if (sample_chain_has_mirostat(&s->params)) {
        n = s->params.mirostat == 1 ? mirostat_1(s, p, mu)
                                    : mirostat_2(s, p, mu);
    } else {
        n = typical(s, p, take_candidates(s, p, p->n));
        n = min_p(s, top_p(s, n));
    }
    *sum = sum_of(s, n);
    return n;
}

size_t
sample_chain_take(struct gg_sampler *s, struct sample_candidates *candidates,
                  double chance, double mu, double share, double *whole)
{
    const struct gg_sampler_params *p = &s->params;
    bool part = has_typical(p) || sample_chain_has_mirostat(p);
    bool xtc = chance < p->xtc_probability && !sample_chain_has_mirostat(p);
    double sum;
    size_t n;

    if (!part && !xtc && !candidates->whole && p->top_p >= 1 && p->min_p == 0) {
        /* Nothing is cut off: the sum is known before the order is. */
        *whole = sample_candidates_weight(candidates);
        return take_prefix(s, candidates, share * *whole, &sum);
    }
    n = part ? take_part(s, candidates, mu, whole)
             : take_prefix(s, candidates, INFINITY, whole);
    if (xtc) {
        n = exclude_top(s, n);
        *whole = sum_of(s, n);
    }
    return n;
}
