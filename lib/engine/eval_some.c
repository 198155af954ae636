/* eval_some.c - what sequences lack is evaluated a piece at a time
 *
 * Each piece gives what is wanted of its ids. Scores of an id come from the one
 * before it: a piece has that of the id after its last one, too. Embeddings
 * that are means are summed up here, in the order of the ids. */
#include <ggml.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/text.h"

/* ---- what is wanted of a piece ------------------------------------------- */

/* The first of the ids whose logits are wanted. */
static size_t
first_row(const struct gg_query *w)
{
    return w->sequence->n_ids - (w->rows.n_last ? w->rows.n_last : 1);
}

static void
want_rows(const struct gg_query *w, size_t from, size_t to, struct gg_chunk *c)
{
    size_t first = first_row(w), begin = from > first ? from : first;

    if ((!w->rows.logits && !w->rows.best) || begin >= to)
        return;
    c->rows = w->rows;
    c->rows.n_last = to - begin;
    if (w->rows.logits)
        c->rows.logits += (begin - first) * w->sequence->engine->n_vocab;
    if (w->rows.best)
        c->rows.best += begin - first;
}

static void
want_scores(const struct gg_query *w, size_t from, size_t to,
            struct gg_chunk *c)
{
    const struct gg_sequence *q = w->sequence;
    size_t first = engine_first_scored(w);
    size_t begin = from + 1 > first ? from + 1 : first;

    if (!w->scores.logprobs || begin > to)
        return;
    c->scores = w->scores;
    c->scores.first = begin - from;
    c->scores.logprobs += begin - first;
    if (to == q->n_ids)
        return;
    c->scores.n_next = 1;
    c->scores.next = engine_is_row(q->engine, q->ids[to]) ? NULL : q->ids + to;
    if (!c->scores.next)
        w->scores.logprobs[to - first] = 0;
}

/* A mean needs the vectors of all ids, one after the other. */
static void
want_embedding(const struct gg_query *w, size_t to, struct gg_chunk *c)
{
    if (w->sequence->sum)
        c->embed = (struct gg_embedding){
            (float *)(w->sequence->sum +
                      session_width(w->sequence->engine->session)),
            GG_POOL_NONE
        };
    else if (to == w->sequence->n_ids)
        c->embed = w->embed;
}

void
engine_want_piece(const struct gg_query *w, struct gg_chunk *c)
{
    size_t from = w->sequence->n_held, to = from + c->n;

    want_rows(w, from, to, c);
    want_scores(w, from, to, c);
    want_embedding(w, to, c);
}

/* ---- means --------------------------------------------------------------- */

/* Room for the sum, and the vectors of a piece after it. */
static enum gg_status
start_sum(const struct gg_query *w, struct gg_error *err)
{
    struct gg_sequence *q = w->sequence;
    size_t width = session_width(q->engine->session);
    size_t n = engine_goal(q) - q->given;
    double *sum;

    if (!w->embed.values || w->embed.pooling != GG_POOL_MEAN)
        return GG_OK;
    sum = mem_array(width * (1 + n / 2 + 1), sizeof(*sum));
    if (!sum)
        return error_nomem(err);
    memset(sum, 0, width * sizeof(*sum));
    if (q->sum && q->given)
        memcpy(sum, q->sum, width * sizeof(*sum));
    mem_free(q->sum);
    q->sum = sum;
    return GG_OK;
}

static enum gg_status
add_sum(const struct gg_query *w, size_t from, struct gg_error *err)
{
    struct gg_sequence *q = w->sequence;
    size_t width = session_width(q->engine->session);
    const float *row = (const float *)(q->sum + width);

    for (size_t i = from; i < q->n_held; i++, row += width)
        for (size_t j = 0; j < width; j++)
            q->sum[j] += (double)row[j];
    if (q->n_held == q->n_ids &&
        !session_finish_mean(q->engine->session, q->sum, q->n_ids,
                             w->embed.values))
        return error_nomem(err);
    return GG_OK;
}

