/* sampler.c - logits to the next token id: edits, the chain, a draw */
#include <config.h>

#include "sample/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "sample/edit.h"
#include "sample/fitting.h"
#include "sample/params.h"
#include "sample/random.h"

enum {
    BLOCK = 64,
};

static int
by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return x < y ? -1 : x > y;
}

/* What the caller's arrays hold is the sampler's own from now on. */
static enum gg_status
copy_arrays(struct gg_sampler *s, const struct gg_sampler_params *p,
            struct gg_error *err)
{
    if (p->n_bias) {
        s->bias = mem_dup(p->bias, p->n_bias * sizeof(*p->bias));
        if (!s->bias)
            return error_nomem(err);
        s->params.bias = s->bias;
    }
    if (p->n_dry_breakers) {
        size_t n = p->n_dry_breakers;

        s->breakers = mem_dup(p->dry_breakers, n * sizeof(*p->dry_breakers));
        if (!s->breakers)
            return error_nomem(err);
        qsort(s->breakers, n, sizeof(*s->breakers), by_value);
        s->params.dry_breakers = s->breakers;
    }
    return GG_OK;
}

enum gg_status
gg_sampler_new(const struct gg_sampler_params *params, struct gg_sampler **out,
               struct gg_error *err)
{
    static const struct gg_sampler_params defaults;
    struct gg_sampler_params p =
        sample_params_resolve(params ? params : &defaults);
    struct gg_sampler *s;
    enum gg_status st;

    if (!out)
        return error_null(err);
    st = sample_params_check(&p, err);
    if (st != GG_OK)
        return st;
    s = mem_zalloc(sizeof(*s));
    if (!s)
        return error_nomem(err);
    s->params = p;
    st = copy_arrays(s, &p, err);
    if (st == GG_OK)
        *out = s;
    else
        gg_sampler_free(s);
    return st;
}

void
gg_sampler_free(struct gg_sampler *sampler)
{
    if (!sampler)
        return;
    mem_free(sampler->bias);
    mem_free(sampler->breakers);
    mem_free(sampler->choices);
    mem_free(sampler->candidates);
    mem_free(sampler->weights);
    mem_free(sampler->logits);
    mem_free(sampler->fit);
    mem_free(sampler->fit_ids);
    mem_free(sampler->scratch);
    mem_free(sampler);
}

static bool
has_sigma(const struct gg_sampler_params *p)
{
    return p->top_n_sigma > 0 && p->temperature > 0 &&
           !sample_chain_has_mirostat(p);
}

bool
gg_sampler_remembers(const struct gg_sampler *sampler)
{
    const struct gg_sampler_params *p = sampler ? &sampler->params : NULL;

    if (!p)
        return false;
    return sample_edit_has_penalties(p) || sample_edit_has_dry(p) ||
           sample_chain_has_mirostat(p) || p->grammar;
}

size_t
gg_sampler_enough(const struct gg_sampler *sampler)
{
    const struct gg_sampler_params *p = sampler ? &sampler->params : NULL;

    if (!p || p->n_bias || gg_sampler_remembers(sampler) || has_sigma(p))
        return 0;
    return p->temperature == 0 ? 1 : (size_t)p->top_k;
}

static enum gg_status
reserve_choices(struct gg_sampler *s, size_t n, struct gg_error *err)
{
    size_t a = s->cap, b = s->cap;

    if (!mem_grow(&s->choices, &s->choices_cap, 2 * n, sizeof(*s->choices)) ||
        !mem_grow(&s->candidates, &a, n, sizeof(*s->candidates)) ||
        !mem_grow(&s->weights, &b, n, sizeof(*s->weights)))
        return error_nomem(err);
    s->cap = a;
    return GG_OK;
}

static enum gg_status
check_logits(const float *logits, size_t n, struct gg_error *err)
{
    switch (select_check(logits, n)) {
    case SELECT_BAD:
        return error_set(err, GG_ERR_FORMAT, "a logit is NaN or infinite");
    case SELECT_NONE:
        return error_set(err, GG_ERR_FORMAT, "no token is possible: %s",
                         n ? "all logits are -infinity" : "no logits");
    default:
        return GG_OK;
    }
}

/* ---- top-n-sigma ---- */

static double
deviation(const float *logits, size_t n)
{
    double sum = 0, squares = 0, mean;
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
        if (logits[i] > -INFINITY) {
            sum += logits[i];
            m++;
        }
    mean = sum / (double)m;
    for (size_t i = 0; i < n; i++)
        if (logits[i] > -INFINITY)
            squares += (logits[i] - mean) * (logits[i] - mean);
    return sqrt(squares / (double)m);
}

/* Makes all that is below the bar impossible. */
static enum gg_status
cut_sigma(struct gg_sampler *s, const int32_t *ids, const float **logits,
          size_t n, struct gg_error *err)
{
    const float *from = *logits;
    double bar = -INFINITY;

    if (ids)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "top-n-sigma needs all logits, and these are some");
    if (!mem_grow(&s->logits, &s->logits_cap, n, sizeof(*s->logits)))
        return error_nomem(err);
    for (size_t i = 0; i < n; i++)
        bar = from[i] > bar ? from[i] : bar;
    bar -= s->params.top_n_sigma * deviation(from, n);
    for (size_t i = 0; i < n; i++)
        s->logits[i] = from[i] >= bar ? from[i] : -INFINITY;
    *logits = s->logits;
    return GG_OK;
}

/* ---- the draw ---- */

