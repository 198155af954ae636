/* sampling.c - the options of drawing */
#include <config.h>

#include "common/sampling.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

struct sampling_options
sampling_options_default(void)
{
    return (struct sampling_options){ .params = gg_sampler_params_default() };
}

bool
sampling_set_option(struct sampling_options *o, int c)
{
    struct gg_sampler_params *p = &o->params;

    switch (c) {
    case 'n':
        o->count = (uint64_t)cli_int("-n", optarg, 1, INT64_MAX);
        return true;
    case 's':
        p->seed = cli_u64("--seed", optarg);
        o->has_seed = true;
        return true;
    case SAMPLING_OPT_TEMP:
        p->temperature = (float)cli_float("--temp", optarg, 0, 1e6);
        return true;
    case SAMPLING_OPT_TOP_K:
        p->top_k = (int32_t)cli_int("--top-k", optarg, 0, INT32_MAX);
        return true;
    case SAMPLING_OPT_TOP_P:
        p->top_p = (float)cli_float("--top-p", optarg, 0, 1);
        return true;
    case SAMPLING_OPT_MIN_P:
        p->min_p = (float)cli_float("--min-p", optarg, 0, 1);
        return true;
    case SAMPLING_OPT_GREEDY:
        p->temperature = 0;
        return true;
    case SAMPLING_OPT_IGNORE_EOG:
        o->ignore_eog = true;
        return true;
    default:
        return false;
    }
}

/* 32 bits: easy to type again. */
static uint64_t
any_seed(void)
{
    uint32_t seed;

    if (getentropy(&seed, sizeof(seed)))
        cli_die("no random numbers to be had: use --seed");
    return seed;
}

struct gg_sampler *
sampling_start(struct sampling_options *o, bool verbose)
{
    struct gg_sampler *sampler;
    struct gg_error err;

    if (!o->has_seed)
        o->params.seed = any_seed();
    cli_check(gg_sampler_new(&o->params, &sampler, &err), &err);
    if (verbose)
        cli_warn("seed %" PRIu64, o->params.seed);
    return sampler;
}

void
sampling_exclude(float *logits, const int32_t *ids, size_t n,
                 const int32_t *excluded, size_t n_excluded)
{
    for (size_t e = 0; e < n_excluded; e++) {
        size_t i = (size_t)excluded[e];

        if (ids)
            for (i = 0; i < n && ids[i] != excluded[e]; i++)
                ;
        if (i < n)
            logits[i] = -INFINITY;
    }
}
