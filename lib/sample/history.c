/* history.c - what drawing remembers of a sequence */
#include <config.h>

#include "sample/history.h"

#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "sample/sampler.h"

/* The stages that are on look at no more ids of the past. */
static size_t
most_ids(const struct sample_order *o)
{
    size_t most = 0;

    for (size_t i = 0; i < o->n; i++)
        for (size_t k = 0; k < SAMPLE_NUMBERS; k++)
            if (o->on[i].stage->numbers[k].past &&
                sample_history_reach((int32_t)o->on[i].v[k]) > most)
                most = sample_history_reach((int32_t)o->on[i].v[k]);
    return most;
}

enum gg_status
gg_history_new(const struct gg_sampler *sampler, struct gg_history **out,
               struct gg_error *err)
{
    struct gg_history *h;

    if (!sampler || !out)
        return error_null(err);
    h = mem_zalloc(sizeof(*h));
    if (!h)
        return error_nomem(err);
    h->most = most_ids(&sampler->order);
    sample_sampler_begin(sampler, h);
    if (sampler->params.grammar)
        sample_grammar_begin(&h->at, sampler->params.grammar);
    *out = h;
    return GG_OK;
}

void
gg_history_free(struct gg_history *history)
{
    if (!history)
        return;
    sample_history_clear(history);
    mem_free(history);
}

void
sample_history_clear(struct gg_history *h)
{
    sample_grammar_leave(&h->at);
    mem_free(h->ids);
    *h = (struct gg_history){ 0 };
}

bool
sample_history_copy(struct gg_history *to, const struct gg_history *from)
{
    if (!mem_grow(&to->ids, &to->cap, from->n, sizeof(*to->ids)))
        return false;
    if (from->n)
        memcpy(to->ids, from->ids, from->n * sizeof(*to->ids));
    to->n = from->n;
    to->most = from->most;
    to->mu = from->mu;
    to->is_mean = from->is_mean;
    to->waits = from->waits;
    if (to->at.grammar != from->at.grammar)
        sample_grammar_leave(&to->at);
    if (from->at.grammar && !to->at.grammar)
        sample_grammar_begin(&to->at, from->at.grammar);
    to->at.state = from->at.state;
    return true;
}

void
gg_history_restart(struct gg_history *history)
{
    if (history)
        history->waits = false;
    if (history && history->at.grammar)
        sample_grammar_begin(&history->at, history->at.grammar);
}

bool
gg_history_is_complete(const struct gg_history *history)
{
    return history &&
           (!history->at.grammar ||
            (!history->waits && sample_grammar_may_end(&history->at)));
}

double
gg_history_mirostat(const struct gg_history *history)
{
    return history ? history->mu : 0;
}

void
gg_history_set_mirostat(struct gg_history *history, double value)
{
    if (history && (!history->is_mean || (value >= 0 && value <= 1)))
        history->mu = value;
}

/* Twice as many as are looked at have room, so that few moves are made. */
enum gg_status
gg_history_add(struct gg_history *h, const int32_t *ids, size_t n,
               struct gg_error *err)
{
    size_t kept;

    if (!h || (!ids && n))
        return error_null(err);
    kept = h->n;
    if (n > h->most) {
        ids += n - h->most;
        n = h->most;
    }
    if (n == 0)
        return GG_OK;
    if (kept > h->most - n && kept + n > h->most / 2 * 3 + 16) {
        kept = h->most - n;
        memmove(h->ids, h->ids + h->n - kept, kept * sizeof(*ids));
        h->n = kept;
    }
    if (!mem_grow(&h->ids, &h->cap, h->n + n, sizeof(*h->ids)))
        return error_nomem(err);
    memcpy(h->ids + h->n, ids, n * sizeof(*ids));
    h->n += n;
    return GG_OK;
}

void
sample_history_wait(struct gg_history *h, bool waits)
{
    h->waits = waits;
}
