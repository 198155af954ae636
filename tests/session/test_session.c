/* test_session.c - sessions: the same bytes however ids come; slots; limits */
#include <math.h>

#include "core/mem.h"
#include "harness/session_test.h"

enum {
    N = 300, /* beyond one block of keys */
};

static int32_t ids[N];

static void
eval(struct gg_session *s, int32_t slot, int from, int to, float *out)
{
    eval_ids(s, slot, ids, from, to, out);
}

/* ---- the same bytes ------------------------------------------------------ */

static void
check_cuts(const struct gg_model *m, const float *truth)
{
    static const int steps[] = { 1, 2, 7, 64, 255, 256, 257 };
    float out[V];
    bool all = true;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        in_steps(m, gg_session_params_default(), ids, steps[i], N, out);
        all = all && same(out, truth);
    }
    ok(all, "logits do not depend on how the prompt is cut into chunks");
    all = true;
    for (int n_batch = 1; n_batch < 40; n_batch += 6) {
        in_steps(m,
                 (struct gg_session_params){ .n_batch = n_batch,
                                             .cache_type = GG_CACHE_F16 },
                 ids, N, N, out);
        all = all && same(out, truth);
    }
    ok(all, "nor on the size of a batch");
    all = true;
    for (int n_threads = 1; n_threads <= 4; n_threads++) {
        struct gg_session_params p = { .n_threads = n_threads,
                                       .cache_type = GG_CACHE_F16 };

        in_steps(m, p, ids, N, N, out);
        all = all && same(out, truth);
        in_steps(m, p, ids, 1, N, out);
        all = all && same(out, truth);
    }
    ok(all, "nor on the number of threads");
    in_steps(
        m, (struct gg_session_params){ .n_ctx = N, .cache_type = GG_CACHE_F16 },
        ids, N, N, out);
    ok(same(out, truth), "nor on the size of the context");
}

static void
check_slots(const struct gg_model *m, const float *truth)
{
    struct gg_session *s = new_session(
        m, (struct gg_session_params){
               .n_slots = 3, .n_batch = 64, .cache_type = GG_CACHE_F16 });
    float a[V], b[V], c[V], alone[V];
    struct gg_chunk chunks[] = {
        { .slot = 2, .ids = ids, .n = N - 1 },
        { .ids = ids + 7, .n = 40, .rows.logits = b },
        { .slot = 1, .ids = ids + 3, .n = 1, .rows.logits = c },
    };
    struct gg_chunk last[] = {
        { .slot = 1, .ids = ids + 50, .n = 1 },
        { .slot = 2, .ids = ids + N - 1, .n = 1, .rows.logits = a },
        { .ids = ids + 60, .n = 1 },
    };

    must(gg_session_eval(s, chunks, 3, &err));
    ok(gg_session_length(s, 2) == N - 1 && gg_session_length(s, 0) == 40 &&
           gg_session_length(s, 1) == 1,
       "each slot holds its own ids");
    must(gg_session_eval(s, last, 3, &err));
    ok(same(a, truth), "logits do not depend on the slot, nor on neighbours");
    gg_session_truncate(s, 0, 0);
    eval(s, 0, 7, 47, alone);
    ok(same(alone, b), "a neighbour's do not, either");
    gg_session_truncate(s, 0, 0);
    eval(s, 0, 3, 4, alone);
    ok(same(alone, c), "nor those of a single id");
    gg_session_free(s);
}

/* Prompts and single ids of as many slots, an odd number, at once. */
static void
check_many(const struct gg_model *m)
{
    enum {
        SLOTS = 7
    };
    static const int lengths[SLOTS] = { 20, 1, 33, 64, 5, 1, 17 };
    struct gg_session *s = new_session(
        m, (struct gg_session_params){ .n_slots = SLOTS, .n_batch = 200 });
    struct gg_chunk chunks[SLOTS];
    float together[SLOTS][V], alone[V];
    bool all = true;

    for (int i = 0; i < SLOTS; i++)
        chunks[i] = (struct gg_chunk){ .slot = i,
                                       .ids = ids + 9 * i,
                                       .n = lengths[i],
                                       .rows.logits = together[i] };
    must(gg_session_eval(s, chunks, SLOTS, &err));
    gg_session_truncate(s, 3, 0);
    for (int i = 0; i < SLOTS; i++) {
        eval(s, 3, 9 * i, 9 * i + lengths[i], alone);
        all = all && same(alone, together[i]);
        gg_session_truncate(s, 3, 0);
    }
    ok(all, "many prompts at once give what each gives alone");
    gg_session_free(s);
}

