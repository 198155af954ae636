/* run.c - chunks of sequences, evaluated; what of them the session has not */
#include "core/error.h"
#include "engine/prefix.h"
#include "engine/text.h"

/* How many of its first n ids are evaluated: of an engine that scores not the
 * last, nor a block of rows that it is in. */
static size_t
evaluated(const struct gg_sequence *q, size_t n)
{
    if (!q->engine->score || n == 0)
        return n;
    return session_edge(q->engine->session, q->ids, n - 1);
}

size_t
engine_goal(const struct gg_sequence *q)
{
    const struct gg_session *s = q->engine->session;
    size_t to;

    if (!q->engine->bound.applies || q->most >= q->n_ids - q->n_held)
        return q->n_ids;
    to = session_edge(s, q->ids, q->n_held + q->most);
    return to > q->n_held
               ? to
               : session_medium_end(s, q->ids, q->n_ids, q->n_held + 1);
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
    for (size_t i = q->n_held; i < n; i++)
        if (engine_is_row(q->engine, q->ids[i]) ||
            session_is_asked(q->engine->session, q->ids, n, i))
            q->logprobs[i] = 0; /* it is given */
    q->n_known = n;
}

/* With a ticket, results may come later. */
enum gg_status
engine_run_chunks(struct gg_engine *e, const struct gg_chunk *chunks, size_t n,
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
           uint64_t *ticket, struct gg_error *err)
{
    return e->prefixes && !ticket
               ? engine_prefix_run(e, chunks, n, err)
               : engine_run_chunks(e, chunks, n, ticket, err);
}
