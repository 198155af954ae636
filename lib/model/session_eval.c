/* session_eval.c - evaluation of the ids that are new in sequences */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "model/adapter.h"
#include "model/arch.h"
#include "model/head.h"
#include "model/move.h"
#include "model/mtp_rows.h"
#include "model/recurrent.h"
#include "model/session.h"
#include "model/session_impl.h"
#include "model/session_remote.h"

enum {
    FEW = 17,        /* ids of a chunk: one and its drafts */
    LEAST_PART = 32, /* ids of a batch of a pipeline, if there are as many */
};

static enum gg_status
check_id(const struct gg_session *s, int32_t id, struct gg_error *err)
{
    int32_t n_vocab = s->model->hp.n_vocab;

    if (id >= 0 && id < n_vocab)
        return GG_OK;
    return error_set(err, GG_ERR_ARG, "id %d is not in 0..%d", (int)id,
                     (int)n_vocab - 1);
}

static enum gg_status
check_ids(const struct gg_session *s, const struct gg_chunk *c,
          struct gg_error *err)
{
    size_t n_next = !c->scores.next    ? 0
                    : c->scores.n_next ? c->scores.n_next
                                       : 1;
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n_next && st == GG_OK; i++)
        st = check_id(s, c->scores.next[i], err);
    for (size_t i = 0; i < c->n && st == GG_OK; i++)
        st = check_id(s, c->ids[i], err);
    return st;
}

/* What an encoder cannot give. */
static enum gg_status
check_encoder(const struct gg_session *s, const struct gg_chunk *c,
              struct gg_error *err)
{
    if (!s->model->hp.encoder)
        return GG_OK;
    if (c->rows.logits || c->rows.best || c->scores.logprobs)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s is a family of encoders: they make embeddings and "
                         "no logits",
                         s->model->arch->name);
    if (s->slots.length[c->slot])
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "an encoder takes a text in one chunk");
    return GG_OK;
}

static enum gg_status
check_room(const struct gg_session *s, const struct gg_chunk *c,
           struct gg_error *err)
{
    int32_t held = s->slots.length[c->slot];

    if (c->n <= (size_t)(s->n_ctx - held))
        return GG_OK;
    return error_set(err, GG_ERR_CONTEXT,
                     "context is full: %d ids and %zu more are above the limit "
                     "of %d (-c raises it%s)",
                     (int)held, c->n, (int)s->n_ctx,
                     s->model->position_embd ? ", up to the model's own" : "");
}

/* What is given, and where results go. */
static enum gg_status
check_results(const struct gg_session *s, const struct gg_chunk *c,
              struct gg_error *err)
{
    size_t n_best = !c->rows.best ? 0 : c->rows.n_last ? c->rows.n_last : 1;
    size_t n_vocab = (size_t)s->model->hp.n_vocab;

    if (!c->ids)
        return error_null(err);
    if (c->embed.values && (unsigned)c->embed.pooling > GG_POOL_NONE)
        return error_set(err, GG_ERR_ARG, "an embedding of no known pooling");
    if (c->embed.values && c->embed.pooling == GG_POOL_RANK &&
        s->model->rank.n == 0)
        return error_set(
            err, GG_ERR_UNSUPPORTED,
            "the file has no classifier (cls.output): no reranker");
    for (size_t i = 0; i < n_best; i++) {
        const struct gg_best *b = &c->rows.best[i];

        if (b->k && (!b->ids || !b->logits))
            return error_null(err);
        if (b->k > n_vocab)
            return error_set(err, GG_ERR_ARG, "the %zu likeliest of %zu ids",
                             b->k, n_vocab);
    }
    return GG_OK;
}

const float *
model_session_scales(const struct gg_session *s, const struct gg_chunk *c)
{
    return c->scales ? c->scales : s->model->scales;
}

/* A slot that holds ids goes on with the adapters that they have. */
static enum gg_status
check_adapters(struct gg_session *s, const struct gg_chunk *c,
               struct gg_error *err)
{
    const float *scales = model_session_scales(s, c);

    for (size_t i = 0; i < s->model->files.n_adapters; i++)
        if (!isfinite(scales[i]))
            return error_set(err, GG_ERR_ARG,
                             "the scale of an adapter is not finite");
    if (s->slots.length[c->slot] == 0)
        model_slots_set_scales(&s->slots, c->slot, scales);
    else if (!model_adapters_same(s->model, scales,
                                  model_slots_scales(&s->slots, c->slot)))
        return error_set(err, GG_ERR_ARG,
                         "slot %d holds ids that were evaluated with other "
                         "adapters",
                         (int)c->slot);
    return GG_OK;
}

