/* sequence.c - the ids of a sequence, and how they come and go */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "core/error.h"
#include "core/mem.h"
#include "engine/engine.h"
#include "engine/shift.h"

enum gg_status
gg_sequence_new(struct gg_engine *engine, struct gg_sequence **out,
                struct gg_error *err)
{
    struct gg_sequence *q;

    if (!engine || !out)
        return error_null(err);
    q = mem_zalloc(sizeof(*q));
    if (!q)
        return error_nomem(err);
    q->engine = engine;
    q->slot = -1;
    *out = q;
    return GG_OK;
}

static bool
reserve_ids(struct gg_sequence *q, size_t n)
{
    if (n > SIZE_MAX / 2 - q->n_ids)
        return false;
    n += q->n_ids;
    if (!mem_grow(&q->ids, &q->cap, n, sizeof(*q->ids)))
        return false;
    return !q->engine->score ||
           mem_grow(&q->logprobs, &q->cap_logprobs, n, sizeof(*q->logprobs));
}

enum gg_status
gg_sequence_copy(const struct gg_sequence *from, struct gg_sequence **out,
                 struct gg_error *err)
{
    struct gg_sequence *q;
    enum gg_status st;

    if (!from || !out)
        return error_null(err);
    st = gg_sequence_new(from->engine, &q, err);
    if (st != GG_OK)
        return st;
    if (!reserve_ids(q, from->n_ids)) {
        gg_sequence_free(q);
        return error_nomem(err);
    }
    if (from->n_ids)
        memcpy(q->ids, from->ids, from->n_ids * sizeof(*q->ids));
    q->n_ids = from->n_ids;
    q->n_dropped = from->n_dropped;
    st = gg_sequence_set_scales(q, from->scales, err);
    if (st == GG_OK && from->key)
        st = gg_sequence_set_key(q, from->key, err);
    if (st == GG_OK)
        *out = q;
    else
        gg_sequence_free(q);
    return st;
}

static enum gg_status
check_scales(const float *scales, size_t n, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(scales[i]))
            return error_set(err, GG_ERR_ARG,
                             "the scale of an adapter is not finite");
    return GG_OK;
}

enum gg_status
gg_sequence_set_scales(struct gg_sequence *sequence, const float *scales,
                       struct gg_error *err)
{
    struct gg_sequence *q = sequence;
    size_t n = q ? q->engine->n_adapters : 0;
    float *copy = NULL;
    enum gg_status st;

    if (!q)
        return error_null(err);
    st = scales ? check_scales(scales, n, err) : GG_OK;
    if (st != GG_OK)
        return st;
    if (scales && n) {
        copy = mem_dup(scales, n * sizeof(*scales));
        if (!copy)
            return error_nomem(err);
    }
    mem_free(q->scales);
    q->scales = copy;
    engine_sequence_release(q, 0);
    q->n_known = q->stored = 0;
    return GG_OK;
}

enum gg_status
gg_sequence_set_key(struct gg_sequence *sequence, const char *key,
                    struct gg_error *err)
{
    struct gg_sequence *q = sequence;
    char *copy;

    if (!q)
        return error_null(err);
    copy = key ? mem_strndup(key, strlen(key)) : NULL;
    if (key && !copy)
        return error_nomem(err);
    mem_free(q->key);
    q->key = copy;
    engine_sequence_release(q, 0);
    q->n_known = q->stored = 0;
    return GG_OK;
}

size_t
gg_sequence_evaluated(const struct gg_sequence *sequence)
{
    return sequence && sequence->slot >= 0 ? sequence->n_held : 0;
}

size_t
gg_sequence_shared(const struct gg_sequence *sequence)
{
    return sequence && sequence->slot >= 0 ? sequence->n_shared : 0;
}

void
gg_sequence_free(struct gg_sequence *sequence)
{
    if (!sequence)
        return;
    engine_leave_slot(sequence);
    mem_free(sequence->ids);
    mem_free(sequence->logprobs);
    mem_free(sequence->scales);
    mem_free(sequence->key);
    mem_free(sequence->sum);
    mem_free(sequence);
}

void
gg_sequence_keep(struct gg_sequence *sequence, bool keep)
{
    if (sequence)
        sequence->keep = keep;
}

/* ---- ids ----------------------------------------------------------------- */

void
engine_sequence_release(struct gg_sequence *q, size_t n)
{
    q->given = q->given < n ? q->given : n;
    if (q->n_held > n)
        q->n_held = (size_t)gg_session_truncate(q->engine->session, q->slot,
                                                (int32_t)n);
}

