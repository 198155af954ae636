/* vectors.c - records that want embeddings of texts, by the model that answers
 * all others */
#include <config.h>

#include "gg-generate/vectors.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdlib.h>

#include "common/records/batch.h"

/* The texts of a request, while they are embedded. */
struct vectors {
    struct gg_query *queries;
    struct batch_vector *list;
    size_t n;
    uint64_t n_ids;
};

/* ---- ids ---- */

int32_t *
vectors_encode(const struct gg_vocab *v, const char *text, size_t len,
               unsigned flags, size_t *n)
{
    struct gg_encoded out = { .n = 2 * len + 4 };
    int32_t *ids = NULL;
    struct gg_error err;
    size_t cap;

    do {
        cap = out.n;
        ids = cli_alloc(ids, cap, sizeof(*ids));
        cli_check(gg_vocab_encode(v, text, len, flags, ids, cap, &out, &err),
                  &err);
    } while (out.n > cap);
    *n = out.n;
    return ids;
}

/* With what the model wants around a text. */
static int32_t *
encode(const struct gg_vocab *v, const struct request_prompt *p, size_t *n)
{
    unsigned flags = (gg_vocab_add_bos(v) ? GG_ENCODE_BOS : 0) |
                     (gg_vocab_add_eos(v) ? GG_ENCODE_EOS : 0);

    return vectors_encode(v, p->text, p->len, flags, n);
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

/* All of a text is a sequence of its own, of which nothing is shared. */
static enum gg_status
add_text(const struct generate *g, struct vectors *v,
         const struct request_prompt *p, enum gg_pooling pooling,
         struct gg_error *err)
{
    struct gg_query *q = &v->queries[v->n];
    size_t n = p->n_ids, width = (size_t)gg_model_n_embd(g->engine.model);
    int32_t *own =
        p->kind == REQUEST_IDS ? NULL : encode(g->engine.vocab, p, &n);
    const int32_t *ids = own ? own : p->ids;
    enum gg_status st = vectors_check_ids(g, "input", ids, n, err);

    if (st == GG_OK) {
        *q = (struct gg_query){ 0 };
        cli_check(gg_sequence_new(g->engine.gg, &q->sequence, err), err);
        v->list[v->n].values = cli_alloc(NULL, width, sizeof(float));
        v->list[v->n].n = width;
        q->embed.values = v->list[v->n++].values;
        q->embed.pooling = pooling;
        st = gg_sequence_put(q->sequence, ids, n, err);
    }
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
embed_all(const struct generate *g, const struct request *r, struct vectors *v,
          struct gg_error *err)
{
    enum gg_pooling pooling = (enum gg_pooling)g->o->pooling;
    enum gg_status st = GG_OK;

    if (g->o->pooling == POOL_AS_MODEL)
        st = gg_model_pooling(g->engine.model, &pooling, err);
    if (st == GG_OK &&
        r->batch->dims > (size_t)gg_model_n_embd(g->engine.model))
        st = cli_error(err, GG_ERR_FORMAT,
                       "dimensions: an embedding has %d values",
                       (int)gg_model_n_embd(g->engine.model));
    for (size_t i = 0; i < r->n_prompts && st == GG_OK; i++)
        st = add_text(g, v, &r->prompts[i], pooling, err);
    if (st == GG_OK)
        st = gg_engine_eval(g->engine.gg, v->queries, v->n, err);
    for (size_t i = 0; i < v->n && st == GG_OK; i++)
        if (!finish_vector(&v->list[i], r->batch->dims))
            st = cli_error(err, GG_ERR_FORMAT,
                           "the vector is not one of numbers");
    return st;
}

enum gg_status
vectors_answer(struct generate *g, const struct request *r, struct buffer *out,
               struct gg_error *err)
{
    struct vectors v = {
        .queries = cli_alloc(NULL, r->n_prompts, sizeof(*v.queries)),
        .list = cli_alloc(NULL, r->n_prompts, sizeof(*v.list)),
    };
    struct batch_response all = { .number = r->number,
                                  .model = g->engine.path };
    enum gg_status st = embed_all(g, r, &v, err);

    all.n_prompt = v.n_ids;
    if (st == GG_OK)
        batch_add_embeddings(r->batch, &all, v.list, v.n, out);
    for (size_t i = 0; i < v.n; i++) {
        gg_sequence_free(v.queries[i].sequence);
        free(v.list[i].values);
    }
    free(v.queries);
    free(v.list);
    return st;
}

#endif