/* Logits of some sequences, and of some ids of one, in a row or apart. */
static void
check_places(const struct gg_model *m)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_slots = 3 });
    static float row[1 + 5 * V + 1], apart[5][V + 1];
    struct gg_chunk chunks[] = {
        { .slot = 0, .ids = ids, .n = 5 },
        { .slot = 1, .ids = ids + 9, .n = 4, .rows.n_last = 3 },
        { .slot = 2, .ids = ids + 20, .n = 1 },
    };
    float *const first = row + 1; /* on no line */
    bool good = true;

    row[0] = row[1 + 5 * V] = 12345;
    for (int pass = 0; pass < 2; pass++) {
        chunks[0].rows.logits = pass ? apart[4] : first;
        chunks[1].rows.logits = pass ? apart[0] : first + V;
        chunks[2].rows.logits = pass ? apart[3] + 1 : first + 4 * V;
        must(gg_session_eval(s, chunks, 3, &err));
        for (int slot = 0; slot < 3; slot++)
            gg_session_truncate(s, slot, 0);
    }
    good = same(first, apart[4]) && same(first + 4 * V, apart[3] + 1);
    for (int i = 0; i < 3; i++)
        good = good && same(first + (1 + i) * V, &apart[0][0] + i * V);
    ok(good && row[0] == 12345 && row[1 + 5 * V] == 12345,
       "logits are the same in a row and apart");
    gg_session_free(s);
}

static void
check_truncate(const struct gg_model *m, const float *truth)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    float out[V];

    eval(s, 0, 0, N, out);
    ok(gg_session_truncate(s, 0, 100) == 100 && gg_session_length(s, 0) == 100,
       "truncate forgets");
    eval(s, 0, 0, 150, out); /* something else in their place */
    gg_session_truncate(s, 0, 100);
    eval(s, 0, 100, N, out);
    ok(same(out, truth), "what is evaluated again gives the same bytes");
    ok(gg_session_truncate(s, 0, N + 5) == N && gg_session_length(s, 0) == N,
       "truncate does not lengthen");
    gg_session_free(s);
}

/* A slot that got a prefix goes on as the one that evaluated it. */
static void
check_copy(const struct gg_model *m, const float *truth)
{
    struct gg_session_params p = gg_session_params_default();
    struct gg_session *s;
    float out[V];

    p.n_slots = 3;
    s = new_session(m, p);
    eval(s, 1, 0, N - 1, NULL);
    eval(s, 2, 5, 250, NULL); /* something else, which is to go */
    ok(gg_session_copy(s, 2, 1, 120) == 120 && gg_session_length(s, 2) == 120 &&
           gg_session_length(s, 1) == N - 1,
       "copy tells what the slot holds then");
    eval(s, 2, 120, N, out);
    ok(same(out, truth), "a copied prefix is as good as an evaluated one");
    is(gg_session_copy(s, 0, 1, N + 9), N - 1, "copy does not lengthen");
    gg_session_truncate(s, 1, 0);
    eval(s, 1, 7, 77, NULL); /* the origin is free to forget */
    eval(s, 0, N - 1, N, out);
    ok(same(out, truth), "a copy is the slot's own");
    is(gg_session_copy(s, 0, 0, 20), 20, "onto itself it truncates");
    eval(s, 0, 20, N, out);
    ok(same(out, truth), "and leaves what it keeps");
    is(gg_session_copy(s, 0, 1, 0), 0, "a copy of nothing is empty");
    gg_session_free(s);
}

/* ---- failures leave a slot as it was ------------------------------------- */

static bool
stop_at_zero(void *data)
{
    int *countdown = data;

    return *countdown >= 0 && (*countdown)-- == 0;
}

static void
check_abort(const struct gg_model *m, const float *truth)
{
    int countdown = -1;
    struct gg_session_params p = { .abort = stop_at_zero,
                                   .abort_data = &countdown,
                                   .cache_type = GG_CACHE_F16 };
    struct gg_session *s = new_session(m, p);
    struct gg_chunk c = { .ids = ids + 100, .n = N - 100 };
    float out[V];

    eval(s, 0, 0, 100, out);
    countdown = 5;
    is(gg_session_eval(s, &c, 1, &err), GG_ERR_ABORTED,
       "the abort callback stops an evaluation");
    is(gg_session_length(s, 0), 100, "the slot holds what it held");
    countdown = -1;
    eval(s, 0, 100, N, out);
    ok(same(out, truth), "and goes on as if nothing had been");
    gg_session_free(s);
}

/* Calls, and whether each has more ids than the one before, up to all. */
struct seen {
    int calls;
    uint64_t last, all;
    bool rises;
};

static void
see_progress(void *data, uint64_t done, uint64_t all)
{
    struct seen *seen = data;

    if (done == 0)
        *seen = (struct seen){ .all = all, .rises = true };
    seen->rises = seen->rises && done >= seen->last && all == seen->all;
    seen->last = done;
    seen->calls++;
}

