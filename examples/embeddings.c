/* embeddings.c - how alike texts are to the first: embeddings MODEL TEXT...
 *
 * Writes the cosine of the angle between the means of what the model makes of
 * the tokens. */
#include <math.h>

#include "common.h"

static void
embed(struct gg_engine *engine, const struct gg_vocab *vocab, const char *text,
      float *out)
{
    struct gg_query query = { .embed.values = out,
                              .embed.pooling = GG_POOL_MEAN };
    struct ids ids;

    encode(vocab, text, &ids);
    must(gg_sequence_new(engine, &query.sequence, &err));
    must(gg_sequence_put(query.sequence, ids.list, ids.n, &err));
    must(gg_engine_eval(engine, &query, 1, &err));
    gg_sequence_free(query.sequence);
    free(ids.list);
}

static double
dot(const float *a, const float *b, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * (double)b[i];
    return sum;
}

int
main(int argc, char **argv)
{
    struct gg_model *model;
    struct gg_session *session;
    struct gg_engine *engine;
    float *first, *other;
    size_t n;

    if (argc < 3)
        return 2;
    must(gg_model_open(argv[1], NULL, &model, &err));
    must(gg_session_new(model, NULL, &session, &err));
    must(gg_engine_new(model, session, NULL, &engine, &err));
    n = (size_t)gg_model_vector_length(model, GG_POOL_MEAN);
    first = malloc(n * sizeof(*first));
    other = malloc(n * sizeof(*other));
    if (!first || !other)
        return 1;
    embed(engine, gg_model_vocab(model), argv[2], first);
    for (int i = 2; i < argc; i++) {
        embed(engine, gg_model_vocab(model), argv[i], other);
        printf("%.4f\t%s\n",
               dot(first, other, n) /
                   sqrt(dot(first, first, n) * dot(other, other, n)),
               argv[i]);
    }
    free(first);
    free(other);
    gg_engine_free(engine);
    gg_session_free(session);
    gg_model_free(model);
    return 0;
}
