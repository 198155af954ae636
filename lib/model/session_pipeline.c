/* session_pipeline.c - evaluation by all ranks of a pipeline
 *
 * Chunks are parted into batches in the same way everywhere. Rank 0 evaluates
 * its layers for one batch after the other, and does not wait for what becomes
 * of the first before it begins the next: while ranks have work they have it at
 * once. It finishes the oldest when as many are on their way as there is room
 * for, or no more are to come. */
#include "core/mem.h"
#include "model/session_remote.h"

/* A call's chunks, and how far they are parted. */
struct flight {
    struct gg_session *s;
    const struct gg_chunk *chunks;
    size_t n_chunks, chunk, done;
    const float *scales;       /* of adapters */
    int32_t started, finished; /* batches */
};

static bool
is_parted(const struct flight *f)
{
    return f->chunk == f->n_chunks;
}

/* Room for what enters or leaves layers for a batch. */
static enum gg_status
prepare(struct compute *c, struct gg_session *s, const struct batch *b,
        size_t *entered, size_t *left, struct gg_error *err)
{
    struct gg_pipeline *p = s->model->pipeline;
    size_t n;

    if (!model_compute_sizes(c, &s->cache, b, entered, left))
        return error_nomem(err);
    n = *entered > *left ? *entered : *left;
    return mem_grow(&p->buffer, &p->cap_buffer, n, 1) ? GG_OK
                                                      : error_nomem(err);
}

/* Rank 0: its layers, for the next batch. */
static enum gg_status
start_batch(struct flight *f, struct gg_error *err)
{
    struct gg_session *s = f->s;
    struct gg_pipeline *p = s->model->pipeline;
    struct batch *b = &s->flying[f->started % s->n_flying];
    size_t entered, left = 0;
    enum gg_status st;

    model_session_next_batch(s, b, f->chunks, f->n_chunks, f->scales, &f->chunk,
                             &f->done);
    st = prepare(&s->compute, s, b, &entered, &left, err);
    if (st == GG_OK)
        st = model_compute_layers(&s->compute, &s->cache, b, NULL, p->buffer,
                                  err);
    if (st == GG_OK)
        model_session_count(s, b);
    f->started++;
    return model_pipeline_pass(p, st, p->buffer, left, err);
}

/* Rank 0: the output, for the oldest. */
static enum gg_status
finish_batch(struct flight *f, struct gg_error *err)
{
    struct gg_session *s = f->s;
    struct gg_pipeline *p = s->model->pipeline;
    struct batch *b = &s->flying[f->finished++ % s->n_flying];
    size_t entered = 0, left;
    enum gg_status st = prepare(&s->output, s, b, &entered, &left, err);

    if (st == GG_OK)
        st = model_pipeline_take(p, p->buffer, entered, err);
    if (st == GG_OK)
        st = model_compute_run(&s->output, &s->cache, b, p->buffer, err);
    return st;
}

static enum gg_status
lead(struct flight *f, struct gg_error *err)
{
    struct gg_session *s = f->s;
    enum gg_status st = GG_OK;

    while (st == GG_OK && !(is_parted(f) && f->finished == f->started)) {
        bool room = f->started - f->finished < s->n_flying;

        st = !is_parted(f) && room ? start_batch(f, err) : finish_batch(f, err);
    }
    if (st != GG_OK)
        model_pipeline_break(s->model->pipeline, err);
    return st;
}

/* Another rank's layers, for each batch. */
static enum gg_status
follow(struct flight *f, struct gg_error *err)
{
    struct gg_session *s = f->s;
    struct gg_pipeline *p = s->model->pipeline;
    enum gg_status st = GG_OK, own;

    while (st == GG_OK && !is_parted(f)) {
        size_t entered = 0, left = 0;

        model_session_next_batch(s, &s->batch, f->chunks, f->n_chunks,
                                 f->scales, &f->chunk, &f->done);
        own = prepare(&s->compute, s, &s->batch, &entered, &left, err);
        if (own == GG_OK)
            st = model_pipeline_take(p, p->buffer, entered, err);
        if (own == GG_OK && st == GG_OK)
            own = model_compute_layers(&s->compute, &s->cache, &s->batch,
                                       p->buffer, p->buffer, err);
        if (own == GG_OK && st == GG_OK)
            model_session_count(s, &s->batch);
        if (own != GG_OK)
            st = error_prefix(err, own, "rank %d", (int)p->transport->rank);
        st = model_pipeline_pass(p, st, p->buffer, left, err);
    }
    return st;
}

enum gg_status
model_session_run_pipeline(struct gg_session *s, const struct gg_chunk *chunks,
                           size_t n_chunks, const float *scales,
                           struct gg_error *err)
{
    struct flight f = {
        .s = s, .chunks = chunks, .n_chunks = n_chunks, .scales = scales
    };

    model_session_part(s, chunks, n_chunks);
    return model_pipeline_leads(s->model->pipeline) ? lead(&f, err)
                                                    : follow(&f, err);
}
