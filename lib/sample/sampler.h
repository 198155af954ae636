/* sampler.h - what the parts of the sampler have in common */
#ifndef SAMPLE_SAMPLER_H
#define SAMPLE_SAMPLER_H

#include <gg.h>

#include "sample/history.h"
#include "sample/candidates.h"

/* What the chain leaves is in candidates and weights. */
struct gg_sampler {
    struct gg_sampler_params params;
    struct gg_bias *bias;   /* params' own */
    int32_t *breakers;      /* params' own, in ascending order */
    struct choice *choices; /* room for two of each token */
    size_t choices_cap;
    struct gg_candidate *candidates;
    double *weights; /* exp((logit - highest) / temperature), of candidates */
    size_t cap;      /* of both */
    float *logits;   /* the caller's, edited */
    size_t logits_cap;
    float *fit; /* of logits, those that fit the grammar */
    int32_t *fit_ids;
    size_t fit_cap;
    void *scratch; /* of edits */
    size_t scratch_cap;
};

/* ---- chain.c ---- */

static inline bool
sample_chain_has_mirostat(const struct gg_sampler_params *p)
{
    return p->mirostat && p->temperature > 0;
}

/* Takes what the chain leaves of the candidates; `chance` is XTC's number, `mu`
 * Mirostat's state. Where nothing can be cut off, it ends when the sum of the
 * weights exceeds `share` times the sum of all, and *whole gets the latter.
 * Otherwise *whole is that of what is left. Returns how many there are, at
 * least 1. */
size_t
sample_chain_take(struct gg_sampler *s, struct sample_candidates *candidates,
                  double chance, double mu, double share, double *whole);

#endif
