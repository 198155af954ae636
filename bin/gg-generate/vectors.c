/* vectors.c - records that want embeddings of texts, by the model that answers
 * all others */
#include <config.h>

#include "gg-generate/vectors.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdlib.h>

#include "common/records/batch.h"
#include "common/spare.h"

/* The texts of a request, while they are embedded. */
struct vectors {
    struct gg_query *queries;
    struct batch_vector *list;
    size_t n;
    uint64_t n_ids;
    size_t dims; /* of which the answer has; 0: all */
};

/* ---- ids ---- */

enum gg_status
vectors_encode(const struct gg_vocab *v, const char *text, size_t len,
               unsigned flags, int32_t **ids, size_t *n, struct gg_error *err)
{
    struct gg_encoded out = { .n = 2 * len + 4 };
    enum gg_status st;
    size_t cap;

    *ids = NULL;
    do {
        cap = out.n;
        st = spare_check(cap, sizeof(**ids), err);
        if (st == GG_OK) {
            *ids = cli_alloc(*ids, cap, sizeof(**ids));
            st = gg_vocab_encode(v, text, len, flags, *ids, cap, &out, err);
        }
    } while (st == GG_OK && out.n > cap);
    *n = out.n;
    return st;
}

/* With what the model wants around a text. */
static enum gg_status
encode_input(const struct gg_vocab *v, const struct request_prompt *p,
             int32_t **ids, size_t *n, struct gg_error *err)
{
    unsigned flags = (gg_vocab_add_bos(v) ? GG_ENCODE_BOS : 0) |
                     (gg_vocab_add_eos(v) ? GG_ENCODE_EOS : 0);

    return vectors_encode(v, p->text, p->len, flags, ids, n, err);
}

enum gg_status
vectors_check_ids(const struct generate *g, const char *what,
                  const int32_t *ids, size_t n, struct gg_error *err)
{
    int32_t n_vocab = gg_model_n_vocab(g->engine.model);
    size_t n_ctx = (size_t)gg_session_n_ctx(g->engine.session);

    if (n == 0)
        return cli_error(err, GG_ERR_FORMAT, "%s: a text without ids", what);
    if (n > n_ctx)
        return cli_error(err, GG_ERR_CONTEXT,
                         "%s: %zu ids are above the context of %zu", what, n,
                         n_ctx);
    for (size_t i = 0; i < n; i++)
        if (ids[i] >= n_vocab)
            return cli_error(err, GG_ERR_FORMAT, "id %d is not in 0..%d",
                             (int)ids[i], (int)n_vocab - 1);
    return GG_OK;
}

static int32_t
length_of(const struct generate *g, enum gg_pooling pooling)
{
    return gg_model_vector_length(g->engine.model, pooling);
}

/* All of a text is a sequence of its own, of which nothing is shared. */
static enum gg_status
add_sequence(const struct generate *g, struct vectors *v, const int32_t *ids,
             size_t n, enum gg_pooling pooling, struct gg_error *err)
{
    struct gg_query *q = &v->queries[v->n];
    size_t width = (size_t)length_of(g, pooling);
    enum gg_status st = spare_check(width, sizeof(float), err);

    if (st != GG_OK)
        return st;
    *q = (struct gg_query){ .embed.pooling = pooling };
    q->embed.values = cli_alloc(NULL, width, sizeof(float));
    v->list[v->n++] =
        (struct batch_vector){ .values = q->embed.values, .n = width };
    st = gg_sequence_new(g->engine.gg, &q->sequence, err);
    return st == GG_OK ? gg_sequence_put(q->sequence, ids, n, err) : st;
}

static enum gg_status
add_input(const struct generate *g, struct vectors *v,
          const struct request_prompt *p, enum gg_pooling pooling,
          struct gg_error *err)
{
    size_t n = p->n_ids;
    int32_t *own = NULL;
    enum gg_status st = GG_OK;

