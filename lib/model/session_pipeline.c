/* session_pipeline.c - evaluation by all ranks of a pipeline
 *
 * Chunks are parted into batches in the same way everywhere. Rank 0 evaluates
 * its layers for one batch after the other, and does not wait for what becomes
 * of the first before it begins the next: while ranks have work they have it at
 * once. It finishes the oldest when as many are under way as there is room for,
 * or when somebody waits for it: that may be after further calls have begun. */
#include <string.h>

#include "core/mem.h"
#include "model/session.h"
#include "model/session_remote.h"

/* A call's chunks, and how far they are parted. */
struct parting {
    struct gg_session *s;
    const struct gg_chunk *chunks;
    size_t n_chunks, chunk, done;
    const float *scales; /* of adapters */
};

static bool
is_parted(const struct parting *f)
{
    return f->chunk == f->n_chunks;
}

/* Those with these adapters: none are left where the batch is empty. */
static bool
next_batch(struct parting *f, struct batch *b)
{
    if (is_parted(f))
        return false;
    model_session_next_batch(f->s, b, f->chunks, f->n_chunks, f->scales,
                             &f->chunk, &f->done);
    return b->n_tokens > 0;
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

/* ---- rank 0 -------------------------------------------------------------- */

static enum gg_status
broken(struct gg_session *s, enum gg_status st, const struct gg_error *err)
{
    if (st != GG_OK)
        model_pipeline_break(s->model->pipeline, err);
    return st;
}

bool
model_session_flying_init(struct gg_session *s)
{
    struct session_flights *f = &s->flights;
    size_t n = (size_t)s->model->pipeline->n + 1;
    size_t n_adapters = model_session_n_adapters(s);

    f->batches = mem_array(n, sizeof(*f->batches));
    f->scales = mem_array(n * n_adapters + 1, sizeof(*f->scales));
    if (!f->batches || !f->scales)
        return false;
    for (; f->n < (int32_t)n; f->n++)
        if (!model_batch_init(&f->batches[f->n], s->n_batch, s->n_segments,
                              &s->model->hp)) {
            model_batch_clear(&f->batches[f->n]);
            return false;
        }
    return true;
}

void
model_session_flying_clear(struct gg_session *s)
{
    struct session_flights *f = &s->flights;

    for (int32_t i = 0; i < f->n; i++)
        model_batch_clear(&f->batches[i]);
    mem_free(f->batches);
    mem_free(f->scales);
    *f = (struct session_flights){ 0 };
}

static struct batch *
flying(struct gg_session *s, uint64_t i)
{
    return &s->flights.batches[i % (uint64_t)s->flights.n];
}

/* The caller's may be gone when it is finished. */
static void
keep_scales(struct gg_session *s, uint64_t i, struct batch *b)
{
    size_t n = model_session_n_adapters(s);
    float *to = s->flights.scales + n * (i % (uint64_t)s->flights.n);

    if (n)
        memcpy(to, b->scales, n * sizeof(*to));
    b->scales = to;
}

/* Its layers, for the next batch. */
static enum gg_status
start_batch(struct gg_session *s, struct batch *b, struct gg_error *err)
{
    struct gg_pipeline *p = s->model->pipeline;
    size_t entered, left = 0;
    enum gg_status st;

    keep_scales(s, s->flights.started++, b);
    st = prepare(&s->compute, s, b, &entered, &left, err);
    if (st == GG_OK)
        st = model_compute_layers(&s->compute, &s->cache, b, NULL, p->buffer,
                                  err);
    if (st == GG_OK)
        model_session_count(s, b);
    return model_pipeline_pass(p, st, p->buffer, left, err);
}

/* The output, for the oldest. */
static enum gg_status
finish_batch(struct gg_session *s, struct gg_error *err)
{
    struct gg_pipeline *p = s->model->pipeline;
    struct batch *b = flying(s, s->flights.finished++);
    size_t entered = 0, left;
    enum gg_status st = prepare(&s->output, s, b, &entered, &left, err);

    if (st == GG_OK)
        st = model_pipeline_take(p, p->buffer, entered, err);
    if (st == GG_OK)
        st = model_compute_run(&s->output, &s->cache, b, p->buffer, err);
    return broken(s, st, err);
}

/* Tickets count batches. */
enum gg_status
model_session_wait(struct gg_session *s, uint64_t ticket, struct gg_error *err)
{
    struct gg_pipeline *p = s->model->pipeline;
    enum gg_status st = GG_OK;

    while (s->flights.finished < ticket && st == GG_OK)
        st = p->broken || p->failed ? error_set(err, GG_ERR_IO, "%s", p->why)
                                    : finish_batch(s, err);
    return st;
}

int32_t
model_session_overlap(const struct gg_session *s)
{
    const struct gg_pipeline *p = s->model->pipeline;

    return p && s->model->hp.n_mtp == 0 ? p->n : 1;
}

/* What another session has under way would come first. */
static enum gg_status
wait_for_others(struct gg_session *s, struct gg_error *err)
{
    struct gg_pipeline *p = s->model->pipeline;
    struct gg_session *other = p->flying;
    enum gg_status st = GG_OK;

    if (other && other != s)
        st = model_session_wait(other, other->flights.started, err);
    p->flying = s;
    return st;
}

static enum gg_status
lead(struct parting *f, struct gg_error *err)
{
    struct gg_session *s = f->s;
    struct session_flights *a = &s->flights;
    enum gg_status st = wait_for_others(s, err);

    while (st == GG_OK && !is_parted(f)) {
        if (a->started - a->finished == (uint64_t)a->n)
            st = finish_batch(s, err);
        if (st != GG_OK || !next_batch(f, flying(s, a->started)))
            break;
        st = broken(s, start_batch(s, flying(s, a->started), err), err);
    }
    return st;
}

/* ---- the others ---------------------------------------------------------- */

/* A rank's layers, for a batch. */
static enum gg_status
follow_batch(struct gg_session *s, struct batch *b, struct gg_error *err)
{
    struct gg_pipeline *p = s->model->pipeline;
    size_t entered = 0, left = 0;
    enum gg_status st = GG_OK;
    enum gg_status own = prepare(&s->compute, s, b, &entered, &left, err);

    if (own == GG_OK)
        st = model_pipeline_take(p, p->buffer, entered, err);
    if (own == GG_OK && st == GG_OK)
        own = model_compute_layers(&s->compute, &s->cache, b, p->buffer,
                                   p->buffer, err);
    if (own == GG_OK && st == GG_OK)
        model_session_count(s, b);
    if (own != GG_OK)
        st = error_prefix(err, own, "rank %d", (int)p->transport->rank);
    return model_pipeline_pass(p, st, p->buffer, left, err);
}

static enum gg_status
follow(struct parting *f, struct gg_error *err)
{
    struct gg_session *s = f->s;
    enum gg_status st = GG_OK;

    while (st == GG_OK && next_batch(f, &s->batch))
        st = follow_batch(s, &s->batch, err);
    return st;
}

enum gg_status
model_session_run_pipeline(struct gg_session *s, const struct gg_chunk *chunks,
                           size_t n_chunks, const float *scales,
                           struct gg_error *err)
{
    struct parting f = {
        .s = s, .chunks = chunks, .n_chunks = n_chunks, .scales = scales
    };

    model_session_part(s, chunks, n_chunks);
    return model_pipeline_leads(s->model->pipeline) ? lead(&f, err)
                                                    : follow(&f, err);
}
