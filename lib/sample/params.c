/* params.c - what a sampler can be asked for */
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
write_member(struct gg_sampler_params *p, const struct sample_number *n,
             double x)
{
    char *member = (char *)p + n->at;

    if (n->at && n->is.whole)
        *(int32_t *)member = (int32_t)x;
    else if (n->at)
        *(float *)member = (float)x;
}

/* ---- all numbers ---- */

/* Number i of those of all stages; false: there are no more. `row` and `column`
 * get where it is in the table. */
static bool
find_number(size_t i, size_t *row, size_t *column)
{
    for (size_t r = 0; r < SAMPLE_STAGES; r++)
        for (size_t c = 0; c < SAMPLE_NUMBERS; c++)
            if (sample_stages[r].numbers[c].is.name && i-- == 0) {
                *row = r;
                *column = c;
                return true;
            }
    return false;
}

const struct gg_sampler_parameter *
gg_sampler_parameter_at(size_t i)
{
    size_t row, column;

    return find_number(i, &row, &column)
               ? &sample_stages[row].numbers[column].is
               : NULL;
}

struct gg_sampler_params
gg_sampler_params_default(void)
{
    struct gg_sampler_params p = { 0 };

    for (size_t i = 0, row, column; find_number(i, &row, &column); i++) {
        const struct sample_number *n = &sample_stages[row].numbers[column];

        write_member(&p, n, n->is.fallback);
    }
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
    const struct gg_sampler_parameter *is;

    for (size_t i = 0; (is = gg_sampler_parameter_at(i)); i++)
        if (strcmp(is->name, name) == 0)
            return true;
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

    for (size_t i = 0, r, c; st == GG_OK && find_number(i, &r, &c); i++) {
        const struct sample_number *n = &sample_stages[r].numbers[c];

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
