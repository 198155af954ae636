/* test_sampler_names.c - stages and numbers of a sampler, by their names */
#include <gg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sampler_draws.h"
#include "harness/tap.h"

/* ---- names ---- */

static const char order_of_default[] =
    "penalties;dry;top-n-sigma;temperature;top-k;typical-p;eta-cutoff;top-p;"
    "min-p;xtc";

/* Parameters by bits of i: each of them off or on. */
static struct gg_sampler_params
params_of(int i)
{
    static const struct gg_sampler_value eta = { "eta-cutoff", 0.25 };
    struct gg_sampler_params p = gg_sampler_params_default();

    p.seed = (uint64_t)i;
    p.top_k = i & 1 ? 40 : -1;
    p.top_p = i & 2 ? 0.9f : 1;
    p.min_p = i & 4 ? 0.05f : 0;
    p.typical_p = i & 8 ? 0.8f : 0;
    p.top_n_sigma = i & 16 ? 1.5f : 0;
    p.xtc_probability = i & 32 ? 0.5f : 0;
    p.repeat_penalty = i & 64 ? 1.2f : 0;
    p.dry_multiplier = i & 128 ? 1 : 0;
    p.values = &eta;
    p.n_values = i >> 10 & 1;
    p.mirostat = i >> 8 & 3;
    p.greedy = p.mirostat == 3;
    p.mirostat %= 3;
    return p;
}

static void
test_default(void)
{
    int differ = 0;
    float logits[N];
    int32_t past[PAST];

    for (int i = 0; i < 2048; i++) {
        struct gg_sampler_params p = params_of(i);
        struct gg_sampler *a = NULL, *b = NULL;

        if (gg_sampler_new(&p, &a, &err) != GG_OK)
            differ++;
        p.stages = order_of_default;
        if (gg_sampler_new(&p, &b, &err) != GG_OK)
            differ++;
        differ += gg_sampler_enough(a) != gg_sampler_enough(b);
        for (uint64_t at = 0; at < 4; at++) {
            struct gg_draw x = { -1, 0 }, y = { -2, 0 };

            fill(logits, past);
            differ += !draw(a, logits, past, at, &x) ||
                      !draw(b, logits, past, at, &y) || x.id != y.id ||
                      x.logprob != y.logprob;
        }
        gg_sampler_free(a);
        gg_sampler_free(b);
    }
    is(differ, 0, "the default order, named, gives the same bytes as none");
}

static enum gg_status
named(const char *stages)
{
    struct gg_sampler_params p = { .stages = stages };
    struct gg_sampler *s = NULL;
    enum gg_status st = gg_sampler_new(&p, &s, &err);

    gg_sampler_free(s);
    return st;
}

static void
test_names(void)
{
    ok(named("") == GG_OK && named(" ;, ") == GG_OK, "no stages");
    ok(named("top_k;typ_p,temp; nucleus;typical;") == GG_ERR_ARG &&
           strstr(err.message, "typical-p") && strstr(err.message, "twice"),
       "one is there twice, by another name");
    ok(named("penalties;dry;top_n_sigma;top_k;typ_p;top_p;min_p;xtc;"
             "temperature") == GG_OK,
       "names with underscores");
    ok(named("top-k;top-q") == GG_ERR_ARG && strstr(err.message, "'top-q'") &&
           strstr(err.message, "penalties, dry, top-n-sigma") &&
           strstr(err.message, ", xtc"),
       "an unknown one is named, and those that there are");
    ok(named("top-k;\n") == GG_ERR_ARG && strstr(err.message, "'\\n'"),
       "and shown as text");
    ok(named("top-") == GG_ERR_ARG && named("top-kk") == GG_ERR_ARG &&
           named("typical|") == GG_ERR_ARG,
       "a part of a name is none");
    ok(named("mirostat") == GG_ERR_ARG, "Mirostat has no place in an order");
}

/* ---- numbers ---- */

static bool
takes(const char *name, double x)
{
    const struct gg_sampler_value v = { name, x };
    struct gg_sampler_params p = { .values = &v, .n_values = 1 };
    struct gg_sampler *s = NULL;
    bool right =
        gg_sampler_new(&p, &s, &err) == GG_OK || !strstr(err.message, name);

    gg_sampler_free(s);
    return right;
}

static void
test_numbers(void)
{
    const struct gg_sampler_parameter *is_;
    int wrong = 0, n = 0;

    for (size_t i = 0; (is_ = gg_sampler_parameter_at(i)); i++, n++) {
        wrong += !takes(is_->name, is_->min) || !takes(is_->name, is_->max) ||
                 !takes(is_->name, is_->fallback) ||
                 takes(is_->name, is_->min - 1) ||
                 takes(is_->name, is_->max * 1.5) || takes(is_->name, NAN) ||
                 takes(is_->name, INFINITY) || takes(is_->name, -INFINITY);
        wrong += takes(is_->name, is_->min + 0.5) == is_->whole;
    }
    is(wrong, 0, "bounds of all numbers");
    ok(n > 10, "which are some");
}

static void
test_values(void)
{
    const struct gg_sampler_value values[] = {
        { "top-k", 3 }, { "top-p", 1 }, { "top-k", 0 }, { "top-k", 2 }
    };
    struct gg_sampler_params p = { .top_k = 1, .values = values };
    static const float logits[] = { 1, 1, 1, 1 };
    const struct gg_candidate *c;
    size_t left[5] = { 0 };

    for (p.n_values = 0; p.n_values <= 4; p.n_values++) {
        struct gg_sampler *s = NULL;

        if (gg_sampler_new(&p, &s, &err) == GG_OK &&
            gg_sampler_candidates(s, NULL, logits, 4, &c, &left[p.n_values],
                                  &err) != GG_OK)
            left[p.n_values] = 0;
        gg_sampler_free(s);
    }
    ok(left[0] == 1 && left[1] == 3, "a value counts more than the member");
    ok(left[3] == 4 && left[4] == 2, "a later one more, and 0 is one");
}

int
main(void)
{
    srand(1);
    test_default();
    test_names();
    test_numbers();
    test_values();
    return tap_done();
}