static enum gg_status
say_full(const struct gg_sequence *q, size_t more, struct gg_error *err)
{
    const struct gg_engine *e = q->engine;

    if (e->shift || q->n_ids == 0)
        return error_set(err, GG_ERR_CONTEXT,
                         "%zu ids at once are above the context of %zu", more,
                         e->n_ctx);
    return error_set(err, GG_ERR_CONTEXT,
                     "context is full: %zu ids and %zu more are above the "
                     "limit of %zu",
                     q->n_ids, more, e->n_ctx);
}

/* Drops what must go for `more` ids. False: nothing helps. */
static bool
grow_ids(struct gg_sequence *q, size_t more)
{
    const struct gg_engine *e = q->engine;
    size_t kept, count;

    if (q->n_ids <= e->n_ctx && more <= e->n_ctx - q->n_ids)
        return true;
    if (!e->shift || q->n_ids == 0)
        return false;
    kept = engine_shift_kept(q->n_ids, q->ids[0], gg_vocab_bos(e->vocab));
    kept = session_medium_end(e->session, q->ids, q->n_ids, kept);
    count = engine_shift_count(q->n_ids, kept, more, e->n_ctx);
    if (count == 0)
        return false;
    count = session_medium_end(e->session, q->ids, q->n_ids, kept + count) -
            kept; /* whole media */
    engine_shift_ids(q->ids, q->n_ids, kept, count);
    q->n_ids -= count;
    q->n_dropped += count;
    q->n_known = q->stored = q->split = 0;
    engine_sequence_release(q, 0);
    return true;
}

enum gg_status
gg_sequence_put(struct gg_sequence *sequence, const int32_t *ids, size_t n,
                struct gg_error *err)
{
    struct gg_sequence *q = sequence;
    enum gg_status st;

    if (!q || (!ids && n))
        return error_null(err);
    st = session_check_ids(q->engine->session, ids, n, err);
    if (st == GG_OK && !reserve_ids(q, n))
        st = error_nomem(err);
    if (st == GG_OK && !grow_ids(q, n))
        st = say_full(q, n, err);
    if (st != GG_OK)
        return st;
    if (n)
        memcpy(q->ids + q->n_ids, ids, n * sizeof(*ids));
    q->n_ids += n;
    return GG_OK;
}

void
gg_sequence_truncate(struct gg_sequence *sequence, size_t n)
{
    struct gg_sequence *q = sequence;

    if (!q || n >= q->n_ids)
        return;
    q->n_ids = n;
    if (q->n_known > n)
        q->n_known = n;
    if (q->stored > n)
        q->stored = n;
    /* of an engine that scores the last id is not evaluated */
    engine_sequence_release(q, n - (q->engine->score && n > 0));
}

const int32_t *
gg_sequence_ids(const struct gg_sequence *sequence, size_t *n)
{
    if (n)
        *n = sequence ? sequence->n_ids : 0;
    return sequence ? sequence->ids : NULL;
}

uint64_t
gg_sequence_dropped(const struct gg_sequence *sequence)
{
    return sequence ? sequence->n_dropped : 0;
}

const float *
gg_sequence_logprobs(const struct gg_sequence *sequence, size_t *n)
{
    if (n)
        *n = sequence ? sequence->n_known : 0;
    return sequence ? sequence->logprobs : NULL;
}

/* ---- states -------------------------------------------------------------- */

enum gg_status
gg_sequence_load(struct gg_sequence *sequence, const struct gg_state_file *file,
                 size_t i, struct gg_error *err)
{
    struct gg_sequence *q = sequence;
    const struct gg_state *state = gg_state_get(file);
    const struct gg_state_sequence *from;

    if (!q || !state)
        return error_null(err);
    if (q->n_ids > 0 || i >= state->n_sequences)
        return error_set(err, GG_ERR_ARG,
                         "no empty sequence, or no sequence "
                         "of that number");
    from = &state->sequences[i];
    if (!reserve_ids(q, from->n_ids))
        return error_nomem(err);
    memcpy(q->ids, from->ids, from->n_ids * sizeof(*q->ids));
    q->n_ids = from->n_ids;
    q->n_dropped = from->n_dropped;
    if (from->n_held > 0 && !q->scales) {
        engine_take_slot(q);
        q->n_held =
            (size_t)gg_session_load(q->engine->session, q->slot, file, i);
    }
    return GG_OK;
}

struct gg_state_sequence
gg_sequence_state(const struct gg_sequence *sequence)
{
    const struct gg_sequence *q = sequence;

    if (!q)
        return (struct gg_state_sequence){ .slot = -1 };
    return (struct gg_state_sequence){
        .n_dropped = q->n_dropped,
        .ids = q->ids,
        .n_ids = q->n_ids,
        .n_held = q->slot >= 0 && q->engine->can.save ? q->n_held : 0,
        .slot = q->slot,
    };
}
