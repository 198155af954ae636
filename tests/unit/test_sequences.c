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
add(struct sequences *s, struct sequence *q, const int32_t *ids, size_t n)
{
    sequences_put(s, q, ids, n);
    sequences_add(s, q, n);
}

/* A sequence of its own evaluation. */
static struct sequence *
evaluate(struct sequences *s, uint64_t number, const int32_t *ids, size_t n)
{
    struct sequence *q = sequences_use(s, number);

    sequences_take_slot(s, q);
    add(s, q, ids, n);
    sequences_settle(s);
    return q;
}

static void
check_slots(void)
{
    struct sequences *s = sequences_new(2, 1000000, false);
    struct sequence *q[3];

    for (uint64_t i = 0; i < 3; i++) {
        q[i] = evaluate(s, i + 10, (int32_t[]){ 1, 2 }, 2);
    }
    ok(q[0]->slot == -1 && q[1]->slot >= 0 && q[2]->slot >= 0 &&
           q[1]->slot != q[2]->slot,
       "the sequence used least recently loses its slot");
    ok(sequences_use(s, 10) == q[0] && q[0]->n_ids == 2, "but not its ids");
    sequences_take_slot(s, q[0]);
    sequences_settle(s);
    ok(q[1]->slot == -1 && q[0]->slot >= 0, "and takes another's");
    sequences_close(s, 12);
    sequences_take_slot(s, sequences_use(s, 11));
    ok(q[1]->slot >= 0 && q[0]->slot >= 0, "one that ends leaves its slot");
    ok(sequences_use(s, 12)->n_ids == 0, "and its number is free");
    sequences_free(s);
}

/* Those that are evaluated together keep their slots until that is done. */
static void
check_pinned(void)
{
    struct sequences *s = sequences_new(2, 1000000, false);
    static const int32_t ids[] = { 5, 6, 7 };
    struct sequence *a = sequences_use(s, 1), *b = sequences_use(s, 2), *c;
    int32_t slot;

    sequences_take_slot(s, a);
    add(s, a, ids, 3);
    slot = a->slot;
    sequences_close(s, 1);
    ok(a->ids[2] == 7 && a->slot == slot && a->n_ids == 3,
       "one that ends while it is pinned lives on");
    c = sequences_use(s, 1);
    ok(c != a && c->n_ids == 0, "though its number is free");
    sequences_take_slot(s, c);
    ok(c->slot >= 0 && c->slot != slot, "and its slot is not");
    sequences_settle(s);
    sequences_take_slot(s, b);
    ok(b->slot == slot && c->slot >= 0, "until that is done");
    sequences_free(s);
}

static void
check_prefix(void)
{
    struct sequences *s = sequences_new(3, 1000000, false);
    static const int32_t one[] = { 1, 2, 3, 4 }, two[] = { 1, 2, 9 },
                         three[] = { 1, 2, 3, 9 }, other[] = { 8 };
    struct sequence *a, *b;
    size_t n;

    ok(sequences_find_prefix(s, one, 4, &n) == -1 && n == 0,
       "empty slots have no prefix");
    a = evaluate(s, 1, one, 4);
    b = evaluate(s, 2, two, 3);
    ok(sequences_find_prefix(s, three, 4, &n) == a->slot && n == 3,
       "the longest prefix is found");
    ok(sequences_find_prefix(s, two, 3, &n) == b->slot && n == 3,
       "also a whole one");
    ok(sequences_find_prefix(s, other, 1, &n) == -1 && n == 0,
       "and none where there is none");
    a->n_held = 1;
    ok(sequences_find_prefix(s, three, 4, &n) == b->slot && n == 2,
       "what a slot does not hold does not count");
    a->n_held = 4;
    sequences_close(s, 1);
    ok(sequences_find_prefix(s, three, 4, &n) >= 0 && n == 3,
       "one that has ended leaves what it held");
    evaluate(s, 3, other, 1);
    ok(sequences_find_prefix(s, three, 4, &n) >= 0 && n == 3,
       "as long as another slot is empty");
    evaluate(s, 4, other, 1);
    ok(sequences_find_prefix(s, three, 4, &n) == b->slot && n == 2,
       "and no longer");
    sequences_free(s);
}

static void
check_shift(void)
{
    struct sequences *s = sequences_new(1, 1000000, false);
    struct sequence *q =
        evaluate(s, 1, (int32_t[]){ 1, 2, 3, 4, 5, 6, 7, 8 }, 8);
    bool right = true;

    sequences_shift(s, q, 1, 4);
    ok(q->n_ids == 4 && q->ids[0] == 1 && q->ids[1] == 6 && q->ids[3] == 8,
       "the oldest ids go, but for the first");
    ok(q->n_dropped == 4 && q->n_held == 0, "and are counted");
    sequences_free(s);

    ok(shift_kept(3, 1, 1) == 1 && shift_kept(3, 2, 1) == 0 &&
           shift_kept(3, 2, -1) == 0 && shift_kept(0, 1, 1) == 0,
       "a leading BOS stays");
    ok(shift_count(64, 1, 1, 64) == 32 && shift_count(64, 0, 1, 64) == 32 &&
           shift_count(63, 0, 1, 64) == 0 && shift_count(9, 1, 7, 10) == 6 &&
           shift_count(9, 1, 9, 10) == 8 && shift_count(9, 1, 10, 10) == 0 &&
           shift_count(9, 0, 11, 10) == 0,
       "the older half goes, and again, until there is room");
    for (size_t n = 0; n < 40; n++)
        for (size_t more = 1; more < 45; more++) {
            size_t gone = shift_count(n, 0, more, 40);

            right = right && gone <= n &&
                    (more > 40 ? gone == 0 : n - gone + more <= 40);
        }
    ok(right, "whatever the sizes are");
}

static void
check_memory(void)
{
    struct sequences *s = sequences_new(1, 10 * (OVERHEAD + 8), false);
    static const int32_t ids[8];
    bool refused = true, kept = true;

    for (uint64_t i = 0; i < 5000; i++)
        add(s, sequences_use(s, i), ids, 8);
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
    check_pinned();
    check_prefix();
    check_shift();
    check_memory();
    return tap_done();
}
