/* test_recurrent.c - sessions of models with recurrent states: the same bytes
 * however ids come; snapshots, and going back to them */
#include <stdio.h>

#include "fixtures/reference.h"
#include "harness/session_test.h"

enum {
    N = 300,
};

static int32_t ids[N];
static const char *model_name;

static void
okm(bool good, const char *what)
{
    char name[160];

    snprintf(name, sizeof(name), "%s: %s", model_name, what);
    ok(good, name);
}

static void
ism(int64_t is_now, int64_t wanted, const char *what)
{
    if (is_now != wanted)
        printf("# %lld, not %lld\n", (long long)is_now, (long long)wanted);
    okm(is_now == wanted, what);
}

static void
eval(struct gg_session *s, int32_t slot, int from, int to, float *out)
{
    eval_ids(s, slot, ids, from, to, out);
}

/* The formulas in double precision, id by id and all at once. */
static void
check_formula(const struct gg_model *m)
{
    enum {
        LENGTH = 100
    };
    struct gg_session_params p = { .cache_type = GG_CACHE_F32 };
    struct gg_session *s = new_session(m, p);
    struct reference *r = reference_open(scratch_path());
    double *wanted = r ? malloc(sizeof(*wanted) * LENGTH * V) : NULL;
    double worst = 0;
    float out[V];

    okm(r != NULL, "the reference knows it");
    if (!r)
        return;
    reference_logits(r, ids, LENGTH, wanted);
    for (int i = 0; i < LENGTH; i++) {
        double e;

        eval(s, 0, i, i + 1, out);
        e = reference_nmse(out, wanted + i * V, V);
        worst = e > worst || !(e == e) ? e : worst;
    }
    printf("# NMSE %.1e\n", worst);
    okm(worst < 1e-9, "the logits are those of the formulas");
    reference_free(r);
    free(wanted);
    gg_session_free(s);
}

static void
check_cuts(const struct gg_model *m, const float *truth)
{
    static const int steps[] = { 1, 2, 7, 64, 255 };
    float out[V];
    bool all = true;

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        in_steps(m, gg_session_params_default(), ids, steps[i], N, out);
        all = all && same(out, truth);
    }
    okm(all, "logits do not depend on chunks");
    all = true;
    for (int n = 1; n <= 64; n += 21) {
        in_steps(m, (struct gg_session_params){ .n_batch = n }, ids, N, N, out);
        all = all && same(out, truth);
    }
    okm(all, "nor on the size of a batch");
    all = true;
    for (int n = 1; n <= 3; n++) {
        in_steps(m, (struct gg_session_params){ .n_threads = n }, ids, 50, N,
                 out);
        all = all && same(out, truth);
    }
    okm(all, "nor on the number of threads");
}

/* Prompts and single ids of several slots at once, then an id of each. */
static void
check_many(const struct gg_model *m)
{
    enum {
        SLOTS = 5
    };
    static const int lengths[SLOTS] = { 20, 1, 33, 64, 5 };
    struct gg_session *s = new_session(
        m, (struct gg_session_params){ .n_slots = SLOTS, .n_batch = 100 });
    struct gg_chunk chunks[SLOTS];
    float together[SLOTS][V], alone[V];
    bool all = true;

    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < SLOTS; i++)
            chunks[i] = (struct gg_chunk){
                .slot = i,
                .ids = ids + 9 * i + (pass ? lengths[i] : 0),
                .n = pass ? 1 : (size_t)lengths[i],
                .rows.logits = together[i],
            };
        must(gg_session_eval(s, chunks, SLOTS, &err));
    }
    gg_session_truncate(s, 3, 0);
    for (int i = 0; i < SLOTS; i++) {
        eval(s, 3, 9 * i, 9 * i + lengths[i] + 1, alone);
        all = all && same(alone, together[i]);
        gg_session_truncate(s, 3, 0);
    }
    okm(all, "several sequences at once give what each gives alone");
    gg_session_free(s);
}

/* Goes on to the end from wherever the slot is. */
static bool
goes_on(struct gg_session *s, int32_t slot, const float *truth)
{
    float out[V];

    eval(s, slot, gg_session_length(s, slot), N, out);
    return same(out, truth);
}

static void
check_truncate(const struct gg_model *m, const float *truth)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    float out[V];

    eval(s, 0, 0, 200, NULL);
    eval(s, 0, 200, 280, NULL);
    ism(gg_session_truncate(s, 0, 280), 280, "all of it is kept");
    ism(gg_session_truncate(s, 0, 250), 200, "it goes back to a prompt's end");
    okm(goes_on(s, 0, truth), "and on from there");
    ism(gg_session_truncate(s, 0, 199), 0, "there is nothing before that");
    okm(goes_on(s, 0, truth), "it begins again");
    gg_session_truncate(s, 0, 0);
    eval(s, 0, 0, 290, NULL);
    eval(s, 0, 20, 25, NULL); /* a draft, which is rejected */
    ism(gg_session_truncate(s, 0, 293), 290, "a draft is taken back");
    eval(s, 0, 290, 291, out);
    eval(s, 0, 40, 43, NULL);
    ism(gg_session_truncate(s, 0, 291), 291, "and the next one");
    okm(goes_on(s, 0, truth), "drafts leave nothing");
    gg_session_free(s);
}

/* Two snapshots, an id apart. The slot goes back to the first and on with other
 * ids: the second is of a text that is no more. */
