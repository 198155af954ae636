/* ranker.c - the scores that a model gives a pair */
#include <config.h>

#include "common/ranker.h"

#include <string.h>

#include "common/cli.h"
#include "common/reranker.h"

/* The id of a word that is one token. */
static enum gg_status
find_word(const struct engine *engine, const char *text, int32_t *id,
          struct gg_error *err)
{
    *id = gg_vocab_find(engine->vocab, text, strlen(text));
    return *id >= 0 ? GG_OK
                    : cli_error(err, GG_ERR_UNSUPPORTED,
                                "%s: no reranker: neither a classifier nor a "
                                "token %s",
                                engine->path, text);
}

static enum gg_status
choose_words(struct ranker *r, const struct engine *engine,
             struct gg_error *err)
{
    enum gg_status st = reranker_look(engine->path, true, err);

    if (st == GG_OK)
        st = find_word(engine, "yes", &r->yes, err);
    if (st == GG_OK)
        st = find_word(engine, "no", &r->no, err);
    r->n_values = gg_model_n_vocab(engine->model);
    return st;
}

/* A classifier's scores are of texts. */
static enum gg_status
check_head(const struct engine *engine, struct gg_error *err)
{
    struct gg_classifier c;
    enum gg_status st = gg_model_classifier(engine->model, &c, err);

    if (st == GG_OK && c.pooling == GG_POOL_TOKENS)
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "%s: no reranker: its classifier gives labels of "
                         "tokens",
                         engine->path);
    return st;
}

enum gg_status
ranker_choose(struct ranker *r, const struct engine *engine,
              struct gg_error *err)
{
    *r = (struct ranker){ .model = engine->model,
                          .n_values = gg_model_n_scores(engine->model),
                          .yes = -1,
                          .no = -1 };
    if (r->n_values > 0)
        return check_head(engine, err);
    if (gg_model_is_encoder(engine->model))
        return cli_error(err, GG_ERR_UNSUPPORTED,
                         "%s: no reranker: the file has no classifier",
                         engine->path);
    return choose_words(r, engine, err);
}

void
ranker_ask(const struct ranker *r, float *values, struct gg_query *query)
{
    if (r->yes >= 0) {
        query->rows.logits = values;
    } else {
        query->embed.values = values;
        query->embed.pooling = GG_POOL_RANK;
    }
}

/* Two scores of a decoder are the logits of yes and no: the sigmoid of their
 * difference is the probability of yes. */
int32_t
ranker_score(const struct ranker *r, const float *values, double *x)
{
    if (r->yes >= 0) {
        x[0] = (double)values[r->yes] - (double)values[r->no];
        return 1;
    }
    if (r->n_values == 2 && !gg_model_is_encoder(r->model)) {
        x[0] = (double)values[0] - (double)values[1];
        return 1;
    }
    for (int32_t i = 0; i < r->n_values; i++)
        x[i] = (double)values[i];
    return r->n_values;
}
