/* sampler.h - what the parts of the sampler have in common */
#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <gg.h>

#include "sample/sampler_order.h"

/* What the chain leaves is in candidates and weights. */
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
bool
sample_chain_next(struct sample_draw *d, size_t i);

/* ---- sampler.c ---- */

/* A history of the sampler begins: states of stages. */
void
sample_sampler_begin(const struct gg_sampler *s, struct gg_history *h);

#endif
