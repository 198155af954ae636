/* run.c - evaluation by all ranks of a pipeline
 *
 * Chunks are parted into batches in the same way everywhere. Rank 0 evaluates
 * its layers for one batch after the other, and does not wait for what becomes
 * of the first before it begins the next: while ranks have work they have it at
 * once. It finishes the oldest when as many are under way as there is room for,
 * or when somebody waits for it: that may be after further calls have begun. */
#include <string.h>

#include "core/mem.h"
#include "pipeline/remote.h"
#include "session/batches.h"
#include "session/session.h"

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

/* The next batch of chunks with these adapters: none are left where it is
 * empty. */
static bool
next_batch(struct parting *f, struct batch *b)
{
    if (is_parted(f))
        return false;
    session_next_batch(f->s, b, f->chunks, f->n_chunks, f->scales, &f->chunk,
                       &f->done);
    return b->n_tokens > 0;
}

/* Room for what enters or leaves layers for a batch. */
static enum gg_status
prepare(struct compute *c, struct gg_session *s, const struct batch *b,
        size_t *entered, size_t *left, struct gg_error *err)
{
    struct pipeline *p = pipeline_of_session(s);
    size_t n;

    if (!session_compute_sizes(c, &s->cache, b, entered, left))
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
        pipeline_break(pipeline_of_session(s), err);
    return st;
}

bool
pipeline_flying_init(struct gg_session *s)
{
    struct pipeline_session *f = s->shared = mem_zalloc(sizeof(*f));
    size_t n = (size_t)s->model->pipeline->n + 1;
    size_t n_adapters = session_n_adapters(s);

    if (!f)
        return false;
    f->number = -1;
    f->batches = mem_array(n, sizeof(*f->batches));
    f->scales = mem_array(n * n_adapters + 1, sizeof(*f->scales));
    if (!f->batches || !f->scales)
        return false;
    for (; f->n < (int32_t)n; f->n++)
        if (!session_batch_init(&f->batches[f->n], s->n_batch, s->n_segments,
                                &s->model->hp, &s->slots)) {
            session_batch_clear(&f->batches[f->n]);
            return false;
        }
    return true;
}

void
pipeline_flying_clear(struct gg_session *s)
{
    struct pipeline_session *f = s->shared;

    if (!f)
        return;
    session_compute_clear(&f->output);
    for (int32_t i = 0; i < f->n; i++)
        session_batch_clear(&f->batches[i]);
    mem_free(f->batches);
    mem_free(f->scales);
    mem_free(f);
    s->shared = NULL;
}

static struct batch *
flying(struct gg_session *s, uint64_t i)
{
    return &s->shared->batches[i % (uint64_t)s->shared->n];
}

/* The caller's may be gone when it is finished. */
static void
keep_scales(struct gg_session *s, uint64_t i, struct batch *b)
{
    size_t n = session_n_adapters(s);
    float *to = s->shared->scales + n * (i % (uint64_t)s->shared->n);

    if (n)
        memcpy(to, b->scales, n * sizeof(*to));
    b->scales = to;
}

/* Its layers, for the next batch. */
static enum gg_status
start_batch(struct gg_session *s, struct batch *b, struct gg_error *err)
{
    struct pipeline *p = pipeline_of_session(s);
    size_t entered, left = 0;
    enum gg_status st;

    keep_scales(s, s->ticket++, b);
    st = prepare(&s->compute, s, b, &entered, &left, err);
    if (st == GG_OK)
        st = session_compute_layers(&s->compute, &s->cache, b, NULL, p->buffer,
                                    err);
    if (st == GG_OK)
        session_count(s, b);
    return pipeline_pass(p, st, p->buffer, left, err);
}

/* The output, for the oldest. */
static enum gg_status
finish_batch(struct gg_session *s, struct gg_error *err)
{
    struct pipeline *p = pipeline_of_session(s);
    struct batch *b = flying(s, s->shared->finished++);
    size_t entered = 0, left;
    enum gg_status st = prepare(&s->shared->output, s, b, &entered, &left, err);

    if (st == GG_OK)
        st = pipeline_take(p, p->buffer, entered, err);
    if (st == GG_OK)
        st = session_compute_run(&s->shared->output, &s->cache, b, p->buffer,
                                 err);
    return broken(s, st, err);
}

/* Tickets count batches. */
enum gg_status
pipeline_wait(struct gg_session *s, uint64_t ticket, struct gg_error *err)
{
    struct pipeline *p = pipeline_of_session(s);
    enum gg_status st = GG_OK;

    while (s->shared && s->shared->finished < ticket && st == GG_OK)
        st = p->broken || p->failed ? error_set(err, GG_ERR_IO, "%s", p->why)
                                    : finish_batch(s, err);
    return st;
}

/* Waits for batches of another session, which would come first. */
static enum gg_status
wait_for_others(struct gg_session *s, struct gg_error *err)
{
    struct pipeline *p = pipeline_of_session(s);
    struct gg_session *other = p->flying;
    enum gg_status st = GG_OK;

    if (other && other != s)
        st = pipeline_wait(other, other->ticket, err);
    p->flying = s;
    return st;
}

static enum gg_status
lead(struct parting *f, struct gg_error *err)
{
    struct gg_session *s = f->s;
    struct pipeline_session *a = s->shared;
    enum gg_status st = wait_for_others(s, err);

    while (st == GG_OK && !is_parted(f)) {
        if (s->ticket - a->finished == (uint64_t)a->n)
            st = finish_batch(s, err);
        if (st != GG_OK || !next_batch(f, flying(s, s->ticket)))
            break;
        st = broken(s, start_batch(s, flying(s, s->ticket), err), err);
    }
    return st;
}

/* ---- the others ---------------------------------------------------------- */

/* A rank's layers, for a batch. */
static enum gg_status
follow_batch(struct gg_session *s, struct batch *b, struct gg_error *err)
{
    struct pipeline *p = pipeline_of_session(s);
    size_t entered = 0, left = 0;
    enum gg_status st = GG_OK;
    enum gg_status own = prepare(&s->compute, s, b, &entered, &left, err);

    if (own == GG_OK)
        st = pipeline_take(p, p->buffer, entered, err);
    if (own == GG_OK && st == GG_OK)
        own = session_compute_layers(&s->compute, &s->cache, b, p->buffer,
                                     p->buffer, err);
    if (own == GG_OK && st == GG_OK)
        session_count(s, b);
    if (own != GG_OK)
        st = error_prefix(err, own, "rank %d", (int)p->base.rank);
    return pipeline_pass(p, st, p->buffer, left, err);
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
pipeline_run(struct gg_session *s, const struct gg_chunk *chunks,
             size_t n_chunks, const float *scales, struct gg_error *err)
{
    struct parting f = {
        .s = s, .chunks = chunks, .n_chunks = n_chunks, .scales = scales
    };

    session_part(s, chunks, n_chunks);
    return pipeline_leads(pipeline_of_session(s)) ? lead(&f, err)
                                                  : follow(&f, err);
}