/* ---- pieces -------------------------------------------------------------- */

static bool
is_done(const struct gg_sequence *q)
{
    return q->given == q->n_ids;
}

/* Embeddings of other kinds are those of one evaluation. */
static bool
can_part(const struct gg_engine *e, const struct gg_query *queries, size_t n)
{
    bool can = (e->bound.ids || e->bound.us) && e->can.pieces && !e->score;

    for (size_t i = 0; i < n && can; i++)
        can = !queries[i].embed.values ||
              queries[i].embed.pooling == GG_POOL_LAST ||
              queries[i].embed.pooling == GG_POOL_MEAN;
    return can;
}

/* The next queries, as many as there are ids for, to `out`. */
static size_t
find_next(struct gg_engine *e, const struct gg_query *queries, size_t n,
          bool alone, struct gg_query *out)
{
    size_t left = engine_step_ids(e, alone), found = 0;
    size_t most = alone ? (size_t)e->n_slots : 1;

    for (size_t i = 0; i < n && left && found < most; i++) {
        struct gg_sequence *q = queries[i].sequence;

        if (is_done(q))
            continue;
        if (q->slot < 0 || q->n_held < q->given)
            engine_sequence_release(q, 0);
        q->most = q->n_ids - q->given < left ? q->n_ids - q->given : left;
        left -= q->most;
        out[found++] = queries[i];
    }
    return found;
}

/* Results of the ids that were evaluated are there. */
static enum gg_status
take_results(const struct gg_query *w, size_t before, struct gg_error *err)
{
    struct gg_sequence *q = w->sequence;
    enum gg_status st = q->sum ? add_sum(w, before, err) : GG_OK;

    if (st == GG_OK)
        q->given = q->n_held;
    return st;
}

static enum gg_status
eval_piece(struct gg_engine *e, const struct gg_query *queries, size_t n,
           struct gg_error *err)
{
    uint64_t before = e->stats.n_evaluated;
    int64_t start = ggml_time_us();
    enum gg_status st = GG_OK;

    e->bound.applies = e->bound.pieces = true;
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = start_sum(&queries[i], err);
    if (st == GG_OK)
        st = engine_round(e, queries, n, NULL, err);
    e->bound.applies = e->bound.pieces = false;
    if (st == GG_OK)
        engine_step_learn(e, (size_t)(e->stats.n_evaluated - before), false,
                          (double)(ggml_time_us() - start));
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = take_results(&queries[i], queries[i].sequence->given, err);
    return st;
}

static void
forget_pieces(const struct gg_query *queries, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        queries[i].sequence->given = 0;
        mem_free(queries[i].sequence->sum);
        queries[i].sequence->sum = NULL;
    }
}

static bool
are_done(const struct gg_query *queries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_done(queries[i].sequence))
            return false;
    return true;
}

static enum gg_status
eval_some(struct gg_engine *e, const struct gg_query *queries, size_t n,
          bool alone, bool *done, struct gg_error *err)
{
    struct gg_query *some = mem_array(n, sizeof(*some));
    enum gg_status st = some ? GG_OK : error_nomem(err);

    e->call++;
    for (size_t i = 0; i < n && st == GG_OK; i++)
        st = engine_check_query(e, &queries[i], err);
    if (st == GG_OK)
        st = eval_piece(e, some, find_next(e, queries, n, alone, some), err);
    mem_free(some);
    *done = st == GG_OK && are_done(queries, n);
    if (*done)
        forget_pieces(queries, n);
    return st;
}

enum gg_status
gg_engine_eval_some(struct gg_engine *engine, const struct gg_query *queries,
                    size_t n, bool alone, bool *done, struct gg_error *err)
{
    enum gg_status st;

    if (!engine || (!queries && n) || !done)
        return error_null(err);
    if (can_part(engine, queries, n))
        return eval_some(engine, queries, n, alone, done, err);
    st = engine_start(engine, queries, n, NULL, err);
    *done = st == GG_OK;
    return st;
}
