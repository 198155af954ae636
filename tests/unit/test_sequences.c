/* test_sequences.c - what gg-eval remembers, against a memory without limits */
#include <config.h>

#include "gg-eval/forgotten.c"
#include "gg-eval/sequences.c"
#include "tap.h"

const char cli_name[] = "test_sequences";

static uint32_t state = 1;

static uint32_t
next_random(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

static bool
is_sound(const struct forgotten *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->list[i].first > f->list[i].last ||
            (i && f->list[i - 1].last + 1 >= f->list[i].first))
            return false;
    return true;
}

/* Random additions and removals, beside a table of all numbers. */
static void
check_forgotten(void)
{
    enum {
        N = 2000
    };
    struct forgotten f = { 0 };
    static bool in[N];
    bool right = true;

    for (int round = 0; round < 20000; round++) {
        uint32_t i = next_random(N);

        if (!in[i] && next_random(3))
            forgotten_add(&f, i), in[i] = true;
        else
            forgotten_remove(&f, i), in[i] = false;
        right = right && forgotten_has(&f, i) == in[i];
    }
    for (uint32_t i = 0; i < N; i++)
        right = right && forgotten_has(&f, i) == in[i];
    ok(right, "a set holds what was added and not removed");
    ok(is_sound(&f), "its intervals are in order and apart");
    forgotten_clear(&f);
    ok(!forgotten_has(&f, 5), "cleared, it is empty");
}

static void
check_bounds(void)
{
    struct forgotten f = { 0 };
    bool all = true;

    forgotten_add(&f, 0);
    forgotten_add(&f, UINT64_MAX);
    forgotten_add(&f, 1);
    forgotten_add(&f, UINT64_MAX - 1);
    ok(f.n == 2 && is_sound(&f), "the least and the greatest number");
    forgotten_remove(&f, 0);
    forgotten_remove(&f, UINT64_MAX);
    ok(!forgotten_has(&f, 0) && forgotten_has(&f, 1) &&
           !forgotten_has(&f, UINT64_MAX),
       "can be removed");
    forgotten_clear(&f);
    for (uint64_t i = 0; i < 100000; i++)
        forgotten_add(&f, i);
    ok(f.n == 1, "numbers in order cost nothing");
    forgotten_clear(&f);
    for (uint64_t i = 0; i < 2 * FORGOTTEN_MAX; i++)
        forgotten_add(&f, i * i);
    for (uint64_t i = 0; i < 2 * FORGOTTEN_MAX; i++)
        all = all && forgotten_has(&f, i * i);
    ok(all && f.n <= FORGOTTEN_MAX && is_sound(&f),
       "too many intervals become one, and lose nothing");
    forgotten_clear(&f);
}

static void
check_slots(void)
{
    struct sequences *s = sequences_new(2, 1000000);
    struct sequence *q[3];

    for (uint64_t i = 0; i < 3; i++) {
        q[i] = sequences_use(s, i + 10);
        sequences_take_slot(s, q[i]);
        sequences_add_ids(s, q[i], (int32_t[]){ 1, 2 }, 2);
    }
    ok(q[0]->slot == -1 && q[1]->slot >= 0 && q[2]->slot >= 0 &&
           q[1]->slot != q[2]->slot,
       "the sequence used least recently loses its slot");
    ok(sequences_use(s, 10) == q[0] && q[0]->n_ids == 2, "but not its ids");
    sequences_take_slot(s, q[0]);
    ok(q[1]->slot == -1 && q[0]->slot >= 0, "and takes another's");
    sequences_close(s, 12);
    sequences_take_slot(s, sequences_use(s, 11));
    ok(q[1]->slot >= 0 && q[0]->slot >= 0, "one that ends leaves its slot");
    ok(sequences_use(s, 12)->n_ids == 0, "and its number is free");
    sequences_free(s);
}

static void
check_memory(void)
{
    struct sequences *s = sequences_new(1, 10 * (OVERHEAD + 8));
    static const int32_t ids[8];
    bool refused = true, kept = true;

    for (uint64_t i = 0; i < 5000; i++)
        sequences_add_ids(s, sequences_use(s, i), ids, 8);
    ok(s->n <= 11 && s->kept <= 11 * (OVERHEAD + 8), "memory is bounded");
    for (uint64_t i = 0; i < 4980; i++)
        refused = refused && !sequences_use(s, i);
    ok(refused, "what was forgotten is refused");
    for (uint64_t i = 4995; i < 5000; i++)
        kept = kept && sequences_use(s, i)->n_ids == 8;
    ok(kept, "what was used last is kept");
    sequences_close(s, 7);
    ok(sequences_use(s, 7) && sequences_use(s, 7)->n_ids == 0,
       "a forgotten sequence that ends can begin anew");
    sequences_free(s);
}

int
main(void)
{
    check_forgotten();
    check_bounds();
    check_slots();
    check_memory();
    return tap_done();
}
