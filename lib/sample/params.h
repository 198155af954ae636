/* params.h - what a sampler can be asked for */
#ifndef SAMPLE_PARAMS_H
#define SAMPLE_PARAMS_H

#include "core/error.h"

/* With the defaults in place of what is 0. In the result 0 is a number, as
 * everywhere in this folder: temperature 0 is greedy, top-k 0 is all. */
struct gg_sampler_params
sample_params_resolve(const struct gg_sampler_params *given);

/* Of what was resolved: GG_ERR_ARG names what is out of range. */
enum gg_status
sample_params_check(const struct gg_sampler_params *p, struct gg_error *err);

#endif
