/* line_scores.c - log-probabilities of ids, and whether each id is the
 * likeliest one */
#include <config.h>

#include "gg-eval/line_scores.h"

#include <math.h>
#include <stdlib.h>

void
scores_ask(struct scores *s, size_t begin, size_t n, struct gg_query *query)
{
    size_t first = begin ? begin : 1, rows = n - first + 1;
    int32_t *ids = cli_alloc(NULL, rows, sizeof(*ids));
    float *logits = cli_alloc(NULL, rows, sizeof(*logits));

    *s = (struct scores){ .first = first, .n = n };
    s->logprobs = cli_alloc(NULL, rows, sizeof(*s->logprobs));
    s->best = cli_alloc(NULL, rows, sizeof(*s->best));
    for (size_t i = 0; i < rows; i++)
        s->best[i] = (struct gg_best){
            .k = 1, .ids = ids + i, .logits = logits + i, .no_sum = true
        };
    query->scores.logprobs = s->logprobs;
    query->scores.first = first;
    query->rows.best = s->best;
    query->rows.n_last = rows;
}

void
scores_clear(struct scores *s)
{
    if (s->best) {
        free(s->best->ids);
        free(s->best->logits);
    }
    free(s->best);
    free(s->logprobs);
    *s = (struct scores){ 0 };
}

bool
scores_add_up(const struct scores *s, const struct engine *engine,
              const int32_t *ids, size_t from, size_t to, double *sum)
{
    bool greedy = true;

    *sum = 0;
    for (size_t i = from ? from : 1; i < to; i++) {
        const struct gg_best *best = &s->best[i - s->first];

        if (engine_is_row(engine, ids[i]))
            continue;
        *sum += (double)s->logprobs[i - s->first];
        greedy = greedy && isfinite(best->log_sum_exp) && best->n &&
                 best->ids[0] == ids[i];
    }
    return greedy;
}
