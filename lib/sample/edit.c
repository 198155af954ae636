/* edit.c - logits changed by place: biases, penalties, DRY, top-n-sigma */
#include <config.h>

#include "sample/edit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "sample/sampler.h"

/* Where the logit of an id is, of those that name their ids. */
struct place {
    int32_t id;
    uint32_t i;
};

/* A penalty above this would only spoil sums; below, an id can still be drawn
 * where all are penalised. */
static const double most_penalty = 1e30;

bool
sample_edit_has_penalties(const double *v)
{
    return v[PENALTY_LAST_N] != 0 &&
           ((v[PENALTY_REPEAT] != 0 && v[PENALTY_REPEAT] != 1) ||
            v[PENALTY_FREQUENCY] != 0 || v[PENALTY_PRESENCE] != 0);
}

bool
sample_edit_raises(const double *v)
{
    return (v[PENALTY_REPEAT] > 0 && v[PENALTY_REPEAT] < 1) ||
           v[PENALTY_FREQUENCY] < 0 || v[PENALTY_PRESENCE] < 0;
}

bool
sample_edit_has_dry(const double *v)
{
    return v[DRY_MULTIPLIER] > 0 && v[DRY_LAST_N] != 0;
}

static int
by_id(const void *a, const void *b)
{
    /* An id comes first in a struct place, too. */
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return x < y ? -1 : x > y;
}

/* ---- open and closed ---- */

static enum gg_status
sort_places(struct sample_draw *d, struct gg_error *err)
{
    struct place *places = mem_array(d->n, sizeof(*places));

    if (!places)
        return error_nomem(err);
    for (size_t i = 0; i < d->n; i++)
        places[i] = (struct place){ d->ids[i], (uint32_t)i };
    qsort(places, d->n, sizeof(*places), by_id);
    d->places = places;
    return GG_OK;
}

enum gg_status
sample_edit_open(struct sample_draw *d, struct gg_error *err)
{
    struct gg_sampler *s = d->s;

    if (d->edited)
        return GG_OK;
    if (!mem_grow(&s->logits, &s->logits_cap, d->n, sizeof(*s->logits)))
        return error_nomem(err);
    if (d->logits != s->logits)
        memcpy(s->logits, d->logits, d->n * sizeof(*s->logits));
    d->logits = s->logits;
    d->edited = true;
    return d->ids ? sort_places(d, err) : GG_OK;
}

enum gg_status
sample_edit_close(struct sample_draw *d, struct gg_error *err)
{
    if (!d->edited)
        return GG_OK;
    sample_edit_drop(d);
    return sample_edit_check(d->logits, d->n, err);
}

void
sample_edit_drop(struct sample_draw *d)
{
    mem_free(d->places);
    d->places = NULL;
    d->edited = false;
}

enum gg_status
sample_edit_check(const float *logits, size_t n, struct gg_error *err)
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

/* NULL: it has none. */
static float *
logit_of(const struct sample_draw *d, int32_t id)
{
    const struct place *p;

    if (!d->ids)
        return (size_t)id < d->n ? &d->s->logits[id] : NULL;
    p = bsearch(&id, d->places, d->n, sizeof(*p), by_id);
    return p ? &d->s->logits[p->i] : NULL;
}

/* ---- biases ---- */

enum gg_status
sample_edit_biases(struct sample_draw *d, struct gg_error *err)
{
    enum gg_status st = sample_edit_open(d, err);

    for (size_t i = 0; st == GG_OK && i < d->s->params.n_bias; i++) {
        const struct gg_bias *b = &d->s->bias[i];
        float *logit = logit_of(d, b->id);

        if (logit)
            *logit = (float)((double)*logit + b->add);
        else if (!d->ids)
            st = error_set(err, GG_ERR_ARG, "id %ld of a bias is not in 0..%zu",
                           (long)b->id, d->n - 1);
        else if (b->add > 0)
            st = error_set(err, GG_ERR_UNSUPPORTED,
                           "the logit of id %ld, which a bias raises, is not "
                           "among those that are there",
                           (long)b->id);
    }
    return st;
}

/* ---- penalties ---- */

static void *
scratch(struct gg_sampler *s, size_t n, size_t size)
{
    size_t cap = s->scratch_cap / size;

    if (n > cap) {
        if (!mem_grow(&s->scratch, &cap, n, size))
            return NULL;
        s->scratch_cap = cap * size;
    }
    return s->scratch;
}

static float
penalise(const double *v, float logit, size_t count)
{
    double x = logit, repeat = v[PENALTY_REPEAT];

    if (repeat != 0)
        x = x > 0 ? x / repeat : x * repeat;
    x -= (double)count * v[PENALTY_FREQUENCY] + v[PENALTY_PRESENCE];
    return (float)x;
}

/* `ids` is in ascending order. */
static void
add_penalties(struct sample_draw *d, const double *v, const int32_t *ids,
              size_t n)
{
    for (size_t i = 0, next; i < n; i = next) {
        float *logit = logit_of(d, ids[i]);

        for (next = i + 1; next < n && ids[next] == ids[i];)
            next++;
        if (logit)
            *logit = penalise(v, *logit, next - i);
    }
}

enum gg_status
sample_edit_penalties(struct sample_draw *d, const double *v,
                      struct gg_error *err)
{
    size_t n;
    const int32_t *ids =
        sample_history_last(d->h, (int32_t)v[PENALTY_LAST_N], &n);
    enum gg_status st = sample_edit_open(d, err);
    int32_t *sorted;

    if (st != GG_OK || n == 0)
        return st;
    sorted = scratch(d->s, n, sizeof(*sorted));
    if (!sorted)
        return error_nomem(err);
    memcpy(sorted, ids, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), by_id);
    add_penalties(d, v, sorted, n);
    return GG_OK;
}

/* ---- DRY ---- */

static void
add_repeats(struct sample_draw *d, const double *v,
            const struct repeat *repeats, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float *logit = logit_of(d, repeats[i].id);
        double more = (double)repeats[i].length - v[DRY_LENGTH];
        double penalty = v[DRY_MULTIPLIER] * pow(v[DRY_BASE], more);

        if (logit)
            *logit -= (float)fmin(penalty, most_penalty);
    }
}

enum gg_status
sample_edit_dry(struct sample_draw *d, const double *v, struct gg_error *err)
{
    size_t n;
    const int32_t *ids = sample_history_last(d->h, (int32_t)v[DRY_LAST_N], &n);
    enum gg_status st = sample_edit_open(d, err);
    struct repeat *list;

    if (st != GG_OK || n == 0)
        return st;
    list = scratch(d->s, n, sizeof(*list) + sizeof(uint32_t));
    if (!list)
        return error_nomem(err);
    n = sample_dry_repeats(d->s, (uint32_t)v[DRY_LENGTH], ids, n,
                           (uint32_t *)(list + n), list);
    add_repeats(d, v, list, n);
    return GG_OK;
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
enum gg_status
sample_edit_sigma(struct sample_draw *d, const double *v, struct gg_error *err)
{
    struct gg_sampler *s = d->s;
    const float *from = d->logits;
    double bar = -INFINITY;

    if (!mem_grow(&s->logits, &s->logits_cap, d->n, sizeof(*s->logits)))
        return error_nomem(err);
    for (size_t i = 0; i < d->n; i++)
        bar = from[i] > bar ? from[i] : bar;
    bar -= v[0] * deviation(from, d->n);
    for (size_t i = 0; i < d->n; i++)
        s->logits[i] = from[i] >= bar ? from[i] : -INFINITY;
    d->logits = s->logits;
    return GG_OK;
}
