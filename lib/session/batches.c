/* batches.c - chunks in batches, one after the other */
#include "graph/adapter.h"
#include "session/batches.h"
#include "session/chunks.h"
#include "session/recurrent.h"

enum {
    LEAST_PART = 32, /* ids of a batch of a pipeline, if there are as many */
};

/* Ids of a chunk. */
struct id_range {
    size_t first, end;
};

/* A sequence that begins has ids for an encoder, and then the decoder the
 * others. */
static struct id_range
ids_of(const struct gg_session *s, const struct gg_chunk *c)
{
    int32_t there = s->slots.there[c->slot];
    size_t n = there == 0 ? (size_t)s->slots.encoded[c->slot] : 0;

    return s->encodes ? (struct id_range){ 0, n }
                      : (struct id_range){ n, c->n };
}

/* MTP layers get this of a batch; `ends`: some chunk ends there. */
static enum graph_feed
feed_of(const struct gg_session *s, const struct batch *b, bool ends)
{
    if (s->model->hp.n_mtp == 0 || s->model->pipeline->divided)
        return GRAPH_FEED_ALL;
    if (s->model->drafter)
        return s->mtp_rests ? GRAPH_FEED_NONE : GRAPH_FEED_ALL;
    if (s->mtp_rests)
        return session_batch_decodes(b) ? GRAPH_FEED_HIDDEN : GRAPH_FEED_NONE;
    return s->model->mtp_if_able && !ends ? GRAPH_FEED_NONE : GRAPH_FEED_ALL;
}

void
session_next_batch(struct gg_session *s, struct batch *b,
                   const struct gg_chunk *chunks, size_t n_chunks,
                   const float *scales, size_t *chunk, size_t *done)
{
    size_t n_embd = (size_t)s->model->hp.n_embd, vectors = 0;
    int32_t taken = 1;
    bool ends = false;

    for (size_t i = 0; i < *chunk; i++)
        vectors += session_n_pools(&chunks[i]);

    session_batch_start(b);
    b->encodes = s->encodes;
    b->max_tokens = s->encodes ? s->n_batch : s->n_part;
    b->scales = scales;
    while (*chunk < n_chunks && taken) {
        const struct gg_chunk *c = &chunks[*chunk];
        struct id_range ids = ids_of(s, c);

        if (*done < ids.first)
            *done = ids.first;
        if (*done == ids.end ||
            !graph_adapters_same(s->model, session_scales(s, c), scales)) {
            vectors += session_n_pools(c);
            *done = 0;
            ++*chunk;
            continue;
        }
        taken =
            session_batch_add(b, &s->cache, c, *done, ids.end,
                              s->slots.there[c->slot] + (int32_t)*done,
                              s->pools ? s->pools + vectors * n_embd : NULL);
        *done += (size_t)taken;
        if (*done == ids.end) {
            vectors += session_n_pools(c);
            *done = 0;
            ++*chunk;
            ends = true;
        }
    }
    session_batch_feed(b, &s->cache, feed_of(s, b, ends));
    session_batch_finish(b);
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

    session_profile_start(s->profile, phase_of(&s->batch));
    st = session_compute_run(&s->compute, &s->cache, &s->batch, NULL, err);
    session_profile_stop(s->profile);
    return st;
}

void
session_count(struct gg_session *s, const struct batch *b)
{
    for (int32_t i = 0; i < b->n_segments; i++) {
        const struct graph_segment *x = &b->segments[i];

        session_recurrent_end(&s->cache, x->slot,
                              b->positions[x->first + x->n - 1] + 1);
    }
}

/* Ranks of a pipeline that have nothing to do yet, or no more, cost as much as
 * pieces are long; pieces that are too short cost more, as each rank reads its
 * weights once for each. An encoder's texts are not parted. */
void
session_part(struct gg_session *s, const struct gg_chunk *chunks,
             size_t n_chunks)
{
    int32_t ranks = s->model->pipeline->n;
    size_t all = 0, n = (size_t)s->n_batch;

    s->n_part = s->n_batch;
    if (s->model->hp.encoder)
        return;
    for (size_t i = 0; i < n_chunks; i++)
        all += chunks[i].n;
    all = (all + (size_t)ranks - 1) / (size_t)ranks;
    all = all < LEAST_PART ? LEAST_PART : all;
    s->n_part = (int32_t)(all < n ? all : n);
}

void
session_report(struct gg_session *s, uint64_t done)
{
    s->n_done = done;
    if (s->params.progress && !s->model->pipeline->divided)
        s->params.progress(s->params.progress_data, done, s->n_all);
}

enum gg_status
session_run_batches(struct gg_session *s, const struct gg_chunk *chunks,
                    size_t n_chunks, const float *scales, struct gg_error *err)
{
    enum gg_status st = GG_OK;
    size_t chunk = 0, done = 0;

    session_part(s, chunks, n_chunks);
    while (chunk < n_chunks && st == GG_OK) {
        session_next_batch(s, &s->batch, chunks, n_chunks, scales, &chunk,
                           &done);
        if (s->batch.n_tokens == 0)
            break;
        st = run_batch(s, err);
        if (st == GG_OK)
            session_count(s, &s->batch);
        if (st == GG_OK)
            session_report(s, s->n_done + (uint64_t)s->batch.n_tokens);
    }
    return st;
}
