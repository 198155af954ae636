/* drafts.c - drafts by MTP layers, after what a session has evaluated */
#include "graph/adapter.h"
#include "graph/mtp.h"
#include "session/mtp_rows.h"
#include "session/session.h"
#include "session/impl.h"
#include "session/pipeline.h"

int32_t
session_mtp(const struct gg_session *session)
{
    int32_t n = session->model->hp.n_mtp;

    return n == 1 || n > CACHE_MTP_DRAFTED ? CACHE_MTP_DRAFTED : n;
}

int32_t
gg_session_mtp(const struct gg_session *session, size_t *weights, size_t *cache)
{
    uint64_t w = 0, c = 0;

    if (session)
        graph_mtp_sizes(session->model, &session->cache, &w, &c);
    if (weights)
        *weights = (size_t)w;
    if (cache)
        *cache = (size_t)c;
    return session ? session->model->hp.n_mtp : 0;
}

bool
session_mtp_can(const struct gg_session *session, int32_t slot, int32_t n)
{
    return session_cache_mtp_has(&session->cache, slot, n - 1);
}

/* The hidden vector before the guess's id i. */
static int32_t
row_before(const struct model_guess *q, int32_t i)
{
    return i == 0 ? session_cache_mtp_row(q->slot, q->past - 1)
                  : session_cache_mtp_drafted(q->slot, i - 1);
}

/* Windows move in all layers at once, and so in other processes. */
static void
add_draft(struct gg_session *s, const struct gg_chunk *chunk, int32_t past)
{
    if (s->cache.parts[CACHE_WINDOW].n_layer > 0)
        s->model->pipeline->call->draft(s, chunk->slot, past,
                                        (int32_t)chunk->n);
    session_batch_add_draft(&s->mtp_batch, &s->cache, chunk, past);
}

/* One id more; of the first layer that is alone, the cache has the others. */
static void
add_guess(struct gg_session *s, const struct model_guess *q)
{
    struct batch *b = &s->mtp_batch;
    bool alone = b->hp->n_mtp == 1;
    int32_t first = alone ? q->n - 1 : 0, n = q->n - first;
    struct gg_chunk chunk = {
        .slot = q->slot,
        .ids = q->ids + first,
        .n = (size_t)n,
        .rows = { .logits = q->logits, .best = q->best },
    };

    add_draft(s, &chunk, q->past + first);
    for (int32_t i = 0; i < n; i++)
        b->mtp_from[b->n_tokens - n + i] = row_before(q, first + i);
    b->mtp_to[b->n_outputs - 1] = session_cache_mtp_drafted(q->slot, q->n - 1);
}

/* Whether its slot's ids were evaluated with those of adapters. */
static bool
has_scales(const struct gg_session *s, const struct model_guess *q,
           const float *scales)
{
    return graph_adapters_same(s->model, scales,
                               session_slots_scales(&s->slots, q->slot));
}

enum gg_status
session_mtp_guess(struct gg_session *session, const struct model_guess *guesses,
                  size_t n_guesses, struct gg_error *err)
{
    struct gg_session *s = session;
    enum gg_status st = GG_OK;
    struct batch *b = &s->mtp_batch;

    for (size_t i = 0; i < n_guesses && st == GG_OK;) {
        session_batch_start(b);
        b->scales = session_slots_scales(&s->slots, guesses[i].slot);
        b->mtp = s->model->hp.n_mtp == 1 ? 1 : guesses[i].n;
        while (i < n_guesses && b->n_segments < b->max_segments &&
               has_scales(s, &guesses[i], b->scales))
            add_guess(s, &guesses[i++]);
        session_profile_start(s->profile, GG_PROFILE_DECODE);
        st = session_compute_run(&s->mtp, &s->cache, b, NULL, err);
        session_profile_stop(s->profile);
    }
    return st;
}