static enum gg_status
check_chunk(struct gg_session *s, const struct gg_chunk *c,
            struct gg_error *err)
{
    enum gg_status st;

    if (c->slot < 0 || c->slot >= s->n_slots)
        return error_set(err, GG_ERR_ARG, "slot %d is not in 0..%d",
                         (int)c->slot, (int)s->n_slots - 1);
    if (s->called[c->slot] == s->call)
        return error_set(err, GG_ERR_ARG, "slot %d is named twice",
                         (int)c->slot);
    s->called[c->slot] = s->call;
    if (c->n == 0)
        return error_set(err, GG_ERR_ARG, "a chunk without ids");
    if (c->rows.n_last > c->n || c->scores.first > c->n)
        return error_set(err, GG_ERR_ARG, "a chunk has no %zu ids",
                         c->rows.n_last > c->n ? c->rows.n_last
                                               : c->scores.first);
    st = ERROR_RESERVED(c, err);
    if (st == GG_OK)
        st = check_results(s, c, err);
    if (st == GG_OK)
        st = check_ids(s, c, err);
    if (st == GG_OK)
        st = check_encoder(s, c, err);
    if (st == GG_OK)
        st = check_adapters(s, c, err);
    if (st == GG_OK)
        st = check_room(s, c, err);
    if (st == GG_OK && !model_slots_keep(&s->slots, c))
        st = error_nomem(err);
    return st;
}

/* Vectors that it has in s->pools. */
static size_t
n_pools(const struct gg_chunk *c)
{
    if (!c->embed.values)
        return 0;
    return c->embed.pooling == GG_POOL_NONE ? c->n : 1;
}

void
model_session_next_batch(struct gg_session *s, struct batch *b,
                         const struct gg_chunk *chunks, size_t n_chunks,
                         const float *scales, size_t *chunk, size_t *done)
{
    size_t n_embd = (size_t)s->model->hp.n_embd, vectors = 0;
    int32_t taken = 1;

    for (size_t i = 0; i < *chunk; i++)
        vectors += n_pools(&chunks[i]);

    model_batch_start(b);
    b->max_tokens = s->n_part;
    b->scales = scales;
    while (*chunk < n_chunks && taken) {
        const struct gg_chunk *c = &chunks[*chunk];

        if (!model_adapters_same(s->model, model_session_scales(s, c),
                                 scales)) {
            vectors += n_pools(c);
            ++*chunk;
            continue;
        }
        taken = model_batch_add(b, &s->cache, c, *done,
                                s->slots.there[c->slot] + (int32_t)*done,
                                s->pools ? s->pools + vectors * n_embd : NULL);
        *done += (size_t)taken;
        if (*done == c->n) {
            vectors += n_pools(c);
            *done = 0;
            ++*chunk;
        }
    }
    model_batch_finish(b);
}

/* Each sequence goes on by one id, or some get more. */
static enum gg_profile_phase
phase_of(const struct batch *b)
{
    return b->n_tokens == b->n_segments ? GG_PROFILE_DECODE
                                        : GG_PROFILE_PREFILL;
}

static enum gg_status
run_batch(struct gg_session *s, struct gg_error *err)
{
    enum gg_status st;

    model_session_profile_start(s->profile, phase_of(&s->batch));
    st = model_compute_run(&s->compute, &s->cache, &s->batch, NULL, err);
    model_session_profile_stop(s->profile);
    return st;
}

void
model_session_count(struct gg_session *s, const struct batch *b)
{
    for (int32_t i = 0; i < b->n_segments; i++) {
        const struct graph_segment *x = &b->segments[i];

        model_recurrent_end(&s->cache, x->slot,
                            b->positions[x->first + x->n - 1] + 1);
    }
}

/* Ranks of a pipeline that have nothing to do yet, or no more, cost as much as
 * pieces are long; pieces that are too short cost more, as each rank reads its
 * weights once for each. An encoder's texts are not parted. */
void
model_session_part(struct gg_session *s, const struct gg_chunk *chunks,
                   size_t n_chunks)
{
    const struct gg_pipeline *p = s->model->pipeline;
    size_t all = 0, n = (size_t)s->n_batch;

    s->n_part = s->n_batch;
    if (!p || s->model->hp.encoder)
        return;
    for (size_t i = 0; i < n_chunks; i++)
        all += chunks[i].n;
    all = (all + (size_t)p->n - 1) / (size_t)p->n;
    all = all < LEAST_PART ? LEAST_PART : all;
    s->n_part = (int32_t)(all < n ? all : n);
}

static void
report(struct gg_session *s, uint64_t done)
{
    s->n_done = done;
    if (s->params.progress && !s->model->pipeline)
        s->params.progress(s->params.progress_data, done, s->n_all);
}

