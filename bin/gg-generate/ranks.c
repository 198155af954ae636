/* ranks.c - records that want documents scored, by a reranker */
#include <config.h>

#include "gg-generate/vectors.h"

#ifdef HAVE_JANSSON

#include <math.h>
#include <stdlib.h>

#include "common/ranked_pair.h"
#include "common/ranker.h"
#include "common/records/batch.h"
#include "common/spare.h"

/* The documents of a request, while they are scored. */
struct ranks {
    const struct gg_vocab *vocab;
    struct ranker ranker;
    struct ranked_pair_ids ids;
    int32_t *encoded; /* of the text that was encoded last */
    struct gg_query *queries;
    float *values;
    struct batch_ranked *list;
    size_t n;
    uint64_t n_ids;
};

static enum gg_status
encode_text(void *data, const char *text, size_t len, unsigned flags,
            const int32_t **ids, size_t *n, struct gg_error *err)
{
    struct ranks *k = data;
    enum gg_status st;

    free(k->encoded);
    st = vectors_encode(k->vocab, text, len, flags, &k->encoded, n, err);
    *ids = k->encoded;
    return st;
}

/* Document i, from 1, after the query. */
static enum gg_status
add_document_pair(struct generate *g, const struct request *r, size_t i,
                  struct ranks *k, struct gg_error *err)
{
    const struct request_prompt *query = r->prompts, *text = r->prompts + i;
    struct gg_query *q = &k->queries[k->n];
    struct pair pair = { 0 };
    enum gg_status st;

    buffer_add(&pair.query, query->text, query->len);
    buffer_add(&pair.document, text->text, text->len);
    st = ranked_pair_encode(&pair, g->engine.vocab, &k->ids, err);
    ranked_pair_clear(&pair);
    if (st == GG_OK)
        st = vectors_check_ids(g, "documents", k->ids.ids, k->ids.n, err);
    if (st != GG_OK)
        return st;
    *q = (struct gg_query){ 0 };
    st = gg_sequence_new(g->engine.gg, &q->sequence, err);
    if (st != GG_OK)
        return st;
    k->list[k->n] = (struct batch_ranked){ .index = i - 1,
                                           .text = text->text,
                                           .len = text->len };
    ranker_ask(&k->ranker, k->values + k->n++ * (size_t)k->ranker.n_values, q);
    k->n_ids += k->ids.n;
    return gg_sequence_put(q->sequence, k->ids.ids, k->ids.n, err);
}

static int
by_rank(const void *x, const void *y)
{
    const struct batch_ranked *a = x, *b = y;

    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    return a->index < b->index ? -1 : 1;
}

/* The first score of each; one that there are several of means something else
 * to each model. */
static enum gg_status
take_scores(struct ranks *k, struct gg_error *err)
{
    size_t width = (size_t)k->ranker.n_values;
    double *x = cli_alloc(NULL, width, sizeof(*x));
    bool good = true;

    for (size_t i = 0; i < k->n; i++) {
        (void)ranker_score(&k->ranker, k->values + i * width, x);
        k->list[i].score = x[0];
        good = good && isfinite(x[0]);
    }
    free(x);
    if (!good)
        return cli_error(err, GG_ERR_FORMAT, "the scores are not numbers");
    qsort(k->list, k->n, sizeof(*k->list), by_rank);
    return GG_OK;
}

static enum gg_status
score_all(struct generate *g, const struct request *r, struct ranks *k,
          struct gg_error *err)
{
    size_t n = r->n_prompts - 1;
    enum gg_status st = ranker_choose(&k->ranker, &g->engine, err);

    if (st != GG_OK)
        return st;
    st = spare_check(n,
                     sizeof(*k->queries) + sizeof(*k->list) +
                         (size_t)k->ranker.n_values * sizeof(*k->values),
                     err);
    if (st != GG_OK)
        return st;
    k->queries = cli_alloc(NULL, n, sizeof(*k->queries));
    k->list = cli_alloc(NULL, n, sizeof(*k->list));
    k->values =
        cli_alloc(NULL, n * (size_t)k->ranker.n_values, sizeof(*k->values));
    for (size_t i = 1; i <= n && st == GG_OK; i++)
        st = add_document_pair(g, r, i, k, err);
    if (st == GG_OK)
        st = gg_engine_eval(g->engine.gg, k->queries, n, err);
    return st == GG_OK ? take_scores(k, err) : st;
}

enum gg_status
ranks_answer(struct generate *g, const struct request *r, struct buffer *out,
             struct gg_error *err)
{
    struct ranks k = { .vocab = g->engine.vocab,
                       .ids = { .encode = encode_text, .data = &k } };
    struct batch_response all = { .number = r->number,
                                  .model = g->engine.path };
    enum gg_status st = score_all(g, r, &k, err);
    size_t most = r->batch->n_best;

    all.n_prompt = k.n_ids;
    if (st == GG_OK)
        batch_add_ranks(r->batch, &all, k.list, most && most < k.n ? most : k.n,
                        out);
    for (size_t i = 0; i < k.n; i++)
        gg_sequence_free(k.queries[i].sequence);
    free(k.ids.ids);
    free(k.encoded);
    free(k.queries);
    free(k.values);
    free(k.list);
    return st;
}

#endif
