/* eval.c - evaluation of the ids that are new in sequences */
#include "core/mem.h"
#include "graph/adapter.h"
#include "session/batches.h"
#include "session/chunks.h"
#include "session/move.h"
#include "session/mtp_rows.h"
#include "session/impl.h"
#include "session/pipeline.h"
#include "session/recurrent.h"
#include "session/session.h"
#include "session/shared_rows.h"

enum {
    FEW = 17, /* ids of a chunk: one and its drafts */
};

/* Whether one of the chunks before has the same adapters. */
static bool
came_before(const struct gg_session *s, const struct gg_chunk *chunks, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (graph_adapters_same(s->model, session_scales(s, &chunks[k]),
                                session_scales(s, &chunks[i])))
            return true;
    return false;
}

/* Chunks with adapters like the first one's: the encoder's ids before all
 * others. */
static enum gg_status
run_alike(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
          const float *scales, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    s->encodes = s->model->hp.n_encoder > 0;
    if (s->encodes)
        st = s->model->pipeline->call->eval(s, chunks, n_chunks, scales, err);
    s->encodes = false;
    return st == GG_OK ? s->model->pipeline->call->eval(s, chunks, n_chunks,
                                                        scales, err)
                       : st;
}

/* Evaluates chunks after what the cache has of their slots; those with other
 * adapters by themselves. */
static enum gg_status
run_chunks(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
           struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n_chunks && st == GG_OK; i++)
        if (!came_before(s, chunks, i))
            st = run_alike(s, chunks, n_chunks, session_scales(s, &chunks[i]),
                           err);
    return st;
}

/* Ids that the slot holds and the cache lacks are evaluated again. */
static enum gg_status
catch_up(struct gg_session *s, int32_t slot, struct gg_error *err)
{
    struct gg_chunk missing;
    enum gg_status st;

    if (!session_slots_missing(&s->slots, slot, &missing))
        return GG_OK;
    st = session_check_given(s, missing.ids, missing.n, err);
    if (st == GG_OK)
        st = run_chunks(s, &missing, 1, err);
    if (st == GG_OK)
        s->slots.there[slot] = s->slots.length[slot];
    return st;
}

/* Recurrent layers can go back to where a prompt has ended, and to before what
 * may be rejected. */
static void
keep_snapshots(struct gg_session *s, const struct gg_chunk *chunks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t slot = chunks[i].slot;

        enum session_prefill *prefilled = &s->prefilled[slot];
        bool piece = chunks[i].goes_on || *prefilled == SESSION_IN_PREFILL;

        if (*prefilled == SESSION_PREFILLED || (chunks[i].n > 1 && !piece))
            session_recurrent_keep(&s->cache, slot,
                                   *prefilled == SESSION_NO_PREFILL &&
                                       chunks[i].n <= FEW);
        *prefilled = chunks[i].goes_on            ? SESSION_IN_PREFILL
                     : piece || chunks[i].n > FEW ? SESSION_PREFILLED
                                                  : SESSION_NO_PREFILL;
    }
}

static void
find_nothing(const struct gg_chunk *c)
{
    for (size_t i = 0;
         c->rows.best && i < (c->rows.n_last ? c->rows.n_last : 1); i++)
        c->rows.best[i].n = 0;
}

/* Rows, and what a decoder answers, are given. */
static void
score_given(const struct gg_session *s, const struct gg_chunk *c)
{
    bool begins = s->slots.length[c->slot] == 0;
    size_t first = c->scores.first ? c->scores.first : 1;
    size_t n = begins ? (size_t)s->slots.encoded[c->slot] : 0;

    for (size_t i = first; c->scores.logprobs && i < c->n; i++)
        if ((n > 0 && i <= n) || session_media_has_row(&s->media, c->ids[i]))
            c->scores.logprobs[i - first] = 0;
}

/* Ids that a call evaluates, those of catch_up() among them. */
static void
start_report(struct gg_session *s, const struct gg_chunk *chunks,
             size_t n_chunks)
{
    struct gg_chunk missing;

    s->n_all = 0;
    for (size_t i = 0; i < n_chunks; i++) {
        s->n_all += chunks[i].n;
        if (session_slots_missing(&s->slots, chunks[i].slot, &missing))
            s->n_all += missing.n;
    }
    session_report(s, 0);
}

/* Results are there when it returns; of a pipeline without `wait` later. */
static enum gg_status
evaluate(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
         bool wait, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    start_report(s, chunks, n_chunks);
    for (size_t i = 0; i < n_chunks && st == GG_OK; i++) {
        find_nothing(&chunks[i]);
        score_given(s, &chunks[i]);
        st = catch_up(s, chunks[i].slot, err);
    }
    keep_snapshots(s, chunks, n_chunks);
    if (st == GG_OK && !session_start_pools(s, chunks, n_chunks))
        st = error_nomem(err);
    if (st == GG_OK)
        st = run_chunks(s, chunks, n_chunks, err);
    if (st == GG_OK && wait)
        st = s->model->pipeline->call->wait(s, s->ticket, err);
    if (st == GG_OK && !session_finish_pools(s, chunks, n_chunks))
        st = error_nomem(err);
    session_report(s, s->n_all);
    return st;
}

