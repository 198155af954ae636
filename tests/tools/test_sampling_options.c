/* test_sampling_options.c - options of drawing against the numbers that stages
 * of the sampler chain read */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/sampling.h"
#include "harness/tap.h"

const char cli_name[] = "test";

static struct gg_error err;

static bool
sets(const struct cli_option *o, double x)
{
    struct sampling_options options = sampling_options_default();
    char text[64];

    snprintf(text, sizeof(text), "%.17g", x);
    return cli_option_set(o, &options, text, &err) == GG_OK;
}

/* Bounds are the stage's, or within them. */
static bool
is_within(const struct cli_option *o, const struct gg_sampler_parameter *is)
{
    double below = is->whole ? is->min - 1 : nextafter(is->min, -INFINITY);
    double above = is->whole ? is->max + 1 : nextafter(is->max, INFINITY);

    return !sets(o, below) && !sets(o, above) &&
           (o->kind != CLI_CALL || (sets(o, is->min) && sets(o, is->max)));
}

/* Every number of a stage can be said. */
static void
test_parameters(void)
{
    const struct gg_sampler_parameter *is;
    size_t i = 0;

    for (; (is = gg_sampler_parameter_at(i)); i++) {
        const struct cli_option *o =
            cli_option_of_member(sampling_rows, is->name);
        char name[80];

        snprintf(name, sizeof(name), "%s has an option, of its bounds",
                 is->name);
        ok(o && is_within(o, is), name);
    }
    ok(i <= SAMPLING_VALUES, "and there is room for all values");
}

static void
test_values(void)
{
    struct sampling_options o = sampling_options_default();
    const struct cli_option *k = cli_option_of_member(sampling_rows, "top_k");
    const struct cli_option *p = cli_option_of_member(sampling_rows, "top-p");

    ok(k && p && cli_option_set(k, &o, "7", &err) == GG_OK &&
           cli_option_set(p, &o, "0.5", &err) == GG_OK &&
           cli_option_set(k, &o, "0", &err) == GG_OK,
       "three values");
    ok(o.n_values == 2 && strcmp(o.values[0].name, "top-k") == 0 &&
           o.values[0].value == 0 && o.values[1].value == 0.5,
       "of which the last one of a name stays");
    ok(cli_option_set(k, &o, "1.5", &err) == GG_ERR_ARG && o.n_values == 2,
       "a part of a token");
}

int
main(void)
{
    test_parameters();
    test_values();
    return tap_done();
}
