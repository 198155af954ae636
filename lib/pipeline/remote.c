/* remote.c - a session of a pipeline: what rank 0 tells the others of
 * it */
#include <string.h>

#include "core/mem.h"
#include "pipeline/commands.h"
#include "session/recurrent.h"
#include "session/session.h"

/* ---- sessions ----------------------------------------------------------- */

/* The pipeline that this process leads; NULL: it follows. */
static struct pipeline *
led(const struct gg_session *s)
{
    struct pipeline *p = pipeline_of_session(s);

    return pipeline_leads(p) ? p : NULL;
}

/* The session's number in commands. */
static int32_t
number_of(const struct gg_session *s)
{
    return s->shared ? s->shared->number : -1;
}

static int32_t
free_number(const struct pipeline *p)
{
    int32_t i = 0;

    while (i < PIPELINE_MAX_SESSIONS && p->sessions[i])
        i++;
    return i;
}

/* The other ranks begin a session, and all of them could. */
static enum gg_status
begin_elsewhere(struct pipeline *p, struct gg_session *s, struct gg_error *err)
{
    const struct gg_session_params *params = &s->params;
    int32_t number = free_number(p);
    struct pipeline_command c = {
        .op = PIPELINE_SESSION,
        .session = number,
        .args = { s->n_ctx, s->n_slots, s->n_batch, (int64_t)params->cache_type,
                  (params->bf16 ? PIPELINE_BF16 : 0) |
                      (params->no_rotation ? PIPELINE_NO_ROTATION : 0),
                  (int64_t)(params->has_value_type ? params->value_type
                                                   : params->cache_type),
                  params->n_encoder_ids },
    };
    enum gg_status st;

    if (number == PIPELINE_MAX_SESSIONS)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "a pipeline has %d sessions at most",
                         PIPELINE_MAX_SESSIONS);
    st = pipeline_tell_all(p, &c, NULL, err);
    if (st == GG_OK)
        st = pipeline_agree(&p->base, GG_OK, err);
    if (st != GG_OK)
        return st;
    s->shared->number = number;
    p->sessions[number] = s;
    return GG_OK;
}

/* Memory beyond what all sessions have: of snapshots, so that no rank has one
 * that others lack; in rank 0 more batches than there are ranks, and the
 * output. */
static enum gg_status
begin(struct gg_session *s, struct gg_error *err)
{
    struct pipeline *p = led(s);
    enum gg_status st;

    if (s->cache.recurrent.n_layer && !session_recurrent_reserve(&s->cache))
        return error_nomem(err);
    if (!p)
        return GG_OK;
    if (!pipeline_flying_init(s))
        return error_nomem(err);
    st = session_compute_init_output(&s->shared->output, &s->compute, &s->cache,
                                     s->n_batch, err);
    if (st != GG_OK)
        return st;
    session_compute_watch(&s->shared->output, s->params.watch,
                          s->params.watch_data);
    return begin_elsewhere(p, s, err);
}

static void
end_elsewhere(struct pipeline *p, struct gg_session *s)
{
    struct pipeline_command c = { .op = PIPELINE_END,
                                  .session = s->shared->number };
    struct gg_error e;

    (void)pipeline_wait(s, s->ticket, &e);
    if (p->flying == s)
        p->flying = NULL;
    (void)pipeline_tell_all(p, &c, NULL, NULL);
    p->sessions[s->shared->number] = NULL;
}

static void
end(struct gg_session *s)
{
    if (s->shared && s->shared->number >= 0)
        end_elsewhere(pipeline_of_session(s), s);
    pipeline_flying_clear(s);
}

/* ---- chunks -------------------------------------------------------------- */

static struct told_chunk
told(const struct gg_chunk *c)
{
    unsigned wanted = 0;

    wanted |= c->rows.logits || c->rows.best ? WANT_LOGITS : 0;
    wanted |= c->scores.logprobs ? WANT_SCORES : 0;
    wanted |= c->scores.next ? WANT_NEXT : 0;
    wanted |= c->embed.values ? WANT_EMBEDDING : 0;
    return (struct told_chunk){
        .slot = c->slot,
        .pooling = (int32_t)c->embed.pooling,
        .wanted = wanted,
        .n = c->n,
        .n_last = c->rows.n_last,
        .first = c->scores.first,
    };
}

static char *
append(char *to, const void *from, size_t n)
{
    if (n)
        memcpy(to, from, n);
    return to + n;
}

/* An evaluation that has begun goes on to its end, so that the callback is
 * asked before. */
static enum gg_status
tell(struct gg_session *s, const struct gg_chunk *chunks, size_t n_chunks,
     struct gg_error *err)
{
    struct pipeline *p = led(s);
    struct pipeline_command c = { .op = PIPELINE_EVAL,
                                  .session = number_of(s) };
    size_t scales = session_n_adapters(s) * sizeof(float);
    struct told_chunk *one;
    char *bytes, *to;
    enum gg_status st;

