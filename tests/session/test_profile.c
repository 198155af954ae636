/* test_profile.c - what a session counts: rows that add up, the same bytes */
#include "harness/session_test.h"

enum {
    N = 40,
    THREADS = 3,
};

static int32_t ids[N + 4];

/* A prompt, then four ids one by one, the last with a second slot. */
static void
evaluate(struct gg_session *s, float *out)
{
    struct gg_chunk both[] = {
        { .ids = ids + N + 3, .n = 1, .rows.logits = out },
        { .slot = 1, .ids = ids, .n = 1 }
    };

    eval_ids(s, 0, ids, 0, N, NULL);
    for (int i = 0; i < 3; i++)
        eval_ids(s, 0, ids, N + i, N + i + 1, NULL);
    must(gg_session_eval(s, both, 2, &err));
}

static struct gg_session *
session(const struct gg_model *m, int n_threads, bool profile)
{
    return new_session(m,
                       (struct gg_session_params){ .n_threads = n_threads,
                                                   .n_slots = 2,
                                                   .cache_type = GG_CACHE_F16,
                                                   .profile = profile });
}

static const struct gg_profile_row *
row(const struct gg_profile_row *rows, size_t n, enum gg_profile_phase phase,
    const char *name)
{
    static const struct gg_profile_row none;

    for (size_t i = 0; i < n; i++)
        if (rows[i].phase == phase && !strcmp(rows[i].name, name))
            return &rows[i];
    return &none;
}

static bool
starts_with(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/* Sums of what kinds and threads took, against the phase's last row. */
static bool
adds_up(const struct gg_profile_row *rows, size_t n,
        enum gg_profile_phase phase)
{
    const struct gg_profile_row *total = row(rows, n, phase, "total");
    struct gg_profile_row ops = { 0 }, threads = { 0 };

    for (size_t i = 0; i < n; i++) {
        struct gg_profile_row *sum =
            starts_with(rows[i].name, "thread ") ? &threads : &ops;

        if (rows[i].phase != phase || &rows[i] == total)
            continue;
        sum->ns += rows[i].ns;
        sum->busy += rows[i].busy;
        sum->waiting += rows[i].waiting;
        sum->bytes += rows[i].bytes;
    }
    return total->ns > 0 && ops.ns == total->ns &&
           threads.ns == THREADS * total->ns && ops.busy == threads.busy &&
           ops.busy == total->busy && ops.waiting == threads.waiting &&
           ops.waiting == total->waiting && ops.bytes == total->bytes &&
           total->busy > 0 && total->busy <= THREADS * total->ns;
}

/* Both phases, in order, the dearest kind of op first. */
static bool
is_sorted(const struct gg_profile_row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct gg_profile_row *a = &rows[i - 1], *b = &rows[i];

        if (a->phase > b->phase ||
            (a->phase == b->phase && !strcmp(a->name, "total")))
            return false;
        if (a->phase == b->phase && b->calls && strcmp(b->name, "other") &&
            !starts_with(b->name, "thread ") && strcmp(b->name, "total") &&
            a->ns < b->ns)
            return false;
    }
    return n > 0 && !strcmp(rows[n - 1].name, "total");
}

/* Calls, bytes and products by the shapes: the model's matrices, which are
 * all of type Q8_0 but for attention. */
static bool
counts_shapes(const struct gg_profile_row *rows, size_t n,
              const struct gg_profile_row *alone, size_t n_alone)
{
    const struct gg_profile_row *many = row(rows, n, 0, "mul_mat q8_0"),
                                *one = row(rows, n, 1, "mul_mat q8_0"),
                                *other = row(alone, n_alone, 1, "mul_mat q8_0");

    return row(rows, n, 0, "total")->calls == 1 &&
           row(rows, n, 1, "total")->calls == 4 &&
           one->calls == 4 * many->calls && one->ops > 0 &&
           many->ops > 4 * one->ops && one->bytes == other->bytes &&
           one->ops == other->ops && one->calls == other->calls;
}

static void
check(const struct gg_model *m)
{
    struct gg_session *plain = session(m, THREADS, false),
                      *counted = session(m, THREADS, true),
                      *alone = session(m, 1, true);
    const struct gg_profile_row *rows, *rows_alone;
    float a[V], b[V];
    size_t n, n_alone;

    ok(!gg_session_profile(plain, &n) && n == 0, "nothing is counted unasked");
    ok(gg_session_profile(counted, &n) && n == 0, "nothing was done yet");
    evaluate(plain, a);
    evaluate(counted, b);
    ok(same(a, b), "to be counted does not change a bit");
    evaluate(alone, a);
    rows = gg_session_profile(counted, &n);
    ok(adds_up(rows, n, GG_PROFILE_PREFILL), "rows of prompts add up");
    ok(adds_up(rows, n, GG_PROFILE_DECODE), "and of decoding");
    ok(is_sorted(rows, n), "the dearest comes first, the total last");
    rows_alone = gg_session_profile(alone, &n_alone);
    ok(counts_shapes(rows, n, rows_alone, n_alone),
       "calls, bytes and products follow from the shapes");
    is(row(rows_alone, n_alone, 0, "total")->waiting, 0,
       "one thread waits for nobody");
    gg_session_free(plain);
    gg_session_free(counted);
    gg_session_free(alone);
}

int
main(void)
{
    struct model_spec spec;
    struct gg_model *m;

    fill_ids(ids, N + 4);
    if (!models_named("llama-q8_0", &spec))
        return 99;
    m = new_model(&spec);
    check(m);
    gg_model_free(m);
    return tap_done();
}
