/* test_engine_sequences.c - the engine: logits, scores and choices of sequences
 * are those of a session */
#include "engine_test.h"

/* ---- logits, scores, choices --------------------------------------------- */

static void
check_query(const struct gg_model *m)
{
    struct bench b;
    struct gg_sequence *q;
    float got[V], again[V], truth[V];
    struct gg_query query = { .rows.logits = got };

    in_steps(m, (struct gg_session_params){ 0 }, ids, 50, 50, truth);
    open_bench(&b, m, 2, 200, (struct gg_engine_params){ 0 });
    must(gg_sequence_new(b.engine, &q, &err));
    must(gg_sequence_put(q, ids, 50, &err));
    query.sequence = q;
    must(gg_engine_eval(b.engine, &query, 1, &err));
    ok(same(got, truth), "logits behind a sequence");
    query.rows.logits = again;
    must(gg_engine_eval(b.engine, &query, 1, &err));
    ok(same(again, truth), "are had again");
    ok(gg_sequence_put(q, (int32_t[]){ V }, 1, &err) == GG_ERR_ARG &&
           gg_sequence_put(q, ids, 151, &err) == GG_ERR_CONTEXT,
       "bad ids and too many are refused");
    query.rows.n_last = 51;
    is(gg_engine_eval(b.engine, &query, 1, &err), GG_ERR_ARG,
       "so is what a sequence has not");
    gg_sequence_free(q);
    close_bench(&b);
}

/* logprobs[i] of ids[i + 1]. */
static void
score_truth(const struct gg_model *m, const int32_t *what, size_t n, float *out)
{
    struct gg_session *s = new_session(m, (struct gg_session_params){ 0 });
    struct gg_chunk c = { .ids = what, .n = n, .scores.logprobs = out };

    must(gg_session_eval(s, &c, 1, &err));
    gg_session_free(s);
}

/* Sequences in parts, beginning alike. */
static void
check_score(const struct gg_model *m)
{
    struct bench b;
    bool all = true;

    open_bench(&b, m, 2, 200, (struct gg_engine_params){ .score = true });
    for (int i = 0; i < 6; i++) {
        size_t n = (size_t)(90 - i), known;
        struct gg_sequence *q;
        struct gg_query query = { 0 };
        int32_t what[128];
        float truth[128];

        memcpy(what, ids, n * sizeof(*what));
        what[60 + i] = 7;
        score_truth(m, what, n, truth);
        must(gg_sequence_new(b.engine, &q, &err));
        query.sequence = q;
        for (size_t at = 0, step = 30; at < n; at += step) {
            must(gg_sequence_put(q, what + at, n - at < step ? n - at : step,
                                 &err));
            must(gg_engine_eval(b.engine, &query, 1, &err));
        }
        all = all &&
              !memcmp(gg_sequence_logprobs(q, &known) + 1, truth,
                      (n - 1) * sizeof(*truth)) &&
              known == n;
        gg_sequence_free(q);
    }
    ok(all, "scores are those of the session, through shared prefixes");
    ok(gg_engine_stats(b.engine).n_copied > 5 * 20, "which are copied");
    close_bench(&b);
}

/* A scoring engine whose model keeps recurrent states: of a prompt all ids but
 * the last were evaluated, and just there its snapshot is. One that begins so
 * has all of it. */
static void
check_score_snapshot(void)
{
    enum {
        PROMPT = 100
    };
    struct model_spec spec;
    struct gg_model *m;
    struct gg_query queries[2] = { 0 };
    struct bench b;
    float truth[128];
    size_t known;
    const float *got;

    if (!models_named("qwen35-f32", &spec))
        exit(99);
    m = new_model(&spec);
    score_truth(m, ids, 128, truth);
    open_bench(&b, m, 2, 200, (struct gg_engine_params){ .score = true });
    for (int i = 0; i < 2; i++) {
        must(gg_sequence_new(b.engine, &queries[i].sequence, &err));
        must(gg_sequence_put(queries[i].sequence, ids, PROMPT, &err));
    }
    must(gg_engine_eval(b.engine, queries, 1, &err));
    must(gg_sequence_put(queries[0].sequence, ids + 300, 50, &err));
    must(gg_engine_eval(b.engine, queries, 1, &err));
    must(
        gg_sequence_put(queries[1].sequence, ids + PROMPT, 128 - PROMPT, &err));
    must(gg_engine_eval(b.engine, queries + 1, 1, &err));
    is(gg_engine_stats(b.engine).n_copied, PROMPT - 1,
       "all of a scored prompt's snapshot is copied");
    got = gg_sequence_logprobs(queries[1].sequence, &known);
    ok(known == 128 && !memcmp(got + 1, truth, 127 * sizeof(*truth)),
       "and the scores after it are those of the session");
    for (int i = 0; i < 2; i++)
        gg_sequence_free(queries[i].sequence);
    close_bench(&b);
    gg_model_free(m);
}

