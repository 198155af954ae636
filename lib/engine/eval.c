/* eval.c - what sequences lack is evaluated together */
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/text.h"

/* ---- birth and death ----------------------------------------------------- */

static bool
fill_in(struct gg_engine *e)
{
    size_t n = (size_t)e->n_slots;

    e->slots = mem_array(n, sizeof(*e->slots));
    e->chunks = mem_array(n, sizeof(*e->chunks));
    return e->slots && e->chunks;
}

enum gg_status
engine_new(const struct gg_vocab *vocab, struct gg_session *session,
           const struct gg_engine_params *params, struct gg_engine **out,
           struct gg_error *err)
{
    struct gg_engine *e = mem_zalloc(sizeof(*e));

    if (!e)
        return error_nomem(err);
    e->vocab = vocab;
    e->session = session;
    e->can = session_can(session);
    e->shift = params->shift;
    e->score = params->score;
    e->n_ctx = (size_t)gg_session_n_ctx(session);
    e->n_vocab = (size_t)session_n_vocab(session);
    e->n_adapters = session_n_adapters(session);
    e->n_slots = gg_session_n_slots(session);
    if (!fill_in(e)) {
        gg_engine_free(e);
        return error_nomem(err);
    }
    *out = e;
    return GG_OK;
}

void
gg_engine_free(struct gg_engine *engine)
{
    if (!engine)
        return;
    for (int32_t i = 0; engine->slots && i < engine->n_slots; i++) {
        mem_free(engine->slots[i].ids);
        mem_free(engine->slots[i].logprobs);
        mem_free(engine->slots[i].scales);
    }
    mem_free(engine->slots);
    mem_free(engine->chunks);
    engine_draft_free(engine->draft);
    mem_free(engine);
}

struct gg_engine_stats
gg_engine_stats(const struct gg_engine *engine)
{
    return engine ? engine->stats : (struct gg_engine_stats){ 0 };
}

/* ---- chunks -------------------------------------------------------------- */

/* How many of its first n ids are evaluated: of an engine that scores not the
 * last, nor a block of rows that it is in. */
static size_t
evaluated(const struct gg_sequence *q, size_t n)
{
    if (!q->engine->score || n == 0)
        return n;
    return session_edge(q->engine->session, q->ids, n - 1);
}

bool
engine_missing(const struct gg_sequence *q, size_t n, struct gg_chunk *out)
{
    bool score = q->engine->score;
    size_t to = evaluated(q, n), known;

    if (to <= q->n_held)
        return false;
    *out = (struct gg_chunk){ .slot = q->slot,
                              .ids = q->ids + q->n_held,
                              .n = to - q->n_held,
                              .scales = q->scales };
    if (!score || q->n_known >= n)
        return true;
    known = q->n_known > q->n_held + 1 ? q->n_known : q->n_held + 1;
    if (known > to)
        return true;
    out->scores.first = known - q->n_held;
    out->scores.logprobs = q->logprobs + known;
    if (!engine_is_row(q->engine, q->ids[to]))
        out->scores.next = q->ids + to;
    return true;
}

void
engine_has(struct gg_sequence *q, size_t n)
{
    q->n_held = evaluated(q, n);
    if (!q->engine->score || q->n_known >= n)
        return;
    for (size_t i = q->n_held; i < n; i++) /* rows, which are given */
        if (engine_is_row(q->engine, q->ids[i]))
            q->logprobs[i] = 0;
    q->n_known = n;
}

/* With a ticket, results may come later. */
static enum gg_status
eval_chunks(struct gg_engine *e, const struct gg_chunk *chunks, size_t n,
            uint64_t *ticket, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (n == 0)
        return GG_OK;
    st = ticket ? session_start(e->session, chunks, n, ticket, err)
                : gg_session_eval(e->session, chunks, n, err);
    for (size_t i = 0; i < n && st == GG_OK; i++)
        e->stats.n_evaluated += chunks[i].n;
    e->stats.n_runs += st == GG_OK;
    return st;
}

enum gg_status
engine_run(struct gg_engine *e, const struct gg_chunk *chunks, size_t n,
           struct gg_error *err)
{
    return eval_chunks(e, chunks, n, NULL, err);
}

/* ---- queries ------------------------------------------------------------- */

static bool
wants_anything(const struct gg_query *w)
{
    return w->rows.logits || w->rows.best || w->scores.logprobs ||
           w->embed.values;
}

/* The first id that has a score. */
static size_t
first_scored(const struct gg_query *w)
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
        return first_scored(w) - 1;
    return q->n_ids - (w->rows.n_last ? w->rows.n_last : 1);
}

static enum gg_status
check_query(struct gg_engine *e, const struct gg_query *w, struct gg_error *err)
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
        c->scores.first = first_scored(w) - w->sequence->n_held;
}

/* Slots for all; and what is to be evaluated there. */
static enum gg_status
assign_slots(const struct gg_query *queries, size_t n, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n; i++) {
        queries[i].sequence->pinned = queries[i].sequence->slot >= 0;
        queries[i].sequence->limit = most_held(&queries[i]);
    }
    for (size_t i = 0; i < n && st == GG_OK; i++) {
        struct gg_sequence *q = queries[i].sequence;

        if (q->slot >= 0)
            engine_sequence_release(q, q->limit);
        if (q->n_held == 0)
            st = engine_place(q, err);
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

        if (!engine_missing(queries[i].sequence, queries[i].sequence->n_ids, c))
            continue;
        if (!e->score)
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
            engine_has(q, q->n_ids);
        else if (q->slot >= 0)
            q->n_held = (size_t)gg_session_length(q->engine->session, q->slot);
    }
}

static enum gg_status
eval_round(struct gg_engine *e, const struct gg_query *queries, size_t n,
           uint64_t *ticket, struct gg_error *err)
{
    enum gg_status st = assign_slots(queries, n, err);

    if (st == GG_OK)
        st = eval_chunks(e, e->chunks, make_chunks(e, queries, n), ticket, err);
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
        st = check_query(e, &queries[i], err);
    for (size_t i = 0; i < n && st == GG_OK; i += at_once)
        st = eval_round(e, queries + i, n - i < at_once ? n - i : at_once,
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