    if (!p)
        return GG_OK;
    if (s->params.abort && s->params.abort(s->params.abort_data))
        return error_set(err, GG_ERR_ABORTED, "stopped");
    c.args[0] = (int64_t)n_chunks;
    c.size = n_chunks * (sizeof(*one) + scales);
    for (size_t i = 0; i < n_chunks; i++)
        c.size += chunks[i].n * sizeof(int32_t);
    bytes = mem_alloc((size_t)c.size);
    if (!bytes)
        return error_nomem(err);
    one = (struct told_chunk *)(void *)bytes;
    for (size_t i = 0; i < n_chunks; i++)
        one[i] = told(&chunks[i]);
    to = bytes + n_chunks * sizeof(*one);
    for (size_t i = 0; i < n_chunks; i++)
        to = append(to, session_scales(s, &chunks[i]), scales);
    for (size_t i = 0; i < n_chunks; i++)
        to = append(to, chunks[i].ids, chunks[i].n * sizeof(int32_t));
    st = pipeline_tell_all(p, &c, bytes, err);
    mem_free(bytes);
    return st;
}

/* ---- memory -------------------------------------------------------------- */

/* A command without bytes, to all others. */
static void
tell_op(struct gg_session *s, enum pipeline_op op, int32_t a, int32_t b,
        int32_t c)
{
    struct pipeline_command told = { .op = (int32_t)op,
                                     .session = number_of(s),
                                     .args = { a, b, c } };

    if (led(s))
        (void)pipeline_tell_all(led(s), &told, NULL, NULL);
}

static void
cut(struct gg_session *s, int32_t slot, int32_t n)
{
    tell_op(s, PIPELINE_TRUNCATE, slot, n, 0);
}

static void
copy(struct gg_session *s, int32_t to, int32_t from, int32_t n)
{
    tell_op(s, PIPELINE_COPY, to, from, n);
}

static void
draft(struct gg_session *s, int32_t slot, int32_t past, int32_t n)
{
    tell_op(s, PIPELINE_DRAFT, slot, past, n);
}

static void
hold(struct gg_session *s, const struct gg_chunk *chunk)
{
    struct pipeline_command c = { .op = PIPELINE_LOAD,
                                  .session = number_of(s),
                                  .args = { chunk->slot },
                                  .size = chunk->n * sizeof(*chunk->ids) };

    if (led(s))
        (void)pipeline_tell_all(led(s), &c, chunk->ids, NULL);
}

/* Rows go to all ranks: some have layers after which rows are added, and some
 * families' layers read embeddings. */
static enum gg_status
rows(struct gg_session *s, const struct gg_medium *medium, struct gg_error *err)
{
    struct told_medium t = {
        .n = medium->n,
        .width = medium->width,
        .n_deeper = medium->n_deeper,
        .has_positions = medium->positions != NULL,
        .has_blocks = medium->blocks != NULL,
    };
    struct medium_sizes sizes = pipeline_medium_sizes(&t);
    struct pipeline_command c = { .op = PIPELINE_ROWS,
                                  .session = number_of(s),
                                  .size = sizeof(t) + sizes.rows +
                                          sizes.deeper + sizes.positions +
                                          sizes.blocks };
    enum gg_status st;
    char *bytes, *to;

    if (!led(s))
        return GG_OK;
    bytes = mem_alloc((size_t)c.size);
    if (!bytes)
        return error_nomem(err);
    memcpy(t.hash, medium->hash, sizeof(t.hash));
    to = append(bytes, &t, sizeof(t));
    to = append(to, medium->rows, sizes.rows);
    to = append(to, medium->deeper, sizes.deeper);
    to = append(to, medium->positions, sizes.positions);
    append(to, medium->blocks, sizes.blocks);
    st = pipeline_tell_all(led(s), &c, bytes, err);
    mem_free(bytes);
    return st;
}

static struct pipeline_command
rows_command(const struct gg_session *s, enum pipeline_op op,
             const struct pipeline_rows *rows)
{
    return (struct pipeline_command){
        .op = (int32_t)op,
        .session = number_of(s),
        .args = { rows->recurrent, rows->layer, rows->which, rows->first,
                  rows->n },
    };
}

static enum gg_status
save(struct gg_session *s, const struct pipeline_rows *rows, char *to,
     struct gg_error *err)
{
    struct pipeline *p = led(s);
    struct pipeline_command c = rows_command(s, PIPELINE_GET, rows);
    int32_t rank = pipeline_rank_of(p, rows->layer);
    enum gg_status st = pipeline_tell(p, rank, &c, NULL, err);

    return st == GG_OK ? pipeline_reply(p, rank, to, rows->size, err) : st;
}

static void
load(struct gg_session *s, const struct pipeline_rows *rows, const char *from)
{
    struct pipeline *p = led(s);
    struct pipeline_command c = rows_command(s, PIPELINE_SET, rows);

    c.size = rows->size;
    (void)pipeline_tell(p, pipeline_rank_of(p, rows->layer), &c, from, NULL);
}

/* ---- all of them --------------------------------------------------------- */

static void
close_model(struct gg_pipeline *p)
{
    static const struct pipeline_command closed = { .op = PIPELINE_CLOSE };

    if (p->rank == 0)
        (void)pipeline_tell_all(pipeline_of(p), &closed, NULL, NULL);
}

const struct pipeline_calls pipeline_calls = {
    .divide = pipeline_divide,
    .agree = pipeline_agree,
    .close = close_model,
    .begin = begin,
    .end = end,
    .tell = tell,
    .eval = pipeline_run,
    .wait = pipeline_wait,
    .cut = cut,
    .copy = copy,
    .draft = draft,
    .hold = hold,
    .rows = rows,
    .save = save,
    .load = load,
};
