/* drafts.c - drafts by MTP layers or a drafter, after what a session has
 * evaluated */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "graph/adapter.h"
#include "graph/arch.h"
#include "session/mtp_rows.h"
#include "session/session.h"
#include "session/impl.h"
#include "session/pipeline.h"

/* How its drafter drafts; NULL: it has MTP layers, or nothing. */
static const struct model_drafter *
drafter_of(const struct gg_session *s)
{
    return s->model->drafter ? s->model->drafter->arch->drafter : NULL;
}

int32_t
session_mtp(const struct gg_session *session)
{
    const struct model_drafter *d = drafter_of(session);
    int32_t n = session->model->hp.n_mtp;

    if (d && d->block)
        n = session_mtp_step(session->model) - 1;
    else if (d)
        n = 1;
    return n == 1 || n > CACHE_MTP_DRAFTED ? CACHE_MTP_DRAFTED : n;
}

void
session_mtp_rest(struct gg_session *session, bool rests)
{
    session->mtp_rests = rests;
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

int32_t
session_mtp_step(const struct model *model)
{
    return model->drafter ? model->drafter->hp.drafting.n_ids : model->hp.n_mtp;
}

bool
session_mtp_blocks(const struct gg_session *session)
{
    const struct model_drafter *d = drafter_of(session);

    return d && d->block;
}

/* Whether each step is of one id, whose row follows from the one before. */
static bool
is_chained(const struct gg_session *s)
{
    return drafter_of(s) || s->model->hp.n_mtp == 1;
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

static int32_t
rows_of(const struct model_guess *q)
{
    return q->n_rows > 0 ? q->n_rows : 1;
}

/* The id that was drawn, and a mask for each that is wanted. */
static void
add_block(struct gg_session *s, const struct model_guess *q)
{
    int32_t ids[1 + CACHE_MTP_DRAFTED], n = 1 + rows_of(q);
    struct gg_chunk chunk = {
        .slot = q->slot,
        .ids = ids,
        .n = (size_t)n,
        .rows = { .logits = q->logits,
                  .best = q->best,
                  .n_last = (size_t)rows_of(q) },
    };

    ids[0] = q->ids[0];
    for (int32_t i = 1; i < n; i++)
        ids[i] = s->model->drafter->hp.pad;
    add_draft(s, &chunk, q->past);
}

/* One id more; of the first layer that is alone, the cache has the others. */
static void
add_guess(struct gg_session *s, const struct model_guess *q)
{
    struct batch *b = &s->mtp_batch;
    int32_t first = is_chained(s) ? q->n - 1 : 0, n = q->n - first;
    int32_t past = b->apart ? q->past : q->past + first;
    struct gg_chunk chunk = {
        .slot = q->slot,
        .ids = q->ids + first,
        .n = (size_t)n,
        .rows = { .logits = q->logits, .best = q->best },
    };

    add_draft(s, &chunk, past);
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

/* The likeliest of what there is; k is what it was again afterwards. */
static void
bound_best(const struct model *drafter, const struct model_guess *q, size_t *k)
{
    size_t most = (size_t)drafter->n_drafted;

    *k = q->best ? q->best->k : 0;
    for (int32_t i = 0; i < rows_of(q) && *k > most; i++)
        q->best[i].k = most;
}

static void
restore_best(const struct model_guess *q, size_t k)
{
    for (int32_t i = 0; i < rows_of(q) && q->best; i++)
        q->best[i].k = k;
}

/* Logits of few ids, at the beginning of *logits, become those of all. */
static void
spread_logits(const struct model *drafter, float *logits, float *scratch)
{
    size_t n = (size_t)drafter->n_drafted;

    memcpy(scratch, logits, n * sizeof(*scratch));
    for (int32_t i = 0; i < drafter->hp.n_vocab; i++)
        logits[i] = -INFINITY;
    for (size_t i = 0; i < n; i++)
        logits[drafter->drafted[i]] = scratch[i];
}

static void
name_ids(const struct model *drafter, const struct model_guess *q,
         float *scratch)
{
    size_t n_vocab = (size_t)drafter->hp.n_vocab;

    for (int32_t i = 0; i < rows_of(q); i++) {
        struct gg_best *best = q->best ? &q->best[i] : NULL;

        if (!best)
            spread_logits(drafter, q->logits + (size_t)i * n_vocab, scratch);
        for (size_t k = 0; best && k < best->n; k++)
            best->ids[k] = drafter->drafted[best->ids[k]];
    }
}

static enum gg_status
run_guesses(struct gg_session *s, const struct model_guess *guesses, size_t n,
            struct gg_error *err)
{
    const struct model_drafter *d = drafter_of(s);
    enum gg_status st = GG_OK;
    struct batch *b = &s->mtp_batch;

    for (size_t i = 0; i < n && st == GG_OK;) {
        session_batch_start(b);
        b->apart = d && d->reads_keys;
        b->block = d && d->block && !s->model->drafter->hp.drafting.one_way;
        b->drafter = d ? &s->model->drafter->hp : NULL;
        b->scales = session_slots_scales(&s->slots, guesses[i].slot);
        b->mtp = is_chained(s) ? 1 : guesses[i].n;
        while (i < n && b->n_segments < b->max_segments &&
               has_scales(s, &guesses[i], b->scales)) {
            if (d && d->block)
                add_block(s, &guesses[i++]);
            else
                add_guess(s, &guesses[i++]);
        }
        session_profile_start(s->profile, GG_PROFILE_DECODE);
        st = session_compute_run(&s->mtp, &s->cache, b, NULL, err);
        session_profile_stop(s->profile);
    }
    return st;
}

enum gg_status
session_mtp_guess(struct gg_session *session, const struct model_guess *guesses,
                  size_t n_guesses, struct gg_error *err)
{
    const struct model *d = session->model->drafter;
    enum gg_status st;
    float *scratch;
    size_t *k;

    if (n_guesses == 0 || !d || !d->drafted)
        return run_guesses(session, guesses, n_guesses, err);
    scratch = mem_array((size_t)d->n_drafted, sizeof(*scratch));
    k = mem_array(n_guesses, sizeof(*k));
    st = scratch && k ? GG_OK : error_nomem(err);
    for (size_t i = 0; i < n_guesses && k; i++)
        bound_best(d, &guesses[i], &k[i]);
    if (st == GG_OK)
        st = run_guesses(session, guesses, n_guesses, err);
    for (size_t i = 0; i < n_guesses && st == GG_OK; i++)
        name_ids(d, &guesses[i], scratch);
    for (size_t i = 0; i < n_guesses && k; i++)
        restore_best(&guesses[i], k[i]);
    mem_free(scratch);
    mem_free(k);
    return st;
}