/* Those with these adapters. */
static enum gg_status
run_with(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
         const float *scales, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    size_t chunk = 0, done = 0;

    if (s->model->pipeline)
        return model_session_run_pipeline(s, chunks, n_chunks, scales, err);
    model_session_part(s, chunks, n_chunks);
    while (chunk < n_chunks && st == GG_OK) {
        model_session_next_batch(s, &s->batch, chunks, n_chunks, scales, &chunk,
                                 &done);
        if (s->batch.n_tokens == 0)
            break;
        st = run_batch(s, err);
        if (st == GG_OK)
            model_session_count(s, &s->batch);
        if (st == GG_OK)
            report(s, s->n_done + (uint64_t)s->batch.n_tokens);
    }
    return st;
}

/* Whether one of the chunks before has the same adapters. */
static bool
came_before(const struct gg_session *s, const struct gg_chunk *chunks, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (model_adapters_same(s->model, model_session_scales(s, &chunks[k]),
                                model_session_scales(s, &chunks[i])))
            return true;
    return false;
}

/* Behind what the cache has of their slots; those with other adapters by
 * themselves. */
static enum gg_status
run_chunks(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
           struct gg_error *err)
{
    enum gg_status st = GG_OK;

    for (size_t i = 0; i < n_chunks && st == GG_OK; i++)
        if (!came_before(s, chunks, i))
            st = run_with(s, chunks, n_chunks,
                          model_session_scales(s, &chunks[i]), err);
    return st;
}

/* What the slot holds, and the cache has not, is evaluated again. */
static enum gg_status
catch_up(struct gg_session *s, int32_t slot, struct gg_error *err)
{
    struct gg_chunk missing;
    enum gg_status st;

    if (!model_slots_missing(&s->slots, slot, &missing))
        return GG_OK;
    st = run_chunks(s, &missing, 1, err);
    if (st == GG_OK)
        s->slots.there[slot] = s->slots.length[slot];
    return st;
}

/* Sums of nothing, where some chunk wants an embedding. */
static bool
start_pools(struct gg_session *s, const struct gg_chunk *chunks,
            size_t n_chunks)
{
    size_t n = 0;

    for (size_t i = 0; i < n_chunks; i++)
        n += n_pools(&chunks[i]) * (size_t)s->model->hp.n_embd;
    if (n == 0)
        return true;
    if (!mem_grow(&s->pools, &s->cap_pools, n, sizeof(*s->pools)))
        return false;
    memset(s->pools, 0, n * sizeof(*s->pools));
    return true;
}

/* What follows the pooling of the chunk. */
static const struct model_head *
head_of(const struct gg_session *s, const struct gg_chunk *c)
{
    static const struct model_head none;

    if (c->embed.pooling == GG_POOL_NONE)
        return &none;
    return c->embed.pooling == GG_POOL_RANK ? &s->model->rank
                                            : &s->model->dense;
}

/* Room for a vector and for two of the head's, which is longer at times. */
static bool
room_for_heads(struct gg_session *s)
{
    const struct model *m = s->model;
    int32_t a = model_head_room(&m->dense, m->hp.n_embd);
    int32_t b = model_head_room(&m->rank, m->hp.n_embd);
    size_t n = (size_t)(a > b ? a : b);

    return mem_grow(&s->head, &s->cap_head, 2 * n, sizeof(*s->head)) &&
           mem_grow(&s->head_row, &s->cap_head_row, n, sizeof(*s->head_row));
}

/* One vector: the mean, and what follows it. */
static void
finish_pool(struct gg_session *s, const struct gg_chunk *c, const double *pool,
            float *to)
{
    const struct model_hparams *hp = &s->model->hp;
    const struct model_head *head = head_of(s, c);
    bool mean =
        c->embed.pooling == GG_POOL_MEAN ||
        (c->embed.pooling == GG_POOL_RANK && hp->rank_pooling == GG_POOL_MEAN);
    int32_t n = model_head_length(head, hp->n_embd);

    for (int32_t j = 0; j < hp->n_embd; j++)
        s->head[j] = pool[j] / (mean ? (double)c->n : 1);
    model_head_apply(head, hp->eps, s->head, s->head + s->cap_head / 2,
                     s->head_row);
    for (int32_t j = 0; j < n; j++)
        to[j] = (float)s->head[j];
}

static bool
finish_pools(struct gg_session *s, const struct gg_chunk *chunks,
             size_t n_chunks)
{
    size_t n_embd = (size_t)s->model->hp.n_embd, at = 0;

    if (!room_for_heads(s))
        return false;
    for (size_t i = 0; i < n_chunks; i++)
        for (size_t j = 0; j < n_pools(&chunks[i]); j++, at += n_embd)
            finish_pool(s, &chunks[i], s->pools + at,
                        chunks[i].embed.values + j * n_embd);
    return true;
}

