/* test_adapters.c - sequences with other adapters side by side: nothing of one
 * is another's */
#include <math.h>

#include <gg-engine.h>

#include "fixtures/adapters.h"
#include "harness/session_test.h"

enum {
    N = 60,
    SETS = 3,
};

static int32_t ids[N];
static char lora_path[SCRATCH_PATH];
static const float sets[SETS][1] = { { 0 }, { 1 }, { 0.5f } };

static struct gg_model *
open_model(void)
{
    struct adapter_spec a = { .alpha = 8 };
    struct gg_adapter use = { .path = lora_path, .scale = 1 };
    struct gg_model_params params = { .adapters = &use, .n_adapters = 1 };
    struct model_spec spec;
    struct gg_model *m;

    strcpy(lora_path, scratch_file("lora.gguf"));
    if (!models_named("llama-q8_0", &spec))
        exit(99);
    spec.type = GGML_TYPE_F32;
    if (!models_write(&spec, scratch_path()) ||
        !adapters_write(&a, scratch_path(), lora_path))
        exit(99);
    must(gg_model_open(scratch_path(), &params, &m, &err));
    return m;
}

static struct gg_engine *
new_engine(const struct gg_model *m, int32_t n_slots, bool score,
           struct gg_session **session)
{
    struct gg_session_params p = { .n_slots = n_slots, .n_ctx = 256 };
    struct gg_engine_params params = { .score = score };
    struct gg_engine *e;

    *session = new_session(m, p);
    must(gg_engine_new(m, *session, &params, &e, &err));
    return e;
}

static struct gg_sequence *
new_sequence(struct gg_engine *e, const float *scales, int n)
{
    struct gg_sequence *q;

    must(gg_sequence_new(e, &q, &err));
    must(gg_sequence_set_scales(q, scales, &err));
    must(gg_sequence_put(q, ids, (size_t)n, &err));
    return q;
}

/* Logits after ids[0..n) of a sequence that has an engine for itself. */
static void
alone(const struct gg_model *m, const float *scales, int n, float *out)
{
    struct gg_session *s;
    struct gg_engine *e = new_engine(m, 1, false, &s);
    struct gg_query query = { .sequence = new_sequence(e, scales, n),
                              .rows.logits = out };

    must(gg_engine_eval(e, &query, 1, &err));
    gg_sequence_free(query.sequence);
    gg_engine_free(e);
    gg_session_free(s);
}

/* Sequences of one prompt with all sets, in fewer slots than sequences. */
static void
check_neighbours(const struct gg_model *m, int32_t n_slots)
{
    struct gg_session *s;
    struct gg_engine *e = new_engine(m, n_slots, false, &s);
    struct gg_query queries[SETS] = { 0 };
    float out[SETS][V], one[V];

    for (int k = 0; k < SETS; k++)
        queries[k].sequence = new_sequence(e, sets[k], 30);
    for (int end = 30; end <= N; end += 10) {
        for (int k = 0; k < SETS; k++)
            queries[k].rows.logits = out[k];
        must(gg_engine_eval(e, queries, SETS, &err));
        for (int k = 0; k < SETS; k++) {
            alone(m, sets[k], end, one);
            ok(same(out[k], one), "the logits that it has alone");
        }
        for (int k = 0; k < SETS && end < N; k++)
            must(gg_sequence_put(queries[k].sequence, ids + end, 10, &err));
    }
    for (int k = 0; k < SETS; k++)
        gg_sequence_free(queries[k].sequence);
    gg_engine_free(e);
    gg_session_free(s);
}

/* A sequence's prefix is shared with others of the same adapters alone. */
static void
check_prefix(const struct gg_model *m)
{
    struct gg_session *s;
    struct gg_engine *e = new_engine(m, 4, false, &s);
    float out[V], one[V];

    for (int i = 0; i < 4; i++) {
        const float *scales = sets[i / 2];
        struct gg_query query = { .sequence = new_sequence(e, scales, N),
                                  .rows.logits = out };
        size_t cost = gg_sequence_cost(query.sequence, NULL, 0);
        uint64_t before = gg_engine_stats(e).n_copied;

        must(gg_engine_eval(e, &query, 1, &err));
        is(cost, i % 2 ? 1 : N, i % 2 ? "shared with its like" : "not shared");
        is(gg_engine_stats(e).n_copied - before, i % 2 ? N - 1 : 0,
           "as it is evaluated");
        alone(m, scales, N, one);
        ok(same(out, one), "and has its own logits");
        gg_sequence_free(query.sequence);
    }
    gg_engine_free(e);
    gg_session_free(s);
}

/* Scales that are given and those of the model, which NULL stands for, differ:
 * a long prefix of the one is nothing to the other, whichever came first, and
 * whether its sequence is still there. */
