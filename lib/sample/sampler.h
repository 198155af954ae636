/* sampler.h - what the parts of the sampler have in common */
#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <gg.h>

#include "sample/sampler_order.h"

/* A sampler; its chain leaves the result in candidates and weights. */
struct gg_sampler {
    struct gg_sampler_params params; /* without numbers of stages: */
    struct sample_numbers numbers;
    struct sample_order order;
    struct gg_bias *bias;   /* params' own */
    int32_t *breakers;      /* params' own, in ascending order */
    struct choice *choices; /* room for two of each token */
    size_t choices_cap;
    struct gg_candidate *candidates;
    double *weights; /* exp((logit - highest) / temperature), of candidates */
    size_t cap;      /* of both */
    float *logits;   /* the caller's, edited */
    size_t logits_cap;
    float *fit; /* of logits, those that fit the grammar, or are left */
    int32_t *fit_ids;
    size_t fit_cap;
    void *scratch; /* of edits */
    size_t scratch_cap;
};

/* ---- chain.c ---- */

/* Takes what the stages leave, at least 1: where nothing can be cut off, no
 * more than the share. */
enum gg_status
sample_chain_run(struct sample_draw *d, struct gg_error *err);

/* The next one of the list becomes candidate i; false: there is none. */
static inline bool
sample_chain_next(struct gg_sampler *s, struct sample_candidates *list,
                  size_t i)
{
    struct choice c;

    if (!sample_candidates_take(list, &c))
        return false;
    s->candidates[i] = (struct gg_candidate){ c.id, c.logit, 0 };
    s->weights[i] = sample_candidates_weigh(list, c.logit);
    return true;
}

/* ---- sampler.c ---- */

/* A history of the sampler begins: states of stages. */
void
sample_sampler_begin(const struct gg_sampler *s, struct gg_history *h);

#endif
