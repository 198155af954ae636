/* test_train_families.c - what training computes is what the families do
 *
 * Losses of packed rows are compared with the log-probabilities that a session
 * gives, whose attention is another one; a step makes them less. Families that
 * cannot be trained say so. */
#include <gg-train.h>
#include <math.h>

#include "harness/session_test.h"

enum {
    LONG = 70, /* more than the families' windows */
    SHORT = 29,
};

static int32_t ids[LONG];

/* The sum of -log p of ids[1..n). */
static double
session_loss(int n)
{
    struct gg_model *m;
    struct gg_session_params p = { .cache_type = GG_CACHE_F32 };
    struct gg_session *s;
    float logprobs[LONG], logits[V];
    struct gg_chunk c = { .ids = ids,
                          .n = (size_t)n,
                          .rows.logits = logits,
                          .scores.logprobs = logprobs };
    double sum = 0;

    must(gg_model_open(scratch_path(), NULL, &m, &err));
    s = new_session(m, p);
    must(gg_session_eval(s, &c, 1, &err));
    for (int i = 0; i + 1 < n; i++)
        sum -= (double)logprobs[i];
    gg_session_free(s);
    gg_model_free(m);
    return sum;
}

static double
held_out_loss(struct gg_train *t)
{
    double loss = 0;
    uint64_t n = 0;

    must(gg_train_evaluate(t, &loss, &n, &err));
    is(n, (uint64_t)(LONG + SHORT - 2), "all targets count");
    return loss * (double)n;
}

/* False: the family cannot be trained. */
static bool
start(struct gg_train **t, int rank)
{
    struct gg_train_params p = { .n_ctx = 128,
                                 .batch = 1,
                                 .rank = rank,
                                 .n_steps = 2,
                                 .rate = 1e-4,
                                 .schedule = GG_TRAIN_CONSTANT };
    enum gg_status st = gg_train_open(scratch_path(), &p, t, &err);
    const int lengths[] = { LONG, SHORT };

    for (int i = 0; i < 2 && st == GG_OK; i++) {
        must(gg_train_add(*t, GG_TRAIN_SET, ids, NULL, (size_t)lengths[i],
                          &err));
        must(gg_train_add(*t, GG_TRAIN_HELD_OUT, ids, NULL, (size_t)lengths[i],
                          &err));
    }
    if (st == GG_OK) {
        st = gg_train_start(*t, &err);
        if (st != GG_OK)
            gg_train_free(*t);
    }
    if (st == GG_OK)
        return true;
    printf("# %s\n", err.message);
    is(st, GG_ERR_UNSUPPORTED, "cannot be trained");
    ok(strstr(err.message, "gradient") != NULL, "for lack of a gradient");
    return false;
}

static void
test_family(const char *name, int rank)
{
    char full[64];
    struct model_spec spec;
    struct gg_train *t;
    struct gg_train_report r;
    double want, got, after;

    snprintf(full, sizeof(full), "%s-f32", name);
    if (!models_named(full, &spec) || !models_write(&spec, scratch_path()))
        exit(99);
    printf("# %s, rank %d\n", name, rank);
    if (!start(&t, rank))
        return;
    want = session_loss(LONG) + session_loss(SHORT);
    got = held_out_loss(t);
    printf("# %.6f, a session %.6f\n", got, want);
    ok(fabs(got - want) < 1e-4 * want, "as a session has it");
    for (int i = 0; i < 2; i++)
        must(gg_train_step(t, &r, &err));
    after = held_out_loss(t);
    ok(after < got, "and less after some steps");
    gg_train_free(t);
}

/* Layers with a state: graphs of whole rows have no sequences. */
static void
test_recurrent(void)
{
    static const char *const names[] = { "qwen35",        "lfm2",     "mamba2",
                                         "rwkv6",         "rwkv7",    "arwkv7",
                                         "granitehybrid", "falcon-h1" };
    struct model_spec spec;
    struct gg_train *t;

    for (size_t i = 0; i < 2 * sizeof(names) / sizeof(names[0]); i++) {
        char full[64];

        snprintf(full, sizeof(full), "%s-f32", names[i / 2]);
        if (!models_named(full, &spec) || !models_write(&spec, scratch_path()))
            exit(99);
        ok(!start(&t, i % 2 ? 2 : 0), full);
        ok(strstr(err.message, names[i / 2]) != NULL, "by its name");
    }
}

static void
test_arguments(void)
{
    struct gg_train_params p = { .reserved = { 1 } };
    struct gg_train *t;

    is(gg_train_open(NULL, NULL, &t, &err), GG_ERR_ARG, "no path");
    is(gg_train_open(scratch_path(), &p, &t, &err), GG_ERR_ARG, "reserved");
    p = (struct gg_train_params){ .n_ctx = -1 };
    is(gg_train_open(scratch_path(), &p, &t, &err), GG_ERR_ARG, "a length");
    p = (struct gg_train_params){ .rate = NAN };
    is(gg_train_open(scratch_path(), &p, &t, &err), GG_ERR_ARG, "a rate");
    is(gg_train_start(NULL, &err), GG_ERR_ARG, "no training");
    is(gg_train_state(NULL).n_steps, (int64_t)0, "nor its state");
    gg_train_free(NULL);
}

int
main(void)
{
    fill_ids(ids, LONG);
    for (size_t i = 0; models_family(i); i++)
        test_family(models_family(i), i % 3 == 0 ? 2 : 0);
    test_recurrent();
    test_arguments();
    return tap_done();
}
