/* edit.c - logits changed before anything is drawn: biases, penalties, DRY */
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

struct edit {
    const struct gg_sampler_params *params;
    float *logits;
    size_t n;
    const struct place *places; /* by id; NULL: logits[id] */
};

/* A penalty above this would only spoil sums; below, an id can still be drawn
 * where all are penalised. */
static const double most_penalty = 1e30;

bool
sample_edit_has_penalties(const struct gg_sampler_params *p)
{
    return p->penalty_last_n != 0 &&
           ((p->repeat_penalty != 0 && p->repeat_penalty != 1) ||
            p->frequency_penalty != 0 || p->presence_penalty != 0);
}

bool
sample_edit_has_dry(const struct gg_sampler_params *p)
{
    return p->dry_multiplier > 0 && p->dry_last_n != 0;
}

static int
by_id(const void *a, const void *b)
{
    /* An id comes first in a struct place, too. */
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    return x < y ? -1 : x > y;
}

/* NULL: it has none. */
static float *
logit_of(const struct edit *e, int32_t id)
{
    const struct place *p;

    if (!e->places)
        return (size_t)id < e->n ? &e->logits[id] : NULL;
    p = bsearch(&id, e->places, e->n, sizeof(*p), by_id);
    return p ? &e->logits[p->i] : NULL;
}

static enum gg_status
add_biases(const struct edit *e, struct gg_error *err)
{
    for (size_t i = 0; i < e->params->n_bias; i++) {
        const struct gg_bias *b = &e->params->bias[i];
        float *logit = logit_of(e, b->id);

        if (logit)
            *logit = (float)((double)*logit + b->add);
        else if (!e->places)
            return error_set(err, GG_ERR_ARG,
                             "id %ld of a bias is not in 0..%zu", (long)b->id,
                             e->n - 1);
        else if (b->add > 0)
            return error_set(err, GG_ERR_UNSUPPORTED,
                             "the logit of id %ld, which a bias raises, is not "
                             "among those that are there",
                             (long)b->id);
    }
    return GG_OK;
}

static float
penalise(const struct gg_sampler_params *p, float logit, size_t count)
{
    double x = logit, repeat = p->repeat_penalty;

    if (repeat != 0)
        x = x > 0 ? x / repeat : x * repeat;
    x -= (double)count * p->frequency_penalty + p->presence_penalty;
    return (float)x;
}

/* `ids` is in ascending order. */
static void
add_penalties(const struct edit *e, const int32_t *ids, size_t n)
{
    for (size_t i = 0, next; i < n; i = next) {
        float *logit = logit_of(e, ids[i]);

        for (next = i + 1; next < n && ids[next] == ids[i];)
            next++;
        if (logit)
            *logit = penalise(e->params, *logit, next - i);
    }
}

static void
add_repeats(const struct edit *e, const struct repeat *repeats, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float *logit = logit_of(e, repeats[i].id);
        double more =
            (double)repeats[i].length - (double)e->params->dry_allowed_length;
        double penalty =
            e->params->dry_multiplier * pow(e->params->dry_base, more);

        if (logit)
            *logit -= (float)fmin(penalty, most_penalty);
    }
}

/* ---- with the room that each needs ---- */

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

static enum gg_status
penalties(struct gg_sampler *s, const struct edit *e,
          const struct gg_history *h, struct gg_error *err)
{
    size_t n;
    const int32_t *ids = sample_history_last(h, e->params->penalty_last_n, &n);
    int32_t *sorted;

    if (n == 0)
        return GG_OK;
    sorted = scratch(s, n, sizeof(*sorted));
    if (!sorted)
        return error_nomem(err);
    memcpy(sorted, ids, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), by_id);
    add_penalties(e, sorted, n);
    return GG_OK;
}

static enum gg_status
repeats(struct gg_sampler *s, const struct edit *e, const struct gg_history *h,
        struct gg_error *err)
{
    size_t n;
    const int32_t *ids = sample_history_last(h, e->params->dry_last_n, &n);
    struct repeat *list;

    if (n == 0)
        return GG_OK;
    list = scratch(s, n, sizeof(*list) + sizeof(uint32_t));
    if (!list)
        return error_nomem(err);
    add_repeats(e, list,
                sample_dry_repeats(s, ids, n, (uint32_t *)(list + n), list));
    return GG_OK;
}

static enum gg_status
sort_places(const int32_t *ids, size_t n, struct place **out,
            struct gg_error *err)
{
    struct place *places = mem_array(n, sizeof(*places));

    if (!places)
        return error_nomem(err);
    for (size_t i = 0; i < n; i++)
        places[i] = (struct place){ ids[i], (uint32_t)i };
    qsort(places, n, sizeof(*places), by_id);
    *out = places;
    return GG_OK;
}

static enum gg_status
edit(struct gg_sampler *s, const struct edit *e, const struct gg_history *h,
     struct gg_error *err)
{
    enum gg_status st = add_biases(e, err);

    if (st == GG_OK && sample_edit_has_penalties(e->params))
        st = penalties(s, e, h, err);
    if (st == GG_OK && sample_edit_has_dry(e->params))
        st = repeats(s, e, h, err);
    return st;
}

/* A penalty that is a reward may raise an id that is not there. */
static bool
raises(const struct gg_sampler_params *p)
{
    return sample_edit_has_penalties(p) &&
           ((p->repeat_penalty > 0 && p->repeat_penalty < 1) ||
            p->frequency_penalty < 0 || p->presence_penalty < 0);
}

enum gg_status
sample_edit_logits(struct gg_sampler *s, const struct gg_history *h,
                   const int32_t *ids, const float **logits, size_t n,
                   struct gg_error *err)
{
    const struct gg_sampler_params *p = &s->params;
    struct place *places = NULL;
    struct edit e = { .params = p, .n = n };
    enum gg_status st = GG_OK;

    if (!p->n_bias && !sample_edit_has_penalties(p) && !sample_edit_has_dry(p))
        return GG_OK;
    if (ids && raises(p))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "penalties that raise logits need all of them, and "
                         "these are some");
    if (!mem_grow(&s->logits, &s->logits_cap, n, sizeof(*s->logits)))
        return error_nomem(err);
    memcpy(s->logits, *logits, n * sizeof(*s->logits));
    if (ids)
        st = sort_places(ids, n, &places, err);
    e.logits = s->logits;
    e.places = places;
    if (st == GG_OK)
        st = edit(s, &e, h, err);
    mem_free(places);
    if (st == GG_OK)
        *logits = s->logits;
    return st;
}