    if (p->kind != REQUEST_IDS)
        st = encode_input(g->engine.vocab, p, &own, &n, err);
    if (st == GG_OK)
        st = vectors_check_ids(g, "input", own ? own : p->ids, n, err);
    if (st == GG_OK)
        st = add_sequence(g, v, own ? own : p->ids, n, pooling, err);
    v->n_ids += n;
    free(own);
    return st;
}

/* ---- vectors ---- */

/* The first values, to length 1, if they have one. False: no numbers. */
static bool
finish_vector(struct batch_vector *v, size_t dims)
{
    double sum = 0;

    v->n = dims ? dims : v->n;
    for (size_t i = 0; i < v->n; i++)
        sum += (double)v->values[i] * (double)v->values[i];
    for (size_t i = 0; i < v->n && sum > 0; i++)
        v->values[i] = (float)((double)v->values[i] / sqrt(sum));
    return isfinite(sum);
}

static enum gg_status
add_texts(const struct generate *g, const struct request *r, struct vectors *v,
          struct gg_error *err)
{
    enum gg_pooling pooling = (enum gg_pooling)g->o->pooling;
    enum gg_status st = GG_OK;

    if (g->o->pooling == POOL_AS_MODEL)
        st = gg_model_pooling(g->engine.model, &pooling, err);
    if (st == GG_OK && r->batch->dims > (size_t)length_of(g, pooling))
        st = cli_error(err, GG_ERR_FORMAT,
                       "dimensions: an embedding has %d values",
                       (int)length_of(g, pooling));
    for (size_t i = 0; i < r->n_prompts && st == GG_OK; i++)
        st = add_input(g, v, &r->prompts[i], pooling, err);
    return st;
}

enum gg_status
vectors_open(const struct generate *g, const struct request *r,
             struct vectors **out, struct gg_error *err)
{
    struct vectors *v;
    enum gg_status st =
        spare_check(r->n_prompts, sizeof(*v->queries) + sizeof(*v->list), err);

    if (st != GG_OK)
        return st;
    v = *out = cli_alloc(NULL, 1, sizeof(*v));
    *v = (struct vectors){ .dims = r->batch->dims };
    v->queries = cli_alloc(NULL, r->n_prompts, sizeof(*v->queries));
    v->list = cli_alloc(NULL, r->n_prompts, sizeof(*v->list));
    return add_texts(g, r, v, err);
}

const struct gg_query *
vectors_queries(const struct vectors *v, size_t *n)
{
    *n = v->n;
    return v->queries;
}

enum {
    SHOWN = 16, /* bytes of a value in the answer */
};

enum gg_status
vectors_finish(const struct generate *g, const struct request *r,
               struct vectors *v, struct buffer *out, struct gg_error *err)
{
    struct batch_response all = { .number = r->number,
                                  .model = g->engine.path,
                                  .n_prompt = v->n_ids };
    size_t width = v->n ? v->list[0].n : 0;
    enum gg_status st = spare_check(v->n, width * SHOWN, err);

    for (size_t i = 0; i < v->n && st == GG_OK; i++)
        if (!finish_vector(&v->list[i], v->dims))
            st = cli_error(err, GG_ERR_FORMAT,
                           "the vector is not one of numbers");
    if (st == GG_OK)
        batch_add_embeddings(r->batch, &all, v->list, v->n, out);
    return st;
}

void
vectors_close(struct vectors *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->n; i++) {
        gg_sequence_free(v->queries[i].sequence);
        free(v->list[i].values);
    }
    free(v->queries);
    free(v->list);
    free(v);
}

enum gg_status
vectors_answer(const struct generate *g, const struct request *r,
               struct vectors *v, struct buffer *out, struct gg_error *err)
{
    enum gg_status st = gg_engine_eval(g->engine.gg, v->queries, v->n, err);

    return st == GG_OK ? vectors_finish(g, r, v, out, err) : st;
}

#else

void
vectors_close(struct vectors *v)
{
    (void)v;
}

#endif
