/* sampler.c - logits to the next token id: edits, the chain, a draw */
#include <config.h>

#include "sample/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "sample/params.h"
#include "sample/random.h"

static int
by_value(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return x < y ? -1 : x > y;
}

/* The caller's arrays are copied: the copies are the sampler's. */
static enum gg_status
copy_arrays(struct gg_sampler *s, struct gg_error *err)
{
    struct gg_sampler_params *p = &s->params;
    size_t n = p->n_dry_breakers;

    if (p->n_bias) {
        s->bias = mem_dup(p->bias, p->n_bias * sizeof(*p->bias));
        if (!s->bias)
            return error_nomem(err);
        p->bias = s->bias;
    }
    if (n) {
        s->breakers = mem_dup(p->dry_breakers, n * sizeof(*p->dry_breakers));
        if (!s->breakers)
            return error_nomem(err);
        qsort(s->breakers, n, sizeof(*s->breakers), by_value);
        p->dry_breakers = s->breakers;
    }
    p->stages = NULL;
    p->values = NULL;
    return GG_OK;
}

static enum gg_status
make_chain(struct gg_sampler *s, struct gg_error *err)
{
    enum gg_status st = sample_params_numbers(&s->params, &s->numbers, err);

    if (st == GG_OK)
        st = sample_params_check(&s->params, err);
    if (st == GG_OK)
        st = sample_order_make(&s->order, s->params.stages, &s->numbers, err);
    return st == GG_OK ? copy_arrays(s, err) : st;
}

enum gg_status
gg_sampler_new(const struct gg_sampler_params *params, struct gg_sampler **out,
               struct gg_error *err)
{
    struct gg_sampler *s;
    enum gg_status st;

    if (!out)
        return error_null(err);
    s = mem_zalloc(sizeof(*s));
    if (!s)
        return error_nomem(err);
    if (params)
        s->params = *params;
    st = make_chain(s, err);
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

bool
gg_sampler_remembers(const struct gg_sampler *sampler)
{
    return sampler && (sampler->order.remembers || sampler->params.grammar);
}

size_t
gg_sampler_enough(const struct gg_sampler *sampler)
{
    if (!sampler || sampler->params.n_bias || sampler->params.grammar)
        return 0;
    return sample_order_enough(&sampler->order);
}

/* ---- states of stages ---- */

void
sample_sampler_begin(const struct gg_sampler *s, struct gg_history *h)
{
    for (size_t i = 0; sample_stages[i].name; i++)
        if (sample_stages[i].begin)
            sample_stages[i].begin(h, s->numbers.v[i]);
    for (size_t i = 0; i < s->order.n; i++)
        if (s->order.on[i].stage->begin)
            s->order.on[i].stage->begin(h, s->order.on[i].v);
}

static void
learn(const struct sample_draw *d, size_t drawn)
{
    const struct sample_order *o = &d->s->order;

    for (size_t i = 0; i < o->n; i++)
        if (o->on[i].stage->learn)
            o->on[i].stage->learn(d->h, o->on[i].v, d, drawn);
}

/* ---- the draw ---- */

enum gg_status
gg_sampler_candidates(struct gg_sampler *s, const int32_t *ids,
                      const float *logits, size_t n,
                      const struct gg_candidate **out, size_t *n_out,
                      struct gg_error *err)
{
    struct gg_history none = { 0 };
    struct sample_draw d = { .s = s,
                             .h = &none,
                             .chance = 1,
                             .share = INFINITY,
                             .ids = ids,
                             .logits = logits,
                             .n = n };
    enum gg_status st;

    if (!s || (!logits && n) || !out || !n_out)
        return error_null(err);
    sample_sampler_begin(s, &none);
    st = sample_chain_run(&d, err);
    if (st != GG_OK)
        return st;
    for (size_t i = 0; i < d.left; i++)
        s->candidates[i].p = (float)(s->weights[i] / d.whole);
    *out = s->candidates;
    *n_out = d.left;
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

enum gg_status
gg_sampler_next(struct gg_sampler *s, struct gg_history *history,
                const int32_t *ids, const float *logits, size_t n,
                uint64_t sequence, uint64_t position, struct gg_draw *out,
                struct gg_error *err)
{
    const struct gg_sampler_params *p = s ? &s->params : NULL;
    struct sample_draw d = {
        .s = s, .h = history, .ids = ids, .logits = logits, .n = n
    };
    double u[2];
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
    sample_random_pair(p->seed, sequence, position, u);
    d.share = u[0];
    d.chance = u[1];
    st = sample_chain_run(&d, err);
    if (st != GG_OK)
        return st;
    i = pick(s, d.left, u[0] * d.whole);
    out->id = s->candidates[i].id;
    out->logprob = log(s->weights[i] / d.whole);
    if (s->order.remembers)
        learn(&d, i);
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