static void
check_progress(const struct gg_model *m)
{
    struct seen seen = { 0 };
    struct gg_session_params p = { .n_batch = 32,
                                   .progress = see_progress,
                                   .progress_data = &seen };
    struct gg_session *s = new_session(m, p);
    float out[V];

    eval(s, 0, 0, 100, out);
    is(seen.calls, 6, "progress: the begin, 4 batches, the end");
    ok(seen.rises && seen.last == 100 && seen.all == 100, "up to all ids");
    gg_session_free(s);
}

static void
check_limits(const struct gg_model *m)
{
    struct gg_session *s = new_session(
        m, (struct gg_session_params){
               .n_ctx = 10, .n_slots = 2, .cache_type = GG_CACHE_F32 });
    int32_t bad[] = { 3, V };
    int32_t negative[] = { -1 };
    struct gg_chunk full = { .ids = ids, .n = 11 },
                    fits = { .ids = ids, .n = 10 };
    struct gg_chunk one = { .ids = ids, .n = 1 }, none = { .ids = ids, .n = 0 };
    struct gg_chunk high = { .slot = 1, .ids = bad, .n = 2 },
                    low = { .slot = 1, .ids = negative, .n = 1 };
    struct gg_chunk slot = { .slot = 2, .ids = ids, .n = 1 },
                    minus = { .slot = -1, .ids = ids, .n = 1 };
    struct gg_chunk twice[] = { { .slot = 1, .ids = ids, .n = 1 },
                                { .slot = 1, .ids = ids, .n = 1 } };
    struct gg_chunk half[] = { { .slot = 1, .ids = ids, .n = 1 },
                               { .ids = ids, .n = 11 } };

    is(gg_session_n_ctx(s), 10, "the context is as large as requested");
    ok(gg_session_eval(s, &full, 1, &err) == GG_ERR_CONTEXT &&
           strstr(err.message, "10") && strstr(err.message, "-c"),
       "what does not fit fails, naming the limit and the option");
    ok(gg_session_eval(s, half, 2, &err) == GG_ERR_CONTEXT &&
           gg_session_length(s, 1) == 0,
       "then no chunk of the call is kept");
    is(gg_session_eval(s, &fits, 1, &err), GG_OK, "what fits, fits");
    is(gg_session_eval(s, &one, 1, &err), GG_ERR_CONTEXT, "full is full");
    is(gg_session_length(s, 0), 10, "and stays as it was");
    is(gg_session_eval(s, &high, 1, &err), GG_ERR_ARG, "an id too high");
    is(gg_session_eval(s, &low, 1, &err), GG_ERR_ARG, "an id too low");
    is(gg_session_eval(s, &none, 1, &err), GG_ERR_ARG, "no ids");
    is(gg_session_eval(s, &slot, 1, &err), GG_ERR_ARG, "a slot too high");
    is(gg_session_eval(s, &minus, 1, &err), GG_ERR_ARG, "a slot too low");
    is(gg_session_eval(s, twice, 2, &err), GG_ERR_ARG, "a slot named twice");
    ok(gg_session_eval(s, NULL, 0, &err) == GG_OK, "nothing to do is done");
    gg_session_free(s);
}

static void
check_params(const struct gg_model *m)
{
    static const struct gg_session_params bad[] = {
        { .n_ctx = -1 },          { .n_slots = -1 },      { .n_batch = -1 },
        { .n_threads = -1 },      { .n_ctx = INT32_MAX }, { .cache_type = 99 },
        { .n_threads = 1 << 20 }, { .cache_type = 6 },
    };
    struct gg_session *s = NULL;
    size_t cache = 0, compute = 0;
    bool all = true;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        all = all && gg_session_new(m, &bad[i], &s, &err) == GG_ERR_ARG && !s;
    ok(all, "parameters that cannot be meant are refused");
    s = new_session(m, gg_session_params_default());
    gg_session_memory(s, &cache, &compute);
    /* 2 layers, keys and values, 512 positions of 2 x 16 halves */
    ok(cache >= (size_t)2 * 2 * 512 * 32 * 2 && cache < (size_t)1 << 20,
       "the cache's size is told");
    ok(compute > 0 && compute < (size_t)64 << 20, "and the compute buffers'");
    gg_session_memory(s, NULL, NULL);
    gg_session_free(s);
}

