/* eval.c - what sequences lack is evaluated together */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/text.h"

/* ---- queries ------------------------------------------------------------- */

static bool
wants_anything(const struct gg_query *w)
{
    return w->rows.logits || w->rows.best || w->scores.logprobs ||
           w->embed.values;
}

size_t
engine_first_scored(const struct gg_query *w)
{
    return w->scores.first ? w->scores.first : 1;
}

/* How many of its ids need not be evaluated for what is wanted. */
static size_t
most_held(const struct gg_query *w)
{
    const struct gg_sequence *q = w->sequence;

    if (q->engine->score || !wants_anything(w))
        return q->n_ids;
    if (w->embed.values)
        return 0;
    if (w->scores.logprobs)
        return engine_first_scored(w) - 1;
    return q->n_ids - (w->rows.n_last ? w->rows.n_last : 1);
}

enum gg_status
engine_check_query(struct gg_engine *e, const struct gg_query *w,
                   struct gg_error *err)
{
    struct gg_sequence *q = w->sequence;

    if (!q)
        return error_null(err);
    if (q->engine != e || q->call == e->call)
        return error_set(err, GG_ERR_ARG,
                         "a sequence is named twice, or another engine's");
    q->call = e->call;
    if (q->n_ids == 0)
        return error_set(err, GG_ERR_ARG, "a sequence without ids");
    if (w->rows.n_last > q->n_ids ||
        (w->scores.logprobs && w->scores.first > q->n_ids))
        return error_set(err, GG_ERR_ARG, "a sequence has no %zu ids",
                         w->rows.n_last > q->n_ids ? w->rows.n_last
                                                   : w->scores.first);
    return ERROR_RESERVED(w, err);
}

static void
add_wanted(const struct gg_query *w, struct gg_chunk *c)
{
    c->rows = w->rows;
    c->embed = w->embed;
    c->scores = w->scores;
    if (w->scores.logprobs)
        c->scores.first = engine_first_scored(w) - w->sequence->n_held;
}

/* Slots for all; and what is to be evaluated there. */
static enum gg_status
assign_slots(const struct gg_query *queries, size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n; i++) {
        struct gg_sequence *q = queries[i].sequence;
        size_t most = most_held(&queries[i]);

        q->pinned = q->slot >= 0;
        q->limit = q->given > most ? q->given : most;
    }
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        struct gg_sequence *q = queries[i].sequence;

        if (q->slot >= 0)
            engine_sequence_release(q, q->limit);
        if (q->n_held == 0)
            st = engine_place(q, err);
        else
            engine_make_room(q, q->slot, -1, 0);
        q->pinned = true;
    }
    return st;
}

static size_t
make_chunks(struct gg_engine *e, const struct gg_query *queries, size_t n)
{
    size_t n_chunks = 0;

    for (size_t i = 0; i < n; i++) {
        struct gg_chunk *c = &e->chunks[n_chunks];
        struct gg_sequence *q = queries[i].sequence;
        size_t goal = engine_goal(q);

        q->goes_on = goal < q->n_ids;
        if (!engine_missing(q, goal, c))
            continue;
        c->goes_on = q->goes_on;
        if (e->bound.pieces)
            engine_want_piece(&queries[i], c);
        else if (!e->score && !c->goes_on)
            add_wanted(&queries[i], c);
        n_chunks++;
    }
    return n_chunks;
}

/* The slots hold what the session says. */
static void
update_held(const struct gg_query *queries, size_t n, enum gg_status st)
{
    for (size_t i = 0; i < n; i++) {
        struct gg_sequence *q = queries[i].sequence;

        q->pinned = false;
        if (st == GG_OK)
            engine_has(q, engine_goal(q));
        else if (q->slot >= 0)
            q->n_held = (size_t)gg_session_length(q->engine->session, q->slot);
    }
}

enum gg_status
engine_round(struct gg_engine *e, const struct gg_query *queries, size_t n,
             uint64_t *ticket, struct gg_error *err)
{
    enum gg_status st = assign_slots(queries, n, err);

    if (st == GG_OK)
        st = engine_run(e, e->chunks, make_chunks(e, queries, n), ticket, err);
    update_held(queries, n, st);
    return st;
}

enum gg_status
engine_start(struct gg_engine *e, const struct gg_query *queries, size_t n,
             uint64_t *ticket, struct gg_error *err)
{
    size_t at_once = (size_t)e->n_slots;
    enum gg_status st = GG_OK;

    e->call++;
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = engine_check_query(e, &queries[i], err);
    for (size_t i = 0; i < n && st == GG_OK; i += at_once)
        st = engine_round(e, queries + i, n - i < at_once ? n - i : at_once,
                          ticket, err);
    return st;
}

enum gg_status
gg_engine_eval(struct gg_engine *engine, const struct gg_query *queries,
               size_t n, struct gg_error *err)
{
    if (!engine || (!queries && n))
        return error_null(err);
    return engine_start(engine, queries, n, NULL, err);
}