static void
check_other_future(const struct gg_model *m, const float *truth)
{
    struct gg_session *s = new_session(m, gg_session_params_default());

    eval(s, 0, 0, 200, NULL);
    eval(s, 0, 200, 201, NULL);
    eval(s, 0, 201, 230, NULL);
    ism(gg_session_truncate(s, 0, 201), 201, "there is a snapshot after an id");
    ism(gg_session_truncate(s, 0, 200), 200, "and one before it");
    eval(s, 0, 7, 50, NULL);
    ism(gg_session_truncate(s, 0, 201), 200,
        "only that before it is left of the other text");
    okm(goes_on(s, 0, truth), "and goes on as ever");
    gg_session_free(s);
}

static void
check_copy(const struct gg_model *m, const float *truth)
{
    struct gg_session *s =
        new_session(m, (struct gg_session_params){ .n_slots = 3 });

    eval(s, 0, 0, 200, NULL);
    eval(s, 0, 200, N - 1, NULL);
    eval(s, 1, 5, 90, NULL); /* something else, which is to go */
    ism(gg_session_copy(s, 1, 0, N - 1), N - 1, "a copy of all");
    okm(goes_on(s, 1, truth), "goes on as the origin");
    ism(gg_session_copy(s, 2, 0, 250), 200, "a copy of what a snapshot has");
    gg_session_truncate(s, 0, 0);
    eval(s, 0, 7, 77, NULL); /* the origin is free to forget */
    okm(goes_on(s, 2, truth), "is the slot's own");
    ism(gg_session_copy(s, 1, 0, 30), 0, "of what none has there is no copy");
    okm(goes_on(s, 1, truth), "an empty one begins");
    gg_session_free(s);
}

static void
check_eviction(const struct gg_model *m, const float *truth)
{
    struct gg_session *s = new_session(m, gg_session_params_default());
    size_t bytes, cache;

    ism(gg_session_snapshots(s, &bytes), 3, "two snapshots and one a slot");
    okm(bytes > 0, "have bytes");
    ism((int64_t)gg_session_used(s), 0, "no row was written");
    for (int i = 0; i < 280; i += 40)
        eval(s, 0, i, i + 40, NULL);
    gg_session_memory(s, &cache, NULL);
    okm(gg_session_used(s) >= bytes / 3 && gg_session_used(s) <= cache,
        "and the slot's is now");
    ism(gg_session_truncate(s, 0, 190), 160, "the last three are there");
    ism(gg_session_truncate(s, 0, 159), 0, "and no others");
    okm(goes_on(s, 0, truth), "what follows is right");
    gg_session_free(s);
}

static bool
stop_at_zero(void *data)
{
    int *countdown = data;

    return *countdown >= 0 && (*countdown)-- == 0;
}

/* In the first batch and in later ones, after a prompt and while decoding. */
static void
check_abort(const struct gg_model *m, const float *truth)
{
    static const int counts[] = { 0, 5, 40, 90 };
    int countdown = -1;
    struct gg_session_params p = { .abort = stop_at_zero,
                                   .abort_data = &countdown,
                                   .n_batch = 32 };
    struct gg_session *s = new_session(m, p);
    struct gg_chunk c = { .ids = ids + 100, .n = N - 100 };
    bool all = true, failed = true;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        gg_session_truncate(s, 0, 0);
        eval(s, 0, 0, 100, NULL);
        countdown = counts[i];
        failed = failed && gg_session_eval(s, &c, 1, &err) == GG_ERR_ABORTED;
        countdown = -1;
        failed = failed && gg_session_length(s, 0) == 100;
        all = all && goes_on(s, 0, truth);
    }
    okm(failed, "an aborted evaluation leaves the slot as it was");
    okm(all, "which goes on as if nothing had been");
    gg_session_truncate(s, 0, 0);
    eval(s, 0, 0, 99, NULL);
    for (int i = 99; i < 103; i++)
        eval(s, 0, i, i + 1, NULL);
    c = (struct gg_chunk){ .ids = ids + 103, .n = 1 };
    countdown = 3;
    ism(gg_session_eval(s, &c, 1, &err), GG_ERR_ABORTED, "aborted in decoding");
    countdown = -1;
    okm(gg_session_length(s, 0) >= 99, "a snapshot is left");
    okm(goes_on(s, 0, truth), "and goes on");
    gg_session_free(s);
}

static void
check_model(const char *name)
{
    struct model_spec spec;
    struct gg_model *m;
    char full[64];
    float truth[V];

    model_name = name;
    snprintf(full, sizeof(full), "%s-f32", name);
    if (!models_named(full, &spec)) {
        okm(false, "is known");
        return;
    }
    m = new_model(&spec);
    in_steps(m, gg_session_params_default(), ids, N, N, truth);
    check_formula(m);
    check_cuts(m, truth);
    check_many(m);
    check_truncate(m, truth);
    check_other_future(m, truth);
    check_copy(m, truth);
    check_eviction(m, truth);
    check_abort(m, truth);
    gg_model_free(m);
}

int
main(void)
{
    fill_ids(ids, N);
    check_model("qwen35");
    check_model("lfm2");
    check_model("mamba2");
    check_model("granitehybrid");
    check_model("falcon-h1");
    check_model("rwkv6");
    check_model("rwkv7");
    check_model("arwkv7");
    return tap_done();
}
