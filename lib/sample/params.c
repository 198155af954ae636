/* params.c - what a sampler can be asked for */
#include <config.h>

#include "sample/params.h"

#include <math.h>

struct gg_sampler_params
gg_sampler_params_default(void)
{
    return (struct gg_sampler_params){
        .temperature = 0.8f,
        .top_k = 40,
        .top_p = 0.95f,
        .xtc_threshold = 0.1f,
        .penalty_last_n = 64,
        .dry_base = 1.75f,
        .dry_allowed_length = 2,
        .dry_last_n = -1,
        .mirostat_tau = 5,
        .mirostat_eta = 0.1f,
    };
}

/* A default where nothing was said. */
static void
fill_float(float *value, float otherwise)
{
    *value = *value != 0 ? *value : otherwise;
}

static void
fill_int(int32_t *value, int32_t otherwise)
{
    *value = *value ? *value : otherwise;
}

struct gg_sampler_params
sample_params_resolve(const struct gg_sampler_params *given)
{
    struct gg_sampler_params p = *given, d = gg_sampler_params_default();

    fill_float(&p.temperature, d.temperature);
    fill_int(&p.top_k, d.top_k);
    fill_float(&p.top_p, d.top_p);
    fill_float(&p.xtc_threshold, d.xtc_threshold);
    fill_int(&p.penalty_last_n, d.penalty_last_n);
    fill_float(&p.dry_base, d.dry_base);
    fill_int(&p.dry_allowed_length, d.dry_allowed_length);
    fill_int(&p.dry_last_n, d.dry_last_n);
    fill_float(&p.mirostat_tau, d.mirostat_tau);
    fill_float(&p.mirostat_eta, d.mirostat_eta);
    p.temperature = p.greedy ? 0 : p.temperature;
    p.top_k = p.top_k == -1 ? 0 : p.top_k;
    return p;
}

struct bounds {
    const char *name;
    double value, min, max;
};

static enum gg_status
check_bounds(const struct bounds *b, size_t n, struct gg_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!(b[i].value >= b[i].min && b[i].value <= b[i].max))
            return error_set(err, GG_ERR_ARG, "%s %g is not between %g and %g",
                             b[i].name, b[i].value, b[i].min, b[i].max);
    return GG_OK;
}

static enum gg_status
check_arrays(const struct gg_sampler_params *p, struct gg_error *err)
{
    if ((!p->bias && p->n_bias) || (!p->dry_breakers && p->n_dry_breakers))
        return error_null(err);
    for (size_t i = 0; i < p->n_bias; i++)
        if (p->bias[i].id < 0 || !(p->bias[i].add < INFINITY))
            return error_set(err, GG_ERR_ARG, "bias %g of id %ld",
                             p->bias[i].add, (long)p->bias[i].id);
    return GG_OK;
}

enum gg_status
sample_params_check(const struct gg_sampler_params *p, struct gg_error *err)
{
    const struct bounds bounds[] = {
        { "temperature", p->temperature, 0, 1e6 },
        { "top-k", p->top_k, 0, INT32_MAX },
        { "top-p", p->top_p, 0, 1 },
        { "min-p", p->min_p, 0, 1 },
        { "typical", p->typical_p, 0, 1 },
        { "top-n-sigma", p->top_n_sigma, 0, 1e6 },
        { "XTC's probability", p->xtc_probability, 0, 1 },
        { "XTC's threshold", p->xtc_threshold, 0, 1 },
        { "repeat penalty", p->repeat_penalty, 0, 1e6 },
        { "frequency penalty", p->frequency_penalty, -1e6, 1e6 },
        { "presence penalty", p->presence_penalty, -1e6, 1e6 },
        { "penalties' number of ids", p->penalty_last_n, -1, INT32_MAX },
        { "DRY's multiplier", p->dry_multiplier, 0, 1e6 },
        { "DRY's base", p->dry_base, p->dry_multiplier > 0 ? 1 : 0, 1e6 },
        { "DRY's allowed length", p->dry_allowed_length,
          p->dry_multiplier > 0 ? 1 : 0, INT32_MAX },
        { "DRY's number of ids", p->dry_last_n, -1, INT32_MAX },
        { "Mirostat", p->mirostat, 0, 2 },
        { "Mirostat's tau", p->mirostat_tau, 0, 1e6 },
        { "Mirostat's eta", p->mirostat_eta, 0, 1 },
    };
    enum gg_status st =
        check_bounds(bounds, sizeof(bounds) / sizeof(bounds[0]), err);

    if (st == GG_OK)
        st = ERROR_RESERVED(p, err);
    return st == GG_OK ? check_arrays(p, err) : st;
}
