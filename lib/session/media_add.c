/* media_add.c - a session gets rows: whether its model has a place for them */
#include "graph/arch.h"
#include "session/impl.h"
#include "session/pipeline.h"
#include "session/session.h"

/* The longest block of rows. */
static size_t
longest_block(const struct gg_medium *g)
{
    size_t most = 0, first = 0;

    for (size_t i = 0; i < g->n && g->blocks; i++) {
        if (g->blocks[i] < 0 || g->blocks[i] != g->blocks[first])
            first = i;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return most;
}

/* An encoder's texts have no rows yet: what follows its embeddings differs from
 * family to family. */
static enum gg_status
check_place(const struct gg_session *s, const struct gg_medium *g,
            struct gg_error *err)
{
    const struct model_hparams *hp = &s->model->hp;
    size_t block = longest_block(g);

    if (hp->encoder || hp->n_encoder > 0)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s is a family of encoders: their texts have no rows "
                         "of images or sounds",
                         s->model->arch->name);
    if (block > (size_t)s->n_batch)
        return error_set(err, GG_ERR_ARG,
                         "a block of %zu rows is longer than a batch of %d ids",
                         block, (int)s->n_batch);
    if (g->n_deeper && (hp->n_altup > 0 || hp->n_stream > 0 ||
                        g->n_deeper >= (size_t)hp->n_layer))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s of %d layers takes no rows after %zu of them",
                         s->model->arch->name, (int)hp->n_layer, g->n_deeper);
    if (g->positions && !graph_rope_has_sections(hp))
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "rows have positions in time, height and width, and "
                         "the model's rotary positions have no sections");
    return GG_OK;
}

enum gg_status
gg_session_add_rows(struct gg_session *session, const struct gg_medium *medium,
                    int32_t *first, struct gg_error *err)
{
    struct gg_session *s = session;
    int32_t before = s ? s->media.n_ids : 0;
    size_t given = s ? s->media.n_given : 0;
    enum gg_status st;

    if (!s || !medium || !first)
        return error_null(err);
    st = check_place(s, medium, err);
    if (st == GG_OK)
        st = session_media_add(&s->media, medium, first, err);
    if (st != GG_OK || s->media.n_given == given)
        return st;
    if (!session_compute_take_rows(&s->compute, &s->cache, s->n_batch,
                                   s->media.n_deeper))
        return error_nomem(err);
    return s->media.n_ids == before
               ? GG_OK
               : s->model->pipeline->call->rows(s, medium, err);
}

void
gg_session_forget_rows(struct gg_session *session, int32_t first)
{
    const struct medium *m =
        session ? session_media_of(&session->media, first) : NULL;

    if (m && m->first == first)
        session_media_forget(&session->media, first,
                             session_slots_hold(&session->slots, m));
}

enum gg_status
session_check_given(const struct gg_session *session, const int32_t *ids,
                    size_t n, struct gg_error *err)
{
    size_t i = session_media_missing(&session->media, ids, n);
    const struct medium *m;

    if (i == n)
        return GG_OK;
    m = session_media_of(&session->media, ids[i]);
    return error_set(err, GG_ERR_ARG,
                     "id %d is a row of a medium that is to be evaluated "
                     "again, and is not here: SHA-256 %02x%02x%02x%02x...",
                     (int)ids[i], m->hash[0], m->hash[1], m->hash[2],
                     m->hash[3]);
}

/* ---- what others ask ----------------------------------------------------- */

size_t
session_stray_id(const struct gg_session *session, const int32_t *ids, size_t n)
{
    return session_media_stray(&session->media, ids, n);
}

enum gg_status
session_check_ids(const struct gg_session *session, const int32_t *ids,
                  size_t n, struct gg_error *err)
{
    size_t i = session_media_stray(&session->media, ids, n);

    if (i == n)
        return GG_OK;
    return error_set(err, GG_ERR_ARG, "id %d is not in 0..%d", (int)ids[i],
                     (int)session->media.n_ids - 1);
}

size_t
session_edge(const struct gg_session *session, const int32_t *ids, size_t n)
{
    size_t encoded = session_encoder_ids(session, ids, n);

    return encoded == n && session->model->hp.n_encoder > 0
               ? 0
               : session_media_edge(&session->media, ids, n);
}

bool
session_is_asked(const struct gg_session *session, const int32_t *ids, size_t n,
                 size_t i)
{
    return session->model->hp.n_encoder > 0 &&
           i <= session_encoder_ids(session, ids, n);
}

size_t
session_medium_end(const struct gg_session *session, const int32_t *ids,
                   size_t n, size_t at)
{
    size_t encoded = session_encoder_ids(session, ids, n);

    if (session->model->hp.n_encoder > 0 && at <= encoded)
        return encoded < n ? encoded + 1 : n;
    return session_media_end(&session->media, ids, n, at);
}
