/* sampler.c - logits to the next token id: temperature, top-k, top-p, min-p
 *
 * After temperature and order, each of the three keeps the front of the list,
 * and so the chain is the shortest of three prefixes: k long; up to the token
 * at which the sum of probabilities (of the k) reaches p; down to min-p times
 * the first one's probability. All sums are in double, in list order. */
#include <config.h>

#include <gg.h>
#include <math.h>

#include "core/error.h"
#include "core/mem.h"
#include "sample/random.h"
#include "sample/select.h"

struct gg_sampler {
    struct gg_sampler_params params;
    struct choice *choices;
    struct gg_candidate *candidates;
    double *weights; /* exp((logit - highest) / temperature), of candidates */
    size_t cap;
};

enum {
    BLOCK = 64,
    FIRST_TAKE = 64, /* without top-k, so many are put in order at first */
};

/* The list that a prefix is taken of, put in order no further than needed. */
struct pool {
    const int32_t *ids;
    const float *logits;
    size_t n;
    float highest;
    struct choice *choices; /* the first n_choices of the list */
    size_t n_choices, next;
    bool whole; /* there are no more than those */
};

struct gg_sampler_params
gg_sampler_params_default(void)
{
    return (struct gg_sampler_params){
        .temperature = 0.8f,
        .top_k = 40,
        .top_p = 0.95f,
    };
}

static enum gg_status
check_params(const struct gg_sampler_params *p, struct gg_error *err)
{
    if (!(p->temperature >= 0 && p->temperature <= 1e6f))
        return error_set(err, GG_ERR_ARG, "temperature %g is not 0 or more",
                         p->temperature);
    if (p->top_k < 0)
        return error_set(err, GG_ERR_ARG, "top-k %ld is below 0",
                         (long)p->top_k);
    if (!(p->top_p >= 0 && p->top_p <= 1))
        return error_set(err, GG_ERR_ARG, "top-p %g is not between 0 and 1",
                         p->top_p);
    if (!(p->min_p >= 0 && p->min_p <= 1))
        return error_set(err, GG_ERR_ARG, "min-p %g is not between 0 and 1",
                         p->min_p);
    return GG_OK;
}

enum gg_status
gg_sampler_new(const struct gg_sampler_params *params, struct gg_sampler **out,
               struct gg_error *err)
{
    enum gg_status st = check_params(params, err);
    struct gg_sampler *s;

    if (st != GG_OK)
        return st;
    s = mem_zalloc(sizeof(*s));
    if (!s)
        return error_nomem(err);
    s->params = *params;
    *out = s;
    return GG_OK;
}

void
gg_sampler_free(struct gg_sampler *sampler)
{
    if (!sampler)
        return;
    mem_free(sampler->choices);
    mem_free(sampler->candidates);
    mem_free(sampler->weights);
    mem_free(sampler);
}

static enum gg_status
reserve(struct gg_sampler *s, size_t n, struct gg_error *err)
{
    size_t a = s->cap, b = s->cap, c = s->cap;

    if (!mem_grow(&s->choices, &a, n, sizeof(*s->choices)) ||
        !mem_grow(&s->candidates, &b, n, sizeof(*s->candidates)) ||
        !mem_grow(&s->weights, &c, n, sizeof(*s->weights)))
        return error_nomem(err);
    s->cap = a;
    return GG_OK;
}

/* Loops of fixed length are what compilers turn into vectors. */
static enum gg_status
check_logits(const float *logits, size_t n, struct gg_error *err)
{
    int bad = 0, some = 0;
    size_t i = 0;

    for (; n - i >= BLOCK; i += BLOCK)
        for (size_t j = i; j < i + BLOCK; j++) {
            bad |= !(logits[j] < INFINITY);
            some |= logits[j] > -INFINITY;
        }
    for (; i < n; i++) {
        bad |= !(logits[i] < INFINITY);
        some |= logits[i] > -INFINITY;
    }
    if (bad)
        return error_set(err, GG_ERR_FORMAT, "a logit is NaN or infinite");
    if (!some)
        return error_set(err, GG_ERR_FORMAT, "no token is possible: %s",
                         n ? "all logits are -infinity" : "no logits");
    return GG_OK;
}

static void
pool_fill(struct pool *p, size_t k)
{
    p->n_choices = select_top(p->ids, p->logits, p->n, k, p->choices);
    p->whole = p->n_choices < k || k == p->n;
}