static void
check_unsaid(const struct gg_model *m, bool first_is_given, bool leave)
{
    const float *scales[2] = { first_is_given ? sets[2] : NULL,
                               first_is_given ? NULL : sets[2] };
    struct gg_session *s;
    struct gg_engine *e = new_engine(m, 2, false, &s);
    struct gg_query first = { .sequence = new_sequence(e, scales[0], N) };
    struct gg_query second = { .sequence = new_sequence(e, scales[1], N) };
    float out[V], one[V];

    is(gg_sequence_cost(second.sequence, &first.sequence, 1), N,
       "nothing is shared with one that is to be evaluated with other scales");
    must(gg_engine_eval(e, &first, 1, &err));
    if (leave)
        gg_sequence_free(first.sequence);
    is(gg_sequence_cost(second.sequence, NULL, 0), N,
       "nor with one that was evaluated with them");
    second.rows.logits = out;
    must(gg_engine_eval(e, &second, 1, &err));
    is(gg_engine_stats(e).n_copied, 0, "nothing of it is copied");
    alone(m, scales[1], N, one);
    ok(same(out, one), "the logits are those of the sequence's own scales");
    if (!leave)
        gg_sequence_free(first.sequence);
    gg_sequence_free(second.sequence);
    gg_engine_free(e);
    gg_session_free(s);
}

/* One that gets other adapters is evaluated anew; copies have its own. */
static void
check_change(const struct gg_model *m)
{
    struct gg_session *s;
    struct gg_engine *e = new_engine(m, 2, false, &s);
    struct gg_sequence *q = new_sequence(e, NULL, N), *copy;
    struct gg_query query = { .sequence = q };
    const float odd[1] = { NAN };
    float out[V], one[V];

    query.rows.logits = out;
    must(gg_engine_eval(e, &query, 1, &err));
    alone(m, sets[1], N, one);
    ok(same(out, one), "none said: as the model was opened");
    must(gg_sequence_set_scales(q, sets[2], &err));
    must(gg_engine_eval(e, &query, 1, &err));
    alone(m, sets[2], N, one);
    ok(same(out, one), "another scale, from the first id on");
    must(gg_sequence_copy(q, &copy, &err));
    query.sequence = copy;
    must(gg_engine_eval(e, &query, 1, &err));
    ok(same(out, one), "a copy has the same");
    ok(gg_sequence_set_scales(q, odd, &err) == GG_ERR_ARG, "no number");
    gg_sequence_free(copy);
    gg_sequence_free(q);
    gg_engine_free(e);
    gg_session_free(s);
}

/* Log-probabilities of an engine that scores are not shared either. */
static void
check_scores(const struct gg_model *m)
{
    struct gg_session *s;
    struct gg_engine *e = new_engine(m, 2, true, &s);
    double sums[4] = { 0 };

    for (int i = 0; i < 4; i++) {
        struct gg_query query = { .sequence = new_sequence(e, sets[i % 2], N) };
        const float *p;
        size_t n;

        must(gg_engine_eval(e, &query, 1, &err));
        p = gg_sequence_logprobs(query.sequence, &n);
        for (size_t k = 1; k < n; k++)
            sums[i] += (double)p[k];
        gg_sequence_free(query.sequence);
    }
    ok(sums[0] != sums[1] && sums[0] == sums[2] && sums[1] == sums[3],
       "log-probabilities are those of the adapters");
    gg_engine_free(e);
    gg_session_free(s);
}

/* The choices of a prompt with other adapters. */
static void
check_choices(const struct gg_model *m)
{
    struct gg_session *s;
    struct gg_engine *e = new_engine(m, 4, false, &s);
    int32_t its[2][N];
    struct gg_choice list[2 * SETS] = { 0 };
    struct gg_choices all[SETS] = { 0 };

    for (int i = 0; i < 2; i++) {
        memcpy(its[i], ids, sizeof(its[i]));
        its[i][N - 2] = 40 + i;
    }
    for (int k = 0; k < SETS; k++) {
        for (int i = 0; i < 2; i++)
            list[2 * k + i] = (struct gg_choice){ .ids = its[i], .n = N };
        all[k] = (struct gg_choices){ .prompt = ids,
                                      .n_prompt = N - 3,
                                      .list = list + 2 * k,
                                      .n = 2,
                                      .scales = sets[k] };
    }
    must(gg_engine_choose(e, all, SETS, &err));
    for (int k = 0; k < SETS; k++) {
        double together = list[2 * k].logprob;

        must(gg_engine_choose(e, &all[k], 1, &err));
        ok(list[2 * k].logprob == together, "a choice as it is alone");
    }
    ok(list[0].logprob != list[2].logprob, "adapters count");
    gg_engine_free(e);
    gg_session_free(s);
}

int
main(void)
{
    struct gg_model *m = open_model();

    fill_ids(ids, N);
    check_neighbours(m, 2);
    check_neighbours(m, 4);
    check_prefix(m);
    for (int i = 0; i < 4; i++)
        check_unsaid(m, i & 1, i & 2);
    check_change(m);
    check_scores(m);
    check_choices(m);
    gg_model_free(m);
    return tap_done();
}
