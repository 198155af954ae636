/* chain.c - the steps of a draw: logits to what is left of them */
#include <config.h>

#include <math.h>

#include "core/error.h"
#include "core/mem.h"
#include "sample/edit.h"
#include "sample/fitting.h"
#include "sample/sampler.h"

/* ---- the grammar ---- */

/* Cuts what does not fit, where others than the front look at it first. */
static enum gg_status
cut_unfit(struct sample_draw *d, struct gg_error *err)
{
    if (d->fits)
        return GG_OK;
    d->fits = true;
    return sample_fitting_cut(d->s, &d->h->at, d->ids, &d->logits, d->n, err);
}

static enum gg_status
list_candidates(struct sample_draw *d, const struct sample_front *f,
                struct gg_error *err)
{
    size_t k = f->temperature == 0 ? 1 : f->k;

    if (!d->fits) {
        d->fits = true;
        return sample_fitting_candidates(d->s, &d->h->at, d->ids, d->logits,
                                         d->n, k, f->temperature, &d->list,
                                         err);
    }
    d->list = sample_candidates_of(d->ids, d->logits, d->n, k, f->temperature,
                                   d->s->choices);
    return GG_OK;
}

/* ---- the front ---- */

/* Moves candidates from the list until top-p or min-p stops, or until the sum
 * of their weights exceeds `enough`. */
static void
take_prefix(struct sample_draw *d, const struct sample_front *f, double enough)
{
    struct gg_sampler *s = d->s;
    double sum = 0, stop = INFINITY;
    size_t n = 0;

    if (f->top_p < 1)
        stop = f->top_p * sample_candidates_weight(&d->list);
    sample_candidates_limit(&d->list, f->min_p);
    while ((n == 0 || (sum < stop && sum <= enough)) &&
           sample_chain_next(s, &d->list, n)) {
        if (s->weights[n] < f->min_p)
            break;
        sum += s->weights[n++];
    }
    d->left = n;
    d->whole = sum;
}

static void
take_all(struct sample_draw *d)
{
    size_t n = 0;

    while (sample_chain_next(d->s, &d->list, n))
        n++;
    d->left = n;
    d->whole = NAN;
}

/* Where nothing is cut off, the sum is known before the order is, and tokens
 * beyond the share need not be put in order. */
static void
take_front(struct sample_draw *d, const struct sample_front *f, bool last)
{
    bool all = f->top_p >= 1 && f->min_p == 0;
    double whole;

    if (all && !last) {
        take_all(d);
    } else if (!all || d->list.whole) {
        take_prefix(d, f, INFINITY);
    } else {
        whole = sample_candidates_weight(&d->list);
        take_prefix(d, f, d->share * whole);
        d->whole = whole;
    }
}

/* ---- steps ---- */

static bool
acts(const struct sample_draw *d, const struct sample_active *active)
{
    const struct sample_stage *stage = active->stage;

    return !stage->acts || stage->acts(d, active->v);
}

/* No step after this one acts. */
static bool
is_last(const struct sample_draw *d, const struct sample_step *step)
{
    const struct sample_order *o = &d->s->order;

    for (; ++step < o->steps + o->n_steps;)
        if (step->opens || acts(d, &step->active))
            return false;
    return true;
}

static enum gg_status
open_list(struct sample_draw *d, const struct sample_step *step,
          struct gg_error *err)
{
    const struct sample_stage *stage = step->active.stage;
    enum gg_status st = sample_edit_close(d, err);

    if (st == GG_OK && stage)
        st = cut_unfit(d, err);
    if (st == GG_OK)
        st = list_candidates(d, &step->front, err);
    if (st != GG_OK)
        return st;
    if (stage) {
        d->left = stage->take(d, step->active.v);
        d->whole = sample_stages_sum(d->s, d->left);
    } else {
        take_front(d, &step->front, is_last(d, step));
    }
    return GG_OK;
}

/* The rest of the list becomes logits by place again. */
static enum gg_status
close_list(struct sample_draw *d, struct gg_error *err)
{
    struct gg_sampler *s = d->s;
    size_t a = s->fit_cap, b = s->fit_cap;

    if (!mem_grow(&s->fit, &a, d->left, sizeof(*s->fit)) ||
        !mem_grow(&s->fit_ids, &b, d->left, sizeof(*s->fit_ids)))
        return error_nomem(err);
    s->fit_cap = a;
    for (size_t i = 0; i < d->left; i++) {
        s->fit_ids[i] = s->candidates[i].id;
        s->fit[i] = (float)(s->candidates[i].logit / d->list.temperature);
    }
    d->ids = s->fit_ids;
    d->logits = s->fit;
    d->n = d->left;
    d->left = 0;
    return GG_OK;
}

static enum gg_status
edit(struct sample_draw *d, const struct sample_active *active,
     struct gg_error *err)
{
    enum gg_status st = d->left ? close_list(d, err) : GG_OK;

    if (st == GG_OK && active->stage->looks_around) {
        st = sample_edit_close(d, err);
        if (st == GG_OK)
            st = cut_unfit(d, err);
    }
    return st == GG_OK ? active->stage->edit(d, active->v, err) : st;
}

static void
cut(struct sample_draw *d, const struct sample_active *active)
{
    if (!acts(d, active))
        return;
    d->left = active->stage->cut(d, active->v);
    d->whole = NAN;
}

static enum gg_status
run_steps(struct sample_draw *d, struct gg_error *err)
{
    const struct sample_order *o = &d->s->order;
    enum gg_status st = GG_OK;

    for (size_t i = 0; st == GG_OK && i < o->n_steps; i++) {
        const struct sample_step *step = &o->steps[i];

        if (step->opens)
            st = open_list(d, step, err);
        else if (step->active.stage->edit)
            st = edit(d, &step->active, err);
        else
            cut(d, &step->active);
    }
    if (isnan(d->whole))
        d->whole = sample_stages_sum(d->s, d->left);
    return st;
}

/* ---- all ---- */

static enum gg_status
check_ids(const int32_t *ids, size_t n, struct gg_error *err)
{
    for (size_t i = 0; ids && i < n; i++)
        if (ids[i] < 0)
            return error_set(err, GG_ERR_ARG, "a token id is negative");
    return GG_OK;
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

enum gg_status
sample_chain_run(struct sample_draw *d, struct gg_error *err)
{
    enum gg_status st = check_ids(d->ids, d->n, err);

    if (st == GG_OK)
        st = sample_edit_check(d->logits, d->n, err);
    if (st == GG_OK && d->ids)
        st = sample_order_check_some(&d->s->order, d->n, err);
    if (st == GG_OK)
        st = reserve_choices(d->s, d->n, err);
    d->fits = !d->h || !d->h->at.grammar || d->h->waits;
    if (st == GG_OK && d->s->params.n_bias)
        st = sample_edit_biases(d, err);
    if (st == GG_OK)
        st = run_steps(d, err);
    if (st != GG_OK)
        sample_edit_drop(d);
    return st;
}