/* The memory that is told beforehand is what a session then has. */
static void
check_memory(const struct gg_model *m)
{
    static const struct gg_session_params params[] = {
        { .cache_type = GG_CACHE_F16 },
        { .n_ctx = 77, .n_slots = 9, .n_batch = 3, .cache_type = GG_CACHE_F32 },
        { .n_ctx = 10000, .n_slots = 100, .cache_type = GG_CACHE_F16 },
    };
    struct gg_session_params huge = { .n_ctx = 1 << 28, .n_slots = 1 << 16 };
    struct gg_session_params bad = { .n_slots = -1 };
    enum gg_status st = GG_ERR_NOMEM;
    struct gg_memory told;
    bool all = true;

    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        struct gg_session *s = new_session(m, params[i]);
        size_t cache, compute;

        gg_session_memory(s, &cache, &compute);
        must(gg_model_memory(m, &params[i], &told, &err));
        all = all && told.cache == cache && told.compute == compute;
        gg_session_free(s);
    }
    ok(all, "what a session needs can be told without it");
    must(gg_model_memory(m, NULL, &told, &err));
    /* at least embedding and output */
    ok(told.weights > (uint64_t)2 * 300 * 64 * 4, "the weights' size is told");
    st = gg_model_memory(m, &huge, &told, &err);
    /* 2 layers, keys and values, 2 x 16 halves */
    ok(SIZE_MAX < INT64_MAX
           ? st == GG_ERR_NOMEM
           : st == GG_OK && told.cache == (uint64_t)2 * 2 * 32 * 2 << 44,
       "also where no machine has so much");
    is(gg_model_memory(m, &bad, &told, &err), GG_ERR_ARG,
       "of what cannot be meant, nothing is told");
    all = true;
    st = GG_ERR_NOMEM;
    for (long n = 0; n < 100 && st != GG_OK; n++) {
        struct gg_memory again = told;

        mem_fail_after(n);
        st = gg_model_memory(m, NULL, &again, &err);
        mem_fail_after(-1);
        all = all && (st == GG_OK || (st == GG_ERR_NOMEM &&
                                      !memcmp(&again, &told, sizeof(told))));
    }
    ok(all && st == GG_OK, "a lack of memory is told, too");
}

/* Whether k ids are the first of the logits, in order, with their sum. */
static bool
is_best(const struct gg_best *b, const float *logits)
{
    bool taken[V] = { false };
    double sum = 0;

    for (int i = 0; i < V; i++)
        sum += exp((double)logits[i] - (double)b->logits[0]);
    for (size_t k = 0; k < b->k; k++) {
        int best = -1;

        for (int i = 0; i < V; i++)
            if (!taken[i] && (best < 0 || logits[i] > logits[best]))
                best = i;
        taken[best] = true;
        if (b->ids[k] != best || b->logits[k] != logits[best])
            return false;
    }
    sum = (double)b->logits[0] + log(sum);
    return b->n == b->k && (b->no_sum ? isfinite(b->log_sum_exp)
                                      : fabs(b->log_sum_exp - sum) < 1e-12);
}

/* In place of logits: after the last ids, and with log-probabilities. */
static void
check_best(const struct gg_model *m)
{
    static const size_t ks[] = { 1, 7, V };
    struct gg_session *s = new_session(m, gg_session_params_default());
    static float logits[3][V], room[3][V];
    static int32_t room_ids[3][V];
    float probs[39];
    bool good = true;

    for (int i = 0; i < 6; i++) {
        struct gg_best best[3];
        struct gg_chunk c = { .ids = ids, .n = 40, .rows.n_last = 3 };

        c.rows.logits = logits[0];
        gg_session_truncate(s, 0, 0);
        must(gg_session_eval(s, &c, 1, &err));
        for (int k = 0; k < 3; k++)
            best[k] = (struct gg_best){ .k = ks[i % 3],
                                        .ids = room_ids[k],
                                        .logits = room[k],
                                        .no_sum = k == 1 };
        c.rows.logits = NULL;
        c.rows.best = best;
        c.scores.logprobs = i < 3 ? NULL : probs;
        gg_session_truncate(s, 0, 0);
        must(gg_session_eval(s, &c, 1, &err));
        for (int k = 0; k < 3; k++)
            good = good && is_best(&best[k], logits[k]);
    }
    ok(good, "the likeliest are those of the logits");
    gg_session_free(s);
}

static void
check_model(const char *name)
{
    struct model_spec spec;
    struct gg_model *m;
    float truth[V];

    models_named(name, &spec);
    printf("# %s\n", name);
    m = new_model(&spec);
    in_steps(m, gg_session_params_default(), ids, N, N, truth);
    check_cuts(m, truth);
    check_slots(m, truth);
    check_many(m);
    check_places(m);
    check_best(m);
    check_truncate(m, truth);
    check_copy(m, truth);
    check_abort(m, truth);
    if (!strcmp(name, "llama-f32")) {
        check_limits(m);
        check_params(m);
        check_memory(m);
        check_progress(m);
    }
    gg_model_free(m);
}

int
main(void)
{
    static const char *const names[] = { "llama-f32",  "llama-f16",
                                         "llama-bf16", "llama-q8_0",
                                         "llama-q4_0", "gpt2-f16" };

    fill_ids(ids, N);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        check_model(names[i]);
    return tap_done();
}