/* A failed call may have made windowed layers give up keys that are needed to
 * go on from where the slots were. */
static void
keep_what_is_left(struct gg_session *s)
{
    for (int32_t i = 0; i < s->n_slots; i++) {
        int32_t there = s->slots.there[i];
        int32_t kept = session_cache_kept(&s->cache, i, there);

        s->slots.there[i] = kept;
        session_recurrent_cut(&s->cache, i, kept);
        session_cache_mtp_cut(&s->cache, i, kept);
        session_slots_forget(&s->slots, i);
        if (kept < there && !s->slots.kept)
            s->slots.length[i] = kept;
    }
}

enum gg_status
session_follow(struct gg_session *s, const struct gg_chunk *chunks,
               size_t n_chunks, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    s->call++;
    for (size_t i = 0; i < n_chunks && st == GG_OK; i++)
        st = session_check_chunk(s, &chunks[i], err);
    if (st != GG_OK)
        return st;
    keep_snapshots(s, chunks, n_chunks);
    if (!session_start_pools(s, chunks, n_chunks))
        st = error_nomem(err);
    if (st == GG_OK)
        st = run_chunks(s, chunks, n_chunks, err);
    for (size_t i = 0; i < n_chunks && st == GG_OK; i++)
        session_slots_add(&s->slots, &chunks[i]);
    return st;
}

/* Evaluates chunks that were checked, and a second time where a device fails.
 */
static enum gg_status
evaluate_checked(struct gg_session *s, const struct gg_chunk *chunks,
                 size_t n_chunks, bool wait, struct gg_error *err)
{
    enum gg_status st = evaluate(s, chunks, n_chunks, wait, err);

    while (s->moves && session_can_move(s->model, st) && session_move(s, err))
        st = evaluate(s, chunks, n_chunks, wait, err);
    if (s->dead)
        return st;
    if (st == GG_OK)
        for (size_t i = 0; i < n_chunks; i++)
            session_slots_add(&s->slots, &chunks[i]);
    else
        keep_what_is_left(s);
    return st;
}

/* Chunks whose slots have rows in common come one after another. */
static enum gg_status
evaluate_side_by_side(struct gg_session *s, const struct gg_chunk *chunks,
                      size_t n_chunks, bool wait, struct gg_error *err)
{
    struct gg_chunk *ordered = session_shared_order(s, chunks, n_chunks);
    enum gg_status st =
        evaluate_checked(s, ordered ? ordered : chunks, n_chunks, wait, err);

    mem_free(ordered);
    return st;
}

static enum gg_status
eval(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
     bool wait, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    if (s->dead) {
        *err = s->why_dead;
        return GG_ERR_IO;
    }
    s->call++;
    for (size_t i = 0; i < n_chunks && st == GG_OK; i++)
        st = session_check_chunk(s, &chunks[i], err);
    if (st == GG_OK)
        st = s->model->pipeline->call->tell(s, chunks, n_chunks, err);
    return st == GG_OK ? evaluate_side_by_side(s, chunks, n_chunks, wait, err)
                       : st;
}

enum gg_status
gg_session_eval(struct gg_session *session, const struct gg_chunk *chunks,
                size_t n_chunks, struct gg_error *err)
{
    struct gg_error own;

    err = err ? err : &own;
    if (!session || (!chunks && n_chunks))
        return error_null(err);
    return n_chunks ? eval(session, chunks, n_chunks, true, err) : GG_OK;
}

/* Sums of embeddings are one call's, and MTP layers read what the last rank has
 * given. */
static bool
may_return_early(const struct gg_session *s, const struct gg_chunk *chunks,
                 size_t n_chunks)
{
    bool may = s->model->pipeline->divided && s->model->hp.n_mtp == 0;

    for (size_t i = 0; i < n_chunks; i++)
        may = may && !chunks[i].embed.values;
    return may;
}

enum gg_status
session_start(struct gg_session *s, const struct gg_chunk *chunks,
              size_t n_chunks, uint64_t *ticket, struct gg_error *err)
{
    bool wait = !may_return_early(s, chunks, n_chunks);
    enum gg_status st = GG_OK;

    if (n_chunks)
        st = eval(s, chunks, n_chunks, wait, err);
    *ticket = wait ? 0 : s->ticket;
    return st;
}

enum gg_status
session_wait(struct gg_session *s, uint64_t ticket, struct gg_error *err)
{
    return s->model->pipeline->call->wait(s, ticket, err);
}

int32_t
session_overlap(const struct gg_session *s)
{
    return s->model->hp.n_mtp == 0 ? s->model->pipeline->n : 1;
}