/* Recurrent layers can go back to where a prompt has ended, and to before what
 * may be rejected. */
static void
keep_snapshots(struct gg_session *s, const struct gg_chunk *chunks, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t slot = chunks[i].slot;

        if (s->prefilled[slot] || chunks[i].n > 1)
            model_recurrent_keep(&s->cache, slot,
                                 !s->prefilled[slot] && chunks[i].n <= FEW);
        s->prefilled[slot] = chunks[i].n > FEW;
    }
}

static void
find_nothing(const struct gg_chunk *c)
{
    for (size_t i = 0;
         c->rows.best && i < (c->rows.n_last ? c->rows.n_last : 1); i++)
        c->rows.best[i].n = 0;
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
        if (model_slots_missing(&s->slots, chunks[i].slot, &missing))
            s->n_all += missing.n;
    }
    report(s, 0);
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
        st = catch_up(s, chunks[i].slot, err);
    }
    keep_snapshots(s, chunks, n_chunks);
    if (st == GG_OK && !start_pools(s, chunks, n_chunks))
        st = error_nomem(err);
    if (st == GG_OK)
        st = run_chunks(s, chunks, n_chunks, err);
    if (st == GG_OK && wait && s->model->pipeline)
        st = model_session_wait(s, s->flights.started, err);
    if (st == GG_OK && !finish_pools(s, chunks, n_chunks))
        st = error_nomem(err);
    report(s, s->n_all);
    return st;
}

/* A failed call may have made windowed layers give up keys that are needed to
 * go on from where the slots were. */
static void
keep_what_is_left(struct gg_session *s)
{
    for (int32_t i = 0; i < s->n_slots; i++) {
        int32_t there = s->slots.there[i];
        int32_t kept = model_cache_kept(&s->cache, i, there);

        s->slots.there[i] = kept;
        model_recurrent_cut(&s->cache, i, kept);
        model_cache_mtp_cut(&s->cache, i, kept);
        if (kept < there && !s->slots.kept)
            s->slots.length[i] = kept;
    }
}

/* What has begun goes on to its end: in a pipeline the callback is asked before
 * that. */
static enum gg_status
tell_others(struct gg_session *s, const struct gg_chunk *chunks,
            size_t n_chunks, struct gg_error *err)
{
    if (s->params.abort && s->params.abort(s->params.abort_data))
        return error_set(err, GG_ERR_ABORTED, "stopped");
    return model_session_tell_chunks(s, chunks, n_chunks, err);
}

enum gg_status
model_session_follow(struct gg_session *s, const struct gg_chunk *chunks,
                     size_t n_chunks, struct gg_error *err)
{
    enum gg_status st = GG_OK;

    s->call++;
    for (size_t i = 0; i < n_chunks && st == GG_OK; i++)
        st = check_chunk(s, &chunks[i], err);
    if (st != GG_OK)
        return st;
    keep_snapshots(s, chunks, n_chunks);
    if (!start_pools(s, chunks, n_chunks))
        st = error_nomem(err);
    if (st == GG_OK)
        st = run_chunks(s, chunks, n_chunks, err);
    for (size_t i = 0; i < n_chunks && st == GG_OK; i++)
        model_slots_add(&s->slots, &chunks[i]);
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
        st = check_chunk(s, &chunks[i], err);
    if (st == GG_OK && s->model->pipeline)
        st = tell_others(s, chunks, n_chunks, err);
    if (st != GG_OK)
        return st;
    st = evaluate(s, chunks, n_chunks, wait, err);
    while (s->slots.kept && model_can_move(s->model, st) &&
           model_session_move(s, err))
        st = evaluate(s, chunks, n_chunks, wait, err);
    if (s->dead)
        return st;
    if (st == GG_OK)
        for (size_t i = 0; i < n_chunks; i++)
            model_slots_add(&s->slots, &chunks[i]);
    else
        keep_what_is_left(s);
    return st;
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
    bool may = s->model->pipeline && s->model->hp.n_mtp == 0;

    for (size_t i = 0; i < n_chunks; i++)
        may = may && !chunks[i].embed.values;
    return may;
}

enum gg_status
model_session_start(struct gg_session *s, const struct gg_chunk *chunks,
                    size_t n_chunks, uint64_t *ticket, struct gg_error *err)
{
    bool wait = !may_return_early(s, chunks, n_chunks);
    enum gg_status st = GG_OK;

    if (n_chunks)
        st = eval(s, chunks, n_chunks, wait, err);
    *ticket = wait ? 0 : s->flights.started;
    return st;
}
