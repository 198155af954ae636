/* params.h - parameters of a sampler */
#ifndef SAMPLE_PARAMS_H
#define SAMPLE_PARAMS_H

#include "sample/sampler_order.h"

/* The numbers of all stages, with the fallbacks in place of what is not said.
 * GG_ERR_ARG names what is out of range. */
enum gg_status
sample_params_numbers(const struct gg_sampler_params *p,
                      struct sample_numbers *out, struct gg_error *err);

/* GG_ERR_ARG: arrays, biases or reserved members are wrong. */
enum gg_status
sample_params_check(const struct gg_sampler_params *p, struct gg_error *err);

#endif