/* They add up to 1, and go by the likelihoods. */
static bool
are_shares(const struct gg_choice *list, int n)
{
    double sum = 0;
    bool right = true;

    for (int i = 0; i < n; i++) {
        double likelier = list[i].logprob - list[0].logprob;

        sum += list[i].probability;
        right = right && fabs(log(list[i].probability / list[0].probability) -
                              likelier) < 1e-9;
    }
    return right && fabs(sum - 1) < 1e-12;
}

static void
check_choices(const struct gg_model *m)
{
    enum {
        N_CHOICES = 7
    };
    int32_t its[N_CHOICES][64];
    struct gg_choice list[N_CHOICES];
    struct gg_choices all = { ids, 50, list, N_CHOICES, NULL, NULL };
    bool right = true, shares = true;

    for (int i = 0; i < N_CHOICES; i++) {
        memcpy(its[i], ids, 48 * sizeof(**its)); /* two ids are otherwise */
        memcpy(its[i] + 48, ids + 100 + 3 * i, 16 * sizeof(**its));
        list[i] =
            (struct gg_choice){ .ids = its[i], .n = (size_t)(49 + 2 * i) };
    }
    for (int32_t n_slots = 1; n_slots < 10; n_slots += 4) {
        struct bench b;

        open_bench(&b, m, n_slots, 200, (struct gg_engine_params){ 0 });
        must(gg_engine_choose(b.engine, &all, 1, &err));
        shares = shares && are_shares(list, N_CHOICES);
        for (int i = 0; i < N_CHOICES; i++) {
            float truth[64];
            double sum = 0;

            score_truth(m, its[i], list[i].n, truth);
            for (size_t k = 47; k + 1 < list[i].n; k++)
                sum += (double)truth[k];
            right = right && list[i].n_scored == list[i].n - 48 &&
                    fabs(sum - list[i].logprob) < 1e-12;
        }
        close_bench(&b);
    }
    ok(right, "choices have the probabilities of their ids");
    ok(shares, "of which each has its share");
}

/* ---- windows ------------------------------------------------------------- */

enum {
    BASE = 100,
    LONG = 1500, /* more than windowed layers keep */
};

/* Puts `what` after the sequence and evaluates it; returns how many ids that
 * took. */
static size_t
go_on(struct bench *b, struct gg_sequence *q, const int32_t *what, size_t n,
      float *logits)
{
    uint64_t before = gg_engine_stats(b->engine).n_evaluated;
    struct gg_query query = { .sequence = q, .rows.logits = logits };

    must(gg_sequence_put(q, what, n, &err));
    must(gg_engine_eval(b->engine, &query, 1, &err));
    return (size_t)(gg_engine_stats(b->engine).n_evaluated - before);
}

/* The sequence that begins most like another has moved on too far. */
static void
check_window(void)
{
    struct gg_model *m;
    struct model_spec spec;
    static int32_t text[LONG];
    float truth[V], logits[V];
    struct gg_sequence *base, *far, *near;
    struct bench b;
    size_t n;

    if (!models_named("gemma2-q8_0", &spec))
        exit(99);
    spec.n_ctx = 2048;
    m = new_model(&spec);
    fill_ids(text, LONG);
    in_steps(m, (struct gg_session_params){ .n_ctx = 2048 }, text, 512,
             BASE + 30, truth);
    open_bench(&b, m, 3, 2048, (struct gg_engine_params){ 0 });
    must(gg_sequence_new(b.engine, &base, &err));
    (void)go_on(&b, base, text, BASE, NULL);
    gg_sequence_keep(base, true);
    must(gg_sequence_copy(base, &far, &err));
    ok(go_on(&b, far, text + BASE, LONG - BASE, NULL) == LONG - BASE,
       "windows: a text behind a base");
    must(gg_sequence_copy(base, &near, &err));
    n = go_on(&b, near, text + BASE, 30, logits);
    ok(n == 30 && same(logits, truth),
       "the base is copied where more is shared with what is gone");
    gg_sequence_truncate(far, BASE + 20);
    n = go_on(&b, far, text + BASE + 20, 10, logits);
    ok(n == 1 && same(logits, truth),
       "a sequence that was cut too far takes from another");
    gg_sequence_free(base);
    gg_sequence_free(far);
    gg_sequence_free(near);
    close_bench(&b);
    gg_model_free(m);
}

int
main(void)
{
    struct gg_model *m = new_model(&plain_model);

    fill_ids(ids, 512);
    check_query(m);
    check_score(m);
    check_choices(m);
    gg_model_free(m);
    check_score_snapshot();
    check_window();
    return tap_done();
}
