/* params.c - parameters of a sampler */
#include <config.h>

#include "sample/params.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/error.h"
#include "core/escape.h"

/* ---- members ---- */

static double
read_member(const struct gg_sampler_params *p, const struct sample_number *n)
{
    const char *member = (const char *)p + n->at;
    double x = 0;

    if (n->at)
        x = n->is.whole ? *(const int32_t *)member : *(const float *)member;
    if (x == 0)
        return n->is.fallback;
    return n->said_0 != 0 && x == n->said_0 ? 0 : x;
}

static void
write_fallback(struct gg_sampler_params *p, const struct sample_number *n)
{
    char *member = (char *)p + n->at;

    if (n->at && n->is.whole)
        *(int32_t *)member = (int32_t)n->is.fallback;
    else if (n->at)
        *(float *)member = (float)n->is.fallback;
}

/* ---- all numbers ---- */

const struct gg_sampler_parameter *
gg_sampler_parameter_at(size_t i)
{
    for (size_t r = 0; sample_stages[r].name; r++)
        for (size_t c = 0; c < SAMPLE_NUMBERS; c++) {
            const struct gg_sampler_parameter *is =
                &sample_stages[r].numbers[c].is;

            if (!is->name)
                break;
            if (i-- == 0)
                return is;
        }
    return NULL;
}

struct gg_sampler_params
gg_sampler_params_default(void)
{
    struct gg_sampler_params p = { 0 };

    for (size_t r = 0; sample_stages[r].name; r++)
        for (size_t c = 0; c < SAMPLE_NUMBERS; c++)
            write_fallback(&p, &sample_stages[r].numbers[c]);
    return p;
}

/* The last value of its name counts; it is a float where it is not whole, as
 * members are. */
static double
read_number(const struct gg_sampler_params *p, const struct sample_number *n)
{
    if (p->greedy && n->at == offsetof(struct gg_sampler_params, temperature))
        return 0;
    for (size_t i = p->n_values; i-- > 0;)
        if (strcmp(p->values[i].name, n->is.name) == 0)
            return n->is.whole ? p->values[i].value : (float)p->values[i].value;
    return read_member(p, n);
}

static enum gg_status
check_number(const struct gg_sampler_parameter *is, double x,
             struct gg_error *err)
{
    if (!(x >= is->min && x <= is->max))
        return error_set(err, GG_ERR_ARG, "%s %g is not between %g and %g",
                         is->name, x, is->min, is->max);
    if (is->whole && x != floor(x))
        return error_set(err, GG_ERR_ARG, "%s %g is not a whole number",
                         is->name, x);
    return GG_OK;
}

static bool
is_known(const char *name)
{
    for (size_t r = 0; sample_stages[r].name; r++)
        for (size_t c = 0; c < SAMPLE_NUMBERS; c++) {
            const char *known = sample_stages[r].numbers[c].is.name;

            if (known && strcmp(known, name) == 0)
                return true;
        }
    return false;
}

static enum gg_status
check_names(const struct gg_sampler_params *p, struct gg_error *err)
{
    char shown[64];

    if (!p->values && p->n_values)
        return error_null(err);
    for (size_t i = 0; i < p->n_values; i++) {
        const char *name = p->values[i].name;

        if (!name)
            return error_null(err);
        if (!is_known(name))
            return error_set(
                err, GG_ERR_ARG,
                "no stage of a sampler chain has a number '%s'",
                escape_bytes(shown, sizeof(shown), name, strlen(name)));
    }
    return GG_OK;
}

enum gg_status
sample_params_numbers(const struct gg_sampler_params *p,
                      struct sample_numbers *out, struct gg_error *err)
{
    enum gg_status st = check_names(p, err);

    for (size_t r = 0; sample_stages[r].name; r++)
        for (size_t c = 0; st == GG_OK && c < SAMPLE_NUMBERS; c++) {
            const struct sample_number *n = &sample_stages[r].numbers[c];

            if (!n->is.name)
                break;
            out->v[r][c] = read_number(p, n);
            st = check_number(&n->is, out->v[r][c], err);
        }
    return st;
}

enum gg_status
sample_params_check(const struct gg_sampler_params *p, struct gg_error *err)
{
    enum gg_status st = ERROR_RESERVED(p, err);

    if (st != GG_OK)
        return st;
    if ((!p->bias && p->n_bias) || (!p->dry_breakers && p->n_dry_breakers))
        return error_null(err);
    for (size_t i = 0; i < p->n_bias; i++)
        if (p->bias[i].id < 0 || !(p->bias[i].add < INFINITY))
            return error_set(err, GG_ERR_ARG, "bias %g of id %ld",
                             p->bias[i].add, (long)p->bias[i].id);
    return GG_OK;
}
