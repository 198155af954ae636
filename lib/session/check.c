/* check.c - chunks that a caller gives: whether they can be evaluated */
#include <math.h>

#include "graph/adapter.h"
#include "graph/arch.h"
#include "session/chunks.h"
#include "session/session.h"

/* A row is given, and has no probability. */
static enum gg_status
check_next(const struct gg_session *s, const int32_t *ids, size_t n,
           struct gg_error *err)
{
    enum gg_status st = session_check_ids(s, ids, n, err);

    for (size_t i = 0; i < n && st == GG_OK; i++)
        if (session_media_has_row(&s->media, ids[i]))
            st = error_set(err, GG_ERR_ARG,
                           "id %d is a row's, which has no probability",
                           (int)ids[i]);
    return st;
}

static enum gg_status
check_ids(const struct gg_session *s, const struct gg_chunk *c,
          struct gg_error *err)
{
    size_t n_next = !c->scores.next    ? 0
                    : c->scores.n_next ? c->scores.n_next
                                       : 1;
    enum gg_status st = check_next(s, c->scores.next, n_next, err);
    size_t broken;

    if (st == GG_OK)
        st = session_check_ids(s, c->ids, c->n, err);
    if (st == GG_OK)
        st = session_check_given(s, c->ids, c->n, err);
    if (st != GG_OK)
        return st;
    broken = session_media_broken(&s->media, c->ids, c->n);
    if (broken == c->n)
        return GG_OK;
    return error_set(err, GG_ERR_ARG,
                     "id %d is of a block of rows that is not whole",
                     (int)c->ids[broken]);
}

/* Encoders cannot give some results. */
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

size_t
session_encoder_ids(const struct gg_session *s, const int32_t *ids, size_t n)
{
    size_t given = (size_t)s->params.n_encoder_ids, i = 0;

    if (s->model->hp.n_encoder == 0)
        return 0;
    if (given)
        return given < n ? given : n;
    while (i < n && ids[i] != s->model->hp.decoder_start)
        i++;
    return i;
}

/* A sequence begins with the encoder's ids, all of them, and the first of the
 * decoder's. */
static enum gg_status
check_beginning(struct gg_session *s, const struct gg_chunk *c,
                struct gg_error *err)
{
    size_t n = session_encoder_ids(s, c->ids, c->n);

    if (n == c->n)
        return error_set(err, GG_ERR_ARG,
                         "%zu ids for the encoder and none after them for the "
                         "decoder, which begins with id %d",
                         n, (int)s->model->hp.decoder_start);
    if (n == 0)
        return error_set(err, GG_ERR_ARG,
                         "no ids for the encoder before the decoder's");
    if (n > (size_t)s->n_batch)
        return error_set(err, GG_ERR_CONTEXT,
                         "%zu ids for the encoder are above the limit of %d", n,
                         (int)s->n_batch);
    if (c->rows.n_last > c->n - n)
        return error_set(err, GG_ERR_ARG,
                         "logits of %zu ids, of which %zu are the decoder's",
                         c->rows.n_last, c->n - n);
    s->slots.encoded[c->slot] = (int32_t)n;
    return GG_OK;
}

static enum gg_status
check_decoder(struct gg_session *s, const struct gg_chunk *c,
              struct gg_error *err)
{
    const struct model_hparams *hp = &s->model->hp;
    int32_t n = s->slots.length[c->slot];

    if (hp->n_encoder == 0)
        return GG_OK;
    if (c->embed.values)
        return error_set(err, GG_ERR_UNSUPPORTED,
                         "%s answers: it makes no embeddings",
                         s->model->arch->name);
    if (n == 0)
        return check_beginning(s, c, err);
    if (n == s->slots.encoded[c->slot] && s->params.n_encoder_ids == 0 &&
        c->ids[0] != hp->decoder_start)
        return error_set(err, GG_ERR_ARG,
                         "the decoder begins with id %d, not with %d",
                         (int)hp->decoder_start, (int)c->ids[0]);
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

/* Scores are of a text, or of each id. */
static enum gg_status
check_classifier(const struct model *m, enum gg_pooling pooling,
                 struct gg_error *err)
{
    bool each = m->hp.rank_pooling == GG_POOL_NONE;

    if (m->rank.n == 0)
        return error_set(
            err, GG_ERR_UNSUPPORTED,
            "the file has no classifier (cls.output): no reranker");
    if (each != (pooling == GG_POOL_TOKENS))
        return error_set(
            err, GG_ERR_UNSUPPORTED, "the file's classifier gives scores of %s",
            each ? "each id, not of a text" : "a text, not of each id");
    return GG_OK;
}

/* The ids that are given, and places of results. */
static enum gg_status
check_results(const struct gg_session *s, const struct gg_chunk *c,
              struct gg_error *err)
{
    size_t n_best = !c->rows.best ? 0 : c->rows.n_last ? c->rows.n_last : 1;
    size_t n_vocab = (size_t)s->model->hp.n_vocab;

    if (!c->ids)
        return error_null(err);
    if (c->embed.values && (unsigned)c->embed.pooling > GG_POOL_TOKENS)
        return error_set(err, GG_ERR_ARG, "an embedding of no known pooling");
    if (c->embed.values && session_pools_scores(c)) {
        enum gg_status st = check_classifier(s->model, c->embed.pooling, err);

        if (st != GG_OK)
            return st;
    }
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
session_scales(const struct gg_session *s, const struct gg_chunk *c)
{
    return c->scales ? c->scales : s->model->scales;
}

/* A slot that holds ids goes on with the adapters that they have. */
static enum gg_status
check_adapters(struct gg_session *s, const struct gg_chunk *c,
               struct gg_error *err)
{
    const float *scales = session_scales(s, c);

    for (size_t i = 0; i < s->model->files.n_adapters; i++)
        if (!isfinite(scales[i]))
            return error_set(err, GG_ERR_ARG,
                             "the scale of an adapter is not finite");
    if (s->slots.length[c->slot] == 0)
        session_slots_set_scales(&s->slots, c->slot, scales);
    else if (!graph_adapters_same(s->model, scales,
                                  session_slots_scales(&s->slots, c->slot)))
        return error_set(err, GG_ERR_ARG,
                         "slot %d holds ids that were evaluated with other "
                         "adapters",
                         (int)c->slot);
    return GG_OK;
}

enum gg_status
session_check_chunk(struct gg_session *s, const struct gg_chunk *c,
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
        st = check_decoder(s, c, err);
    if (st == GG_OK)
        st = check_adapters(s, c, err);
    if (st == GG_OK)
        st = check_room(s, c, err);
    if (st == GG_OK && !session_slots_keep(&s->slots, c))
        st = error_nomem(err);
    return st;
}
