/* ranker.h - the scores that a model gives a pair */
#ifndef COMMON_RANKER_H
#define COMMON_RANKER_H

#include <gg-engine.h>

#include "common/engine.h"

struct ranker {
    const struct gg_model *model;
    int32_t n_values; /* that an evaluation gives, of which scores are made */
    int32_t yes, no;  /* ids whose logits are a decoder's score; or -1 */
};

/* The error begins with the model's file. */
enum gg_status
ranker_choose(struct ranker *r, const struct engine *engine,
              struct gg_error *err);

/* The pair that is the query's sequence gives n_values. */
void
ranker_ask(const struct ranker *r, float *values, struct gg_query *query);

/* Returns how many scores there are, which x[0 .. n_values) has room for. */
int32_t
ranker_score(const struct ranker *r, const float *values, double *x);

#endif
