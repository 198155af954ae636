/* arguments_samplers.c - arguments of functions of samplers, grammars,
 * histories */
#include "api/arguments.h"

static bool
grammar_new(void)
{
    struct gg_grammar *g = NULL;

    return refused(gg_grammar_new(NULL, "root ::= \"a\"", 12, &g, &err)) &&
           refused(gg_grammar_new(vocab, NULL, 12, &g, &err)) &&
           refused(gg_grammar_new(vocab, "root ::= \"a\"", 12, NULL, &err)) &&
           gg_grammar_new(vocab, NULL, 0, &g, &err) == GG_ERR_FORMAT && !g;
}

static bool
grammar_from_schema(void)
{
    struct gg_grammar *g = NULL;

    return refused(gg_grammar_from_schema(NULL, "{}", 2, &g, &err)) &&
           refused(gg_grammar_from_schema(vocab, NULL, 2, &g, &err)) &&
           refused(gg_grammar_from_schema(vocab, "{}", 2, NULL, &err)) &&
           gg_grammar_from_schema(vocab, NULL, 0, &g, &err) != GG_OK && !g;
}

static bool
grammar_free(void)
{
    gg_grammar_free(NULL);
    return true;
}

static bool
sampler_params_default(void)
{
    return gg_sampler_params_default().seed == 0;
}

static bool
sampler_parameter_at(void)
{
    return gg_sampler_parameter_at(0) && !gg_sampler_parameter_at(1000) &&
           !gg_sampler_parameter_at(SIZE_MAX);
}

/* Each member in turn is out of its range. */
static bool
sampler_new(void)
{
    static const struct gg_bias biases[] = { { -1, 1 }, { 1, NAN } };
    static const struct gg_sampler_value values[] = { { "no", 0 },
                                                      { NULL, 0 } };
    const struct gg_sampler_params d = gg_sampler_params_default();
    struct gg_sampler_params p[32];
    struct gg_sampler *s = NULL;
    bool right = refused(gg_sampler_new(&d, NULL, &err));
    int k = 0;

#define WRONG(member, value) (p[k] = d, p[k].member = value, k++)
    WRONG(temperature, -1);
    WRONG(temperature, NAN);
    WRONG(reserved[4], 1);
    WRONG(top_k, -2);
    WRONG(top_p, 2);
    WRONG(min_p, -1);
    WRONG(typical_p, 2);
    WRONG(top_n_sigma, -1);
    WRONG(xtc_probability, 2);
    WRONG(xtc_threshold, -1);
    WRONG(repeat_penalty, -1);
    WRONG(frequency_penalty, INFINITY);
    WRONG(presence_penalty, NAN);
    WRONG(penalty_last_n, -2);
    WRONG(dry_multiplier, -1);
    WRONG(dry_base, -1);
    WRONG(dry_allowed_length, -1);
    WRONG(dry_last_n, -2);
    WRONG(n_dry_breakers, 1);
    WRONG(n_bias, 1);
    WRONG(bias, &biases[0]);
    p[k - 1].n_bias = 1;
    WRONG(bias, &biases[1]);
    p[k - 1].n_bias = 1;
    WRONG(mirostat, 3);
    WRONG(mirostat_tau, -1);
    WRONG(mirostat_eta, 2);
    WRONG(stages, "nothing");
    WRONG(n_values, 1);
    WRONG(values, &values[0]);
    p[k - 1].n_values = 1;
    WRONG(values, &values[1]);
    p[k - 1].n_values = 1;
#undef WRONG
    while (k-- > 0)
        if (!refused(gg_sampler_new(&p[k], &s, &err))) {
            printf("# parameters %d\n", k);
            right = false;
        }
    return right && !s;
}

static bool
sampler_free(void)
{
    gg_sampler_free(NULL);
    return true;
}

static bool
sampler_enough(void)
{
    return gg_sampler_enough(NULL) == 0;
}

static bool
sampler_remembers(void)
{
    return !gg_sampler_remembers(NULL);
}

