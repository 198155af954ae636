/* test_rope.c - rotary positions: YaRN's divisors, and what the user says */
#include <gg.h>
#include <math.h>

#include "graph/rope.h"
#include "fixtures/models.h"
#include "harness/scratch.h"
#include "harness/tap.h"

enum {
    N = 40,
    V = MODELS_N_VOCAB,
};

static struct gg_error err;

static void
must(enum gg_status st)
{
    if (st != GG_OK) {
        printf("Bail out! %s\n", err.message);
        exit(99);
    }
}

/* ---- YaRN --------------------------------------------------------------- */

/* Peng et al. 2023, section 3.2: a pair of wave length l makes r = context / l
 * turns; gamma(r) goes from 0 at beta_slow to 1 at beta_fast. There the ramp is
 * over r; files and programs have it over the pair's number, as here. */
static double
turns(const struct rope_params *p, double pair)
{
    double length =
        2 * acos(-1) * pow((double)p->base, 2 * pair / (double)p->n_rot);

    return p->n_ctx_orig / length;
}

static void
test_yarn(void)
{
    struct rope_params p = {
        .n_rot = 64,
        .base = 150000,
        .factor = 32,
        .n_ctx_orig = 4096,
        .beta_fast = 32,
        .beta_slow = 1,
        .exact_ramp = true,
    };
    bool fast = true, slow = true, rising = true;
    double low = 0, high = 0, middle;

    while (turns(&p, low) > 32)
        low += 1e-4;
    while (turns(&p, high) > 1)
        high += 1e-4;
    for (int i = 0; i < 32; i++) {
        double d = graph_rope_yarn_divisor(&p, i);

        fast = fast && (turns(&p, i) < 32 || d == 1);
        slow = slow && (turns(&p, i) > 1 || fabs(d - 32) < 1e-12);
        rising = rising && (i == 0 || d >= graph_rope_yarn_divisor(&p, i - 1));
    }
    ok(fast, "pairs that turn 32 times are as they were trained");
    ok(slow, "pairs that never turn once are stretched 32 times");
    ok(rising, "between them divisors rise");
    middle = (12 - low) / (high - low);
    middle = 1 / (1 - middle + middle / 32);
    ok(fabs(graph_rope_yarn_divisor(&p, 12) - middle) < 1e-3, "along a ramp");
    p.exact_ramp = false;
    middle = (12 - floor(low)) / (ceil(high) - floor(low));
    middle = 1 / (1 - middle + middle / 32);
    ok(fabs(graph_rope_yarn_divisor(&p, 12) - middle) < 1e-12,
       "whose ends may be whole pairs");
}

/* ---- the user's word ---------------------------------------------------- */

static const struct model_spec llama = { "llama", .n_head_kv = 2, .seed = 3 };

/* The logits after ids 0..N-1, with the user's parameters. */
static void
logits(const struct gg_model_params *params, float *out)
{
    int32_t ids[N];
    struct gg_chunk c = { .ids = ids, .n = N, .rows.logits = out };
    struct gg_model *m;
    struct gg_session *s;

    for (int i = 0; i < N; i++)
        ids[i] = i * 7 % V;
    must(gg_model_open(scratch_path(), params, &m, &err));
    must(gg_session_new(m, NULL, &s, &err));
    must(gg_session_eval(s, &c, 1, &err));
    gg_session_free(s);
    gg_model_free(m);
}

static bool
same(const float *a, const float *b)
{
    return !memcmp(a, b, V * sizeof(*a));
}

static void
test_override(void)
{
    struct model_spec scaled = llama;
    struct gg_model_params p = { .rope_factor = 4 };
    float plain[V], file[V], user[V];

    models_write(&llama, scratch_path());
    logits(NULL, plain);
    logits(&p, user);
    scaled.rope_factor = 4;
    models_write(&scaled, scratch_path());
    logits(NULL, file);
    ok(!same(plain, file) && same(user, file),
       "a factor, as if the file had it");
    p = (struct gg_model_params){ .rope_scaling = "none" };
    logits(&p, user);
    ok(same(user, plain), "no scaling, whatever the file says");
    p = (struct gg_model_params){ .rope_scaling = "yarn", .rope_factor = 1 };
    logits(&p, user);
    ok(same(user, plain), "yarn by 1 changes nothing");
    p.rope_factor = 8;
    p.rope_n_ctx = 8;
    logits(&p, user);
    ok(!same(user, plain) && !same(user, file), "yarn by 8 does");
    scaled = llama;
    scaled.rope_base = 500;
    models_write(&scaled, scratch_path());
    logits(NULL, file);
    models_write(&llama, scratch_path());
    p = (struct gg_model_params){ .rope_base = 500 };
    logits(&p, user);
    ok(same(user, file), "a base");
}

static void
refused(struct gg_model_params p, const char *word)
{
    struct gg_model *m = NULL;

    err.message[0] = '\0';
    ok(gg_model_open(scratch_path(), &p, &m, &err) == GG_ERR_ARG && !m &&
           strstr(err.message, word),
       word);
    gg_model_free(m);
}

static void
test_refused(void)
{
    static const struct model_spec gpt2 = { "gpt2", .seed = 3 };

    refused((struct gg_model_params){ .rope_scaling = "su" },
            "none, linear or yarn");
    refused((struct gg_model_params){ .rope_factor = -1 }, "factor");
    refused((struct gg_model_params){ .rope_factor = NAN }, "factor");
    refused((struct gg_model_params){ .rope_base = 0.5f }, "base");
    refused((struct gg_model_params){ .rope_n_ctx = -1 }, "context");
    models_write(&gpt2, scratch_path());
    refused((struct gg_model_params){ .rope_base = 500 },
            "no rotary positions");
}

int
main(void)
{
    test_yarn();
    test_override();
    test_refused();
    return tap_done();
}