/* Edits, of logits that are sound. */
static enum gg_status
edit(struct gg_sampler *s, const struct gg_history *h, const int32_t *ids,
     const float **logits, size_t n, struct gg_error *err)
{
    const float *given = *logits;
    enum gg_status st = check_logits(given, n, err);

    if (st == GG_OK && ids && sample_chain_has_mirostat(&s->params))
        st = error_set(err, GG_ERR_UNSUPPORTED,
                       "Mirostat needs all logits, and these are some");
    if (st == GG_OK)
        st = reserve_choices(s, n, err);
    if (st == GG_OK)
        st = sample_edit_logits(s, h, ids, logits, n, err);
    if (st == GG_OK && *logits != given)
        st = check_logits(*logits, n, err);
    return st;
}

static enum gg_status
check_ids(const int32_t *ids, size_t n, struct gg_error *err)
{
    for (size_t i = 0; ids && i < n; i++)
        if (ids[i] < 0)
            return error_set(err, GG_ERR_ARG, "a token id is negative");
    return GG_OK;
}

static enum gg_status
prepare_logits(struct gg_sampler *s, const struct gg_history *h,
               const int32_t *ids, const float *logits, size_t n,
               struct sample_candidates *candidates, struct gg_error *err)
{
    const struct gg_sampler_params *p = &s->params;
    bool mirostat = sample_chain_has_mirostat(p);
    size_t k = p->temperature == 0 ? 1 : mirostat ? 0 : (size_t)p->top_k;
    enum gg_status st = check_ids(ids, n, err);

    if (st == GG_OK)
        st = edit(s, h, ids, &logits, n, err);
    if (st == GG_OK && h && h->at.grammar && !h->waits) {
        if (!mirostat && !has_sigma(p))
            return sample_fitting_candidates(s, &h->at, ids, logits, n, k,
                                             candidates, err);
        st = sample_fitting_cut(s, &h->at, ids, &logits, n, err);
    }
    if (st == GG_OK && has_sigma(p))
        st = cut_sigma(s, ids, &logits, n, err);
    if (st == GG_OK)
        *candidates =
            sample_candidates_of(ids, logits, n, k, p->temperature, s->choices);
    return st;
}

enum gg_status
gg_sampler_candidates(struct gg_sampler *s, const int32_t *ids,
                      const float *logits, size_t n,
                      const struct gg_candidate **out, size_t *n_out,
                      struct gg_error *err)
{
    static const struct gg_history none;
    struct sample_candidates candidates;
    enum gg_status st;
    double sum;

    if (!s || (!logits && n) || !out || !n_out)
        return error_null(err);
    st = prepare_logits(s, &none, ids, logits, n, &candidates, err);
    if (st != GG_OK)
        return st;
    n = sample_chain_take(s, &candidates, 1, 2.0 * s->params.mirostat_tau,
                          INFINITY, &sum);
    for (size_t i = 0; i < n; i++)
        s->candidates[i].p = (float)(s->weights[i] / sum);
    *out = s->candidates;
    *n_out = n;
    return GG_OK;
}

/* The candidate in whose share of the line from 0 to the sum of all weights
 * the point lies. */
static size_t
pick(const struct gg_sampler *s, size_t n, double point)
{
    double sum = 0;
    size_t i = 0;

    for (; i + 1 < n; i++) {
        sum += s->weights[i];
        if (sum > point)
            break;
    }
    return i;
}

/* Towards the surprise that is wanted. */
static void
learn(const struct gg_sampler_params *p, struct gg_history *h, double logprob)
{
    h->mu -= p->mirostat_eta * (-logprob / log(2) - p->mirostat_tau);
}

enum gg_status
gg_sampler_next(struct gg_sampler *s, struct gg_history *history,
                const int32_t *ids, const float *logits, size_t n,
                uint64_t sequence, uint64_t position, struct gg_draw *out,
                struct gg_error *err)
{
    const struct gg_sampler_params *p = s ? &s->params : NULL;
    double u[2], whole;
    struct sample_candidates candidates;
    enum gg_status st;
    size_t i;

    if (!s || (!logits && n) || !out)
        return error_null(err);
    if (!history && gg_sampler_remembers(s))
        return error_set(err, GG_ERR_ARG,
                         "the sampler needs a history of the sequence");
    if (p->grammar && history->at.grammar != p->grammar)
        return error_set(err, GG_ERR_ARG,
                         "the history is that of another grammar");
    st = prepare_logits(s, history, ids, logits, n, &candidates, err);
    if (st != GG_OK)
        return st;
    sample_random_pair(p->seed, sequence, position, u);
    n = sample_chain_take(s, &candidates, u[1], history ? history->mu : 0, u[0],
                          &whole);
    i = pick(s, n, u[0] * whole);
    out->id = s->candidates[i].id;
    out->logprob = log(s->weights[i] / whole);
    if (sample_chain_has_mirostat(p))
        learn(p, history, out->logprob);
    if (!p->grammar || history->waits)
        return GG_OK;
    return sample_grammar_advance(&history->at, out->id, err);
}

enum gg_status
gg_sampler_draw(struct gg_sampler *sampler, const int32_t *ids,
                const float *logits, size_t n, uint64_t sequence,
                uint64_t position, int32_t *id, struct gg_error *err)
{
    struct gg_draw drawn;
    enum gg_status st;

    if (!id)
        return error_null(err);
    st = gg_sampler_next(sampler, NULL, ids, logits, n, sequence, position,
                         &drawn, err);
    if (st == GG_OK)
        *id = drawn.id;
    return st;
}

double
gg_log_sum_exp(const float *logits, size_t n)
{
    float highest = -INFINITY;

    if (!logits)
        return (double)highest;
    for (size_t i = 0; i < n; i++)
        highest = logits[i] > highest ? logits[i] : highest;
    if (!(highest > -INFINITY && highest < INFINITY))
        return (double)highest;
    return select_log_sum(logits, n, highest);
}