static struct pool
pool_of(const struct gg_sampler *s, const int32_t *ids, const float *logits,
        size_t n)
{
    size_t k = s->params.temperature == 0 ? 1 : (size_t)s->params.top_k;
    bool cut = k > 0 && k < n;
    struct pool p = {
        .ids = ids, .logits = logits, .n = n, .choices = s->choices
    };

    pool_fill(&p, cut ? k : n < FIRST_TAKE ? n : FIRST_TAKE);
    p.whole = p.whole || cut;
    p.highest = p.choices[0].logit;
    return p;
}

static bool
pool_take(struct pool *p, struct choice *out)
{
    if (p->next == p->n_choices && !p->whole)
        pool_fill(p, p->next > p->n / 32 ? p->n : 8 * p->next);
    if (p->next == p->n_choices)
        return false;
    *out = p->choices[p->next++];
    return true;
}

static double
weigh(const struct gg_sampler *s, float logit, float highest)
{
    double t = s->params.temperature;

    return t == 0 ? 1 : exp(((double)logit - highest) / t);
}

/* The sum of the weights of all that is in the list. */
static double
pool_weight(const struct gg_sampler *s, const struct pool *p)
{
    double sum = 0;

    for (size_t i = 0; p->whole && i < p->n_choices; i++)
        sum += weigh(s, p->choices[i].logit, p->highest);
    for (size_t i = 0; !p->whole && i < p->n; i++)
        sum += weigh(s, p->logits[i], p->highest);
    return sum;
}

/* The sum at which top-p stops. */
static double
top_p_sum(const struct gg_sampler *s, const struct pool *p)
{
    float part = s->params.top_p;

    return part < 1 ? part * pool_weight(s, p) : INFINITY;
}

/* Moves candidates from the pool until the chain stops, or until the sum of
 * their weights exceeds `enough`. Returns how many, at least 1. */
static size_t
take_prefix(struct gg_sampler *s, struct pool *p, double enough, double *sum)
{
    double stop = top_p_sum(s, p);
    struct choice c;
    size_t m = 0;

    *sum = 0;
    while ((m == 0 || (*sum < stop && *sum <= enough)) && pool_take(p, &c)) {
        double w = weigh(s, c.logit, p->highest);

        if (w < s->params.min_p)
            break;
        s->candidates[m] = (struct gg_candidate){ c.id, c.logit, 0 };
        s->weights[m++] = w;
        *sum += w;
    }
    return m;
}

static enum gg_status
prepare(struct gg_sampler *s, const int32_t *ids, const float *logits, size_t n,
        struct pool *pool, struct gg_error *err)
{
    enum gg_status st = check_logits(logits, n, err);

    if (st == GG_OK)
        st = reserve(s, n, err);
    if (st == GG_OK)
        *pool = pool_of(s, ids, logits, n);
    return st;
}

enum gg_status
gg_sampler_candidates(struct gg_sampler *sampler, const int32_t *ids,
                      const float *logits, size_t n,
                      const struct gg_candidate **out, size_t *n_out,
                      struct gg_error *err)
{
    struct pool pool;
    enum gg_status st = prepare(sampler, ids, logits, n, &pool, err);
    double sum;

    if (st != GG_OK)
        return st;
    n = take_prefix(sampler, &pool, INFINITY, &sum);
    for (size_t i = 0; i < n; i++)
        sampler->candidates[i].p = (float)(sampler->weights[i] / sum);
    *out = sampler->candidates;
    *n_out = n;
    return GG_OK;
}

/* The candidate in whose share of the line from 0 to the sum of all weights
 * the point lies. */
static int32_t
pick(const struct gg_sampler *s, size_t n, double point)
{
    double sum = 0;
    size_t i = 0;

    for (; i + 1 < n; i++) {
        sum += s->weights[i];
        if (sum > point)
            break;
    }
    return s->candidates[i].id;
}

enum gg_status
gg_sampler_draw(struct gg_sampler *sampler, const int32_t *ids,
                const float *logits, size_t n, uint64_t sequence,
                uint64_t position, int32_t *id, struct gg_error *err)
{
    const struct gg_sampler_params *params = &sampler->params;
    double u = random_uniform(params->seed, sequence, position), sum;
    struct pool pool;
    enum gg_status st = prepare(sampler, ids, logits, n, &pool, err);

    if (st != GG_OK)
        return st;
    if (!pool.whole && params->top_p >= 1 && params->min_p == 0) {
        /* Nothing is cut off: the sum is known before the order is. */
        double point = u * pool_weight(sampler, &pool);

        n = take_prefix(sampler, &pool, point, &sum);
        *id = sampler->candidates[n - 1].id;
    } else {
        n = take_prefix(sampler, &pool, INFINITY, &sum);
        *id = pick(sampler, n, u * sum);
    }
    return GG_OK;
}
