/* asides.c - choices, likelihoods and embeddings, a piece at a time */
#include <config.h>

#include "gg-generate/asides.h"

#include "gg-generate/likely.h"
#include "gg-generate/vectors.h"

#ifdef HAVE_JANSSON

void
asides_close(struct aside *a)
{
    gg_contest_free(a->contest);
    likely_close(a->finding);
    *a = (struct aside){ 0 };
}

/* ---- which --------------------------------------------------------------- */

static bool
is_aside(const struct record *r)
{
    return r->prompt.contest.n || r->vectors || likely_is_wanted(r);
}

/* The first; NULL: there is none. *alone: no text is being made. */
static struct active *
find_first(struct records *w, bool *alone)
{
    struct active *first = NULL;

    *alone = true;
    for (size_t i = 0; i < w->n_active; i++) {
        struct active *a = &w->active[i];

        a->waits = is_aside(a->record);
        *alone = *alone && a->waits;
        first = !first && a->waits ? a : first;
    }
    return first;
}

/* ---- pieces -------------------------------------------------------------- */

static enum gg_status
choose_piece(struct records *w, struct active *a, bool alone, bool *done,
             struct gg_error *err)
{
    struct gg_contest **c = &a->aside.contest;
    struct gg_choices *choices = &a->record->prompt.contest;
    enum gg_status st = GG_OK;

    choices->key = a->record->cache_key;
    if (!*c)
        st = gg_contest_new(w->g->engine.gg, choices, 1, c, err);
    return st == GG_OK ? gg_contest_step(*c, alone, done, err) : st;
}

static enum gg_status
find_piece(struct records *w, struct active *a, bool alone, bool *done,
           struct gg_error *err)
{
    struct finding **f = &a->aside.finding;
    enum gg_status st = GG_OK;

    if (!*f)
        st = likely_open(w->g, a->record, f, err);
    if (st == GG_OK)
        st = gg_engine_eval_some(w->g->engine.gg, likely_query(*f), 1, alone,
                                 done, err);
    return st;
}

static enum gg_status
embed_piece(struct records *w, struct active *a, bool alone, bool *done,
            struct gg_error *err)
{
    size_t n;
    const struct gg_query *queries = vectors_queries(a->record->vectors, &n);

    return gg_engine_eval_some(w->g->engine.gg, queries, n, alone, done, err);
}

static enum gg_status
step(struct records *w, struct active *a, bool alone, bool *done,
     struct gg_error *err)
{
    const struct record *r = a->record;

    if (r->prompt.contest.n)
        return choose_piece(w, a, alone, done, err);
    return r->vectors ? embed_piece(w, a, alone, done, err)
                      : find_piece(w, a, alone, done, err);
}

/* ---- ends ---------------------------------------------------------------- */

static void
end_vectors(struct records *w, struct record *r)
{
    struct gg_error err;
    enum gg_status st =
        vectors_finish(w->g, &r->request, r->vectors, &r->out, &err);

    if (st == GG_OK)
        records_finish(w, r);
    else
        records_fail(w, r, st, err.message);
}

static void
end_finding(struct records *w, struct active *a)
{
    likely_take(a->aside.finding);
    asides_close(&a->aside);
    if (a->record->likely.n_prompt == 0)
        records_fail(w, a->record, GG_ERR_FORMAT, "the logits are not numbers");
}

static void
end_aside(struct records *w, struct active *a)
{
    if (a->record->prompt.contest.n)
        records_decide(w, a->record);
    else if (a->record->vectors)
        end_vectors(w, a->record);
    else
        end_finding(w, a);
}

/* Answers whose prompts have their likelihoods begin, and those that want
 * nothing else end. */
static void
begin_answers(struct records *w)
{
    likely_hand_out(w->active, w->n_active);
    for (size_t i = 0; i < w->n_active; i++) {
        struct active *a = &w->active[i];

        a->waits = a->record && is_aside(a->record);
        if (a->record && !a->waits && a->record->request.sampling.none)
            records_end_answer(w, a);
    }
    records_remove_ended(w);
}

void
asides_step(struct records *w)
{
    struct gg_error err;
    bool alone, done = false;
    struct active *a = find_first(w, &alone);
    enum gg_status st = GG_OK;

    if (a) {
        w->unordered.steps = true;
        st = step(w, a, alone, &done, &err);
        w->unordered.steps = false;
    }
    if (st != GG_OK && st != GG_ERR_ABORTED)
        records_fail(w, a->record, st, err.message);
    else if (done)
        end_aside(w, a);
    records_remove_ended(w);
    begin_answers(w);
}

#else

void
asides_close(struct aside *a)
{
    (void)a;
}

void
asides_step(struct records *w)
{
    (void)w;
}

#endif
