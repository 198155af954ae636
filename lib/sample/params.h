/* params.h - what a sampler can be asked for */
#ifndef SAMPLE_PARAMS_H
#define SAMPLE_PARAMS_H

#include "core/error.h"

/* GG_ERR_ARG names what is out of range. */
enum gg_status
params_check(const struct gg_sampler_params *p, struct gg_error *err);

#endif
