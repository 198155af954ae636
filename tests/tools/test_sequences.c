/* test_sequences.c - what gg-eval remembers, against a memory without limits */
#include <config.h>

#include "gg-eval/sequences.c"
#include "engine/shift.h"
#include "harness/session_test.h"

const char cli_name[] = "test_sequences";

static uint32_t state = 1;

static uint32_t
next_random(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

static bool
is_sound(const struct number_set *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].first > f->list[i].last ||
            (i && f->list[i - 1].last + 1 >= f->list[i].first))
            return false;
    return true;
}

/* Random additions and removals, against a table of all numbers. */
static void
check_set(void)
{
    enum {
        N = 2000
    };
    struct number_set f = { .max = MAX_FORGOTTEN };
    static bool in[N];
    bool right = true;

    for (int round = 0; round < 20000; round++) {
        uint32_t i = next_random(N);

        if (!in[i] && next_random(3))
            number_set_add(&f, i), in[i] = true;
        else
            number_set_remove(&f, i), in[i] = false;
        right = right && number_set_has(&f, i) == in[i];
    }
    for (uint32_t i = 0; i < N; i++)
        right = right && number_set_has(&f, i) == in[i];
    ok(right, "a set holds what was added and not removed");
    ok(is_sound(&f), "its intervals are in order and apart");
    number_set_clear(&f);
    ok(!number_set_has(&f, 5), "cleared, it is empty");
}

static void
check_bounds(void)
{
    struct number_set f = { .max = MAX_FORGOTTEN };
    bool all = true;

    number_set_add(&f, 0);
    number_set_add(&f, UINT64_MAX);
    number_set_add(&f, 1);
    number_set_add(&f, UINT64_MAX - 1);
    ok(f.n == 2 && is_sound(&f), "the least and the greatest number");
    number_set_remove(&f, 0);
    number_set_remove(&f, UINT64_MAX);
    ok(!number_set_has(&f, 0) && number_set_has(&f, 1) &&
           !number_set_has(&f, UINT64_MAX),
       "can be removed");
    number_set_clear(&f);
    for (uint64_t i = 0; i < 100000; i++)
        number_set_add(&f, i);
    is(f.n, 1, "numbers in order cost nothing");
    number_set_clear(&f);
    for (uint64_t i = 0; i < 2 * MAX_FORGOTTEN; i++)
        number_set_add(&f, i * i);
    for (uint64_t i = 0; i < 2 * MAX_FORGOTTEN; i++)
        all = all && number_set_has(&f, i * i);
    ok(all && f.n <= MAX_FORGOTTEN && is_sound(&f),
       "too many intervals become one, and lose nothing");
    number_set_clear(&f);
}

/* ---- sequences by number ------------------------------------------------- */

static struct gg_engine *engine;

static struct sequences *
new_sequences(size_t max_ids)
{
    struct sequences *s = malloc(sizeof(*s));

    if (!s)
        exit(99);
    sequences_init(s, engine, max_ids);
    return s;
}

static void
free_sequences(struct sequences *s)
{
    sequences_clear(s);
    free(s);
}

static void
add(struct sequences *s, struct sequence *q, const int32_t *ids, size_t n)
{
    must(gg_sequence_put(q->its, ids, n, &err));
    sequences_changed(s, q);
}

static size_t
count(const struct sequence *q)
{
    size_t n;

    (void)gg_sequence_ids(q->its, &n);
    return n;
}

/* Sequences that are evaluated together live on until that is done. */
static void
check_pinned(void)
{
    struct sequences *s = new_sequences(1000000);
    static const int32_t ids[] = { 5, 6, 7 };
    struct sequence *a = sequences_use(s, 1), *b;

    add(s, a, ids, 3);
    a->pinned = true;
    sequences_close(s, 1);
    is(count(a), 3, "one that ends while it is pinned lives on");
    b = sequences_use(s, 1);
    ok(b != a && count(b) == 0, "though its number is free");
    a->pinned = false;
    sequences_settle(s);
    ok(sequences_use(s, 1) == b, "until that is done");
    free_sequences(s);
}

static void
check_memory(void)
{
    struct sequences *s = new_sequences(10 * (OVERHEAD + 8));
    static const int32_t ids[8];
    bool refused = true, kept = true;

    for (uint64_t i = 0; i < 5000; i++)
        add(s, sequences_use(s, i), ids, 8);
    ok(s->table.n <= 11 && s->kept <= 11 * (OVERHEAD + 8), "memory is bounded");
    for (uint64_t i = 0; i < 4980; i++)
        refused = refused && !sequences_use(s, i);
    ok(refused, "what was forgotten is refused");
    for (uint64_t i = 4995; i < 5000; i++)
        kept = kept && count(sequences_use(s, i)) == 8;
    ok(kept, "what was used last is kept");
    sequences_close(s, 7);
    ok(sequences_use(s, 7) && count(sequences_use(s, 7)) == 0,
       "a forgotten sequence that ends can begin anew");
    free_sequences(s);
}

static void
check_shift(void)
{
    bool right = true;

    ok(engine_shift_kept(3, 1, 1) == 1 && engine_shift_kept(3, 2, 1) == 0 &&
           engine_shift_kept(3, 2, -1) == 0 && engine_shift_kept(0, 1, 1) == 0,
       "a leading BOS stays");
    ok(engine_shift_count(64, 1, 1, 64) == 32 &&
           engine_shift_count(64, 0, 1, 64) == 32 &&
           engine_shift_count(63, 0, 1, 64) == 0 &&
           engine_shift_count(9, 1, 7, 10) == 6 &&
           engine_shift_count(9, 1, 9, 10) == 8 &&
           engine_shift_count(9, 1, 10, 10) == 0 &&
           engine_shift_count(9, 0, 11, 10) == 0,
       "the older half goes, and again, until there is room");
    for (size_t n = 0; n < 40; n++)
        for (size_t more = 1; more < 45; more++) {
            size_t gone = engine_shift_count(n, 0, more, 40);

            right = right && gone <= n &&
                    (more > 40 ? gone == 0 : n - gone + more <= 40);
        }
    ok(right, "whatever the sizes are");
}

int
main(void)
{
    static const struct model_spec spec = { .arch = "llama" };
    struct gg_model *m = new_model(&spec);
    struct gg_session *session =
        new_session(m, (struct gg_session_params){ .n_slots = 2 });

    must(gg_engine_new(m, session, NULL, &engine, &err));
    check_set();
    check_bounds();
    check_pinned();
    check_memory();
    check_shift();
    gg_engine_free(engine);
    gg_session_free(session);
    gg_model_free(m);
    return tap_done();
}
