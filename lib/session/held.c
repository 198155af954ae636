/* held.c - what a session holds: lengths of its sequences, what they
 * can be cut or copied to, memory, times */
#include "graph/arch.h"
#include "session/mtp_rows.h"
#include "session/recurrent.h"
#include "session/shared_rows.h"
#include "session/session.h"
#include "session/impl.h"
#include "session/pipeline.h"

static int32_t
min_i32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

int32_t
gg_session_n_ctx(const struct gg_session *session)
{
    return session ? session->n_ctx : 0;
}

static bool
has_slot(const struct gg_session *s, int32_t slot)
{
    return s && slot >= 0 && slot < s->n_slots;
}

int32_t
session_n_vocab(const struct gg_session *session)
{
    return session->model->hp.n_vocab;
}

size_t
session_n_adapters(const struct gg_session *session)
{
    return session->model->files.n_adapters;
}

bool
session_is_on_cpu(const struct gg_session *session)
{
    return ggml_backend_dev_type(graph_device(session->model)) ==
           GGML_BACKEND_DEVICE_TYPE_CPU;
}

int32_t
gg_session_n_slots(const struct gg_session *session)
{
    return session ? session->n_slots : 0;
}

int32_t
gg_session_length(const struct gg_session *session, int32_t slot)
{
    return has_slot(session, slot) ? session->slots.length[slot] : 0;
}

/* An encoder cannot go on from the middle of a text. */
struct session_can
session_can(const struct gg_session *session)
{
    bool any = !session->model->hp.encoder;

    return (struct session_can){
        .truncate = any,
        .goes_back = session->cache.recurrent.n_layer > 0,
        .copy = any,
        .pieces = any && !session->model->pipeline->divided,
        .save = any,
    };
}

/* Ids that the cache lacks need nothing of it. */
int32_t
session_kept(const struct gg_session *session, int32_t slot, int32_t n)
{
    const struct gg_session *s = session;
    int32_t there;

    n = session_slots_edge(&s->slots, slot, min_i32(n, s->slots.length[slot]));
    if (n < s->slots.length[slot] && !session_can(s).truncate)
        return 0;
    there = min_i32(n, s->slots.there[slot]);
    if (session_cache_kept(&s->cache, slot, there) == there)
        return n;
    return session_cache_kept(&s->cache, slot, there);
}

/* The cache has rows of no more ids than the slot holds. */
static void
cut_rows(struct gg_session *s, int32_t slot)
{
    int32_t n = s->slots.there[slot];

    session_shared_cut(&s->cache, slot, n);
    session_recurrent_cut(&s->cache, slot, n);
}

/* Hidden vectors of n ids stay, also where recurrent layers go back further:
 * mostly the same ids come again. */
int32_t
gg_session_truncate(struct gg_session *session, int32_t slot, int32_t n)
{
    if (!has_slot(session, slot) || n < 0)
        return gg_session_length(session, slot);
    n = session_slots_edge(&session->slots, slot, n);
    session_cache_mtp_cut(&session->cache, slot, n);
    session->model->pipeline->call->cut(session, slot, n);
    n = session_kept(session, slot, n);
    session_slots_cut(&session->slots, slot, n);
    cut_rows(session, slot);
    return n;
}

int32_t
gg_session_copy(struct gg_session *session, int32_t to, int32_t from, int32_t n)
{
    if (!has_slot(session, to) || !has_slot(session, from) || n < 0)
        return gg_session_length(session, to);
    n = session_slots_edge(&session->slots, from, n);
    session->model->pipeline->call->copy(session, to, from, n);
    n = session_kept(session, from, n);
    if (!session_slots_copy(&session->slots, to, from, n)) {
        n = 0;
        session_slots_cut(&session->slots, to, n);
    }
    if (session->slots.there[to] > 0 && to != from)
        session_cache_copy(&session->cache, to, from, session->slots.there[to]);
    else
        cut_rows(session, to);
    session_cache_mtp_cut(&session->cache, to, session->slots.there[to]);
    return n;
}

void
gg_session_memory(const struct gg_session *session, size_t *cache,
                  size_t *compute)
{
    if (cache)
        *cache = session ? session_cache_size(&session->cache) : 0;
    if (compute)
        *compute = session ? session_compute_size(&session->compute) +
                                 session_compute_size(&session->mtp)
                           : 0;
}

int32_t
gg_session_snapshots(const struct gg_session *session, size_t *bytes)
{
    int32_t n = session ? session->cache.recurrent.n_snapshots : 0;

    if (bytes)
        *bytes =
            n ? (size_t)n * session_recurrent_row_size(&session->cache) : 0;
    return n;
}

size_t
gg_session_used(const struct gg_session *session)
{
    return session ? session_cache_used(&session->cache) : 0;
}

size_t
gg_session_shared(const struct gg_session *session, int32_t *n_slots)
{
    int32_t n = 0;
    size_t size = session ? session_shared_bytes(&session->cache, &n) : 0;

    if (n_slots)
        *n_slots = n;
    return size;
}

const struct gg_profile_row *
gg_session_profile(struct gg_session *session, size_t *n)
{
    size_t unasked;

    n = n ? n : &unasked;
    *n = 0;
    return session && session->profile
               ? session_profile_rows(session->profile, n)
               : NULL;
}
