/* fitting.h - of logits, those of the tokens that fit a grammar */
#ifndef SAMPLE_FITTING_H
#define SAMPLE_FITTING_H

#include "sample/grammar.h"
#include "sample/sampler.h"

/* Candidates as sample_candidates_of() makes them of the logits, where those
 * that do not fit are -infinity. GG_ERR_FORMAT: none fits. */
enum gg_status
sample_fitting_candidates(struct gg_sampler *s, const struct grammar_at *at,
                          const int32_t *ids, const float *logits, size_t n,
                          size_t k, double temperature,
                          struct sample_candidates *candidates,
                          struct gg_error *err);

/* Makes all that does not fit -infinity, in a copy of the sampler's. */
enum gg_status
sample_fitting_cut(struct gg_sampler *s, const struct grammar_at *at,
                   const int32_t *ids, const float **logits, size_t n,
                   struct gg_error *err);

#endif