static bool
sampler_candidates(void)
{
    static const int32_t wild[] = { -1, INT32_MAX };
    const struct gg_candidate *c = NULL;

#define TAKE(s, i, l, k, c, n) gg_sampler_candidates(s, i, l, k, c, n, &err)
    return refused(TAKE(NULL, NULL, logits, V, &c, &n)) &&
           refused(TAKE(sampler, NULL, NULL, V, &c, &n)) &&
           refused(TAKE(sampler, NULL, logits, V, NULL, &n)) &&
           refused(TAKE(sampler, NULL, logits, V, &c, NULL)) &&
           refused(TAKE(sampler, wild, logits, 2, &c, &n)) && !c &&
           TAKE(sampler, NULL, NULL, 0, &c, &n) != GG_OK;
#undef TAKE
}

static bool
history_new(void)
{
    struct gg_history *h = NULL;

    return refused(gg_history_new(NULL, &h, &err)) && !h &&
           refused(gg_history_new(sampler, NULL, &err));
}

static bool
history_free(void)
{
    gg_history_free(NULL);
    return true;
}

static bool
history_add(void)
{
    return refused(gg_history_add(NULL, ids, 1, &err)) &&
           refused(gg_history_add(history, NULL, 1, &err)) &&
           gg_history_add(history, NULL, 0, &err) == GG_OK;
}

static bool
history_is_complete(void)
{
    return !gg_history_is_complete(NULL);
}

static bool
history_mirostat(void)
{
    return gg_history_mirostat(NULL) == 0;
}

static bool
history_set_mirostat(void)
{
    gg_history_set_mirostat(NULL, 1);
    return true;
}

static bool
history_restart(void)
{
    gg_history_restart(NULL);
    return true;
}

/* Ids that no vocabulary has, and one that is there three times. */
static bool
sampler_next(void)
{
    static const int32_t wild[] = { -1, 5 }, far[] = { INT32_MAX, V };
    static const int32_t same[] = { 5, 5, 5 };
    struct gg_draw d = { .id = 7 };
    struct gg_history *h;
    bool right;

#define DRAW(s, h, i, l, n, d) gg_sampler_next(s, h, i, l, n, 0, 0, d, &err)
    must(gg_history_new(bound, &h, &err));
    right = refused(DRAW(NULL, NULL, NULL, logits, V, &d)) &&
            refused(DRAW(sampler, NULL, NULL, NULL, V, &d)) &&
            refused(DRAW(sampler, NULL, NULL, logits, V, NULL)) &&
            refused(DRAW(sampler, NULL, wild, logits, 2, &d)) &&
            refused(DRAW(bound, NULL, NULL, logits, V, &d)) &&
            refused(DRAW(bound, history, NULL, logits, V, &d)) &&
            refused(DRAW(bound, h, wild, logits, 2, &d)) &&
            DRAW(bound, h, far, logits, 2, &d) != GG_OK && d.id == 7;
    right &= DRAW(bound, h, same, logits, 3, &d) != GG_ERR_ARG;
#undef DRAW
    gg_history_free(h);
    return right;
}

static bool
sampler_draw(void)
{
    int32_t id;

#define DRAW(s, i, l, n, out) gg_sampler_draw(s, i, l, n, 0, 0, out, &err)
    return refused(DRAW(NULL, NULL, logits, V, &id)) &&
           refused(DRAW(sampler, NULL, NULL, V, &id)) &&
           refused(DRAW(sampler, NULL, logits, V, NULL)) &&
           refused(DRAW(bound, NULL, logits, V, &id)) &&
           DRAW(sampler, NULL, logits, 0, &id) != GG_OK;
#undef DRAW
}

const struct argument_test arguments_samplers[] = {
    TEST(grammar_new),          TEST(grammar_from_schema),
    TEST(grammar_free),         TEST(sampler_params_default),
    TEST(sampler_new),          TEST(sampler_free),
    TEST(sampler_enough),       TEST(sampler_candidates),
    TEST(history_new),          TEST(history_free),
    TEST(history_add),          TEST(history_is_complete),
    TEST(history_mirostat),     TEST(history_set_mirostat),
    TEST(history_restart),      TEST(sampler_remembers),
    TEST(sampler_next),         TEST(sampler_draw),
    TEST(sampler_parameter_at), { .name = NULL },
};
