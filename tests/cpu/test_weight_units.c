/* test_weight_units.c - weights in units: which bytes they are, which stay in
 * memory, and what gives way */
#include <stdlib.h>

#include "cpu/exec/weight_units.h"
#include "harness/tap.h"

enum {
    UNIT = 1000,
    EXPERTS = 64,
    TENSORS = 6,
    SIZE = UNIT * EXPERTS,
};

static const char memory[TENSORS * SIZE + SIZE];
static struct weight_units units;

static struct weight_tensor
expert_tensor(int i, bool whole)
{
    return (struct weight_tensor){
        .data = memory + i * SIZE, .size = SIZE, .unit = UNIT, .whole = whole
    };
}

/* Six tensors of experts, and a room in bytes. */
static void
start_units(uint64_t room)
{
    cpu_units_clear(&units);
    for (int i = 0; i < TENSORS; i++) {
        struct weight_tensor t = expert_tensor(i, false);

        cpu_units_tensor(&units, &t);
    }
    cpu_units_scan(&units, 0, (int)units.n);
    cpu_units_set_room(&units, room);
}

static void
drop_all(const struct weight_victims *v)
{
    for (int i = 0; i < v->n; i++)
        units.list[v->list[i]].state = UNIT_ABSENT;
}

/* Uses a unit for a moment; true: it had to be read. */
static bool
use_unit(int i, bool chosen)
{
    struct weight_unit *unit = &units.list[i];
    struct weight_victims v;
    bool absent = unit->state == UNIT_ABSENT;

    if (absent) {
        unit->chosen = chosen;
        cpu_units_admit(&units, i, true, &v);
        drop_all(&v);
        unit->state = UNIT_PRESENT;
    }
    cpu_units_use(&units, i, chosen);
    if (cpu_units_release(&units, i))
        unit->state = UNIT_ABSENT;
    return absent;
}

static int
scan_units(void)
{
    int n = 0;

    for (int i = 0; i < (int)units.n; i++)
        n += use_unit(i, false);
    return n;
}

/* ---- which bytes --------------------------------------------------------- */

static void
test_tensors(void)
{
    struct weight_tensor t = { .data = memory + 5, .size = 2500, .unit = UNIT };
    const struct weight_tensor *a;
    int first = -1;

    cpu_units_clear(&units);
    a = cpu_units_tensor(&units, &t);
    ok(a->n == 3 && units.n == 3 && units.list[2].n == 500 &&
           units.list[2].at == memory + 2005,
       "the last unit is what is left");
    t.data = memory + 3000;
    a = cpu_units_tensor(&units, &t);
    ok(a->first == 3 && units.n == 6, "the next tensor's units follow");
    t.data = memory + 5;
    ok(cpu_units_tensor(&units, &t)->first == 0 && units.n == 6,
       "one that is known is found");
    a = cpu_units_tensor(&units, &t);
    ok(cpu_units_of(a, memory + 5, 2500, &first) == 3 && first == 0,
       "all units");
    ok(cpu_units_of(a, memory + 5 + 999, 2, &first) == 2 && first == 0,
       "bytes of two units");
    ok(cpu_units_of(a, memory + 5 + 1000, 1000, &first) == 1 && first == 1,
       "those of one");
    ok(cpu_units_of(a, memory + 5 + 2400, 1000, &first) == 1 && first == 2,
       "not beyond the tensor");
    is(cpu_units_of(a, memory + 5, 0, &first), 0, "no bytes");
}

/* ---- prompts ------------------------------------------------------------- */

static void
test_scanned(void)
{
    int all = TENSORS * EXPERTS, n = 0, run = 0, most = 0;

    start_units((uint64_t)all * UNIT);
    is(scan_units(), all, "all are read once");
    is(scan_units(), 0, "and stay, where there is room");
    start_units((uint64_t)all / 2 * UNIT);
    scan_units();
    for (int i = 0; i < all; i++) {
        n += units.list[i].state == UNIT_PRESENT;
        run = units.list[i].state == UNIT_PRESENT ? 0 : run + 1;
        most = run > most ? run : most;
    }
    /* half of it, less two tensors that pass */
    ok(n >= all / 6 - 1 && n <= all / 2, "a part stays");
    ok(most <= 6, "spread evenly");
    is(scan_units(), all - n, "each scan reads the others");
    is(scan_units(), all - n, "and the next as many");
    start_units(2 * SIZE);
    scan_units();
    is(scan_units(), all, "where two tensors are all that fits, all of them");
    ok(units.passing == 0 && units.kept == 0, "and nothing is left");
}

/* A graph that scans the first tensors alone keeps more of them, and what it
 * does not need gives way. */
static void
test_scanned_part(void)
{
    int part = 4 * EXPERTS, n = 0, before = 0;

    start_units(4 * SIZE);
    for (int i = 2 * EXPERTS; i < TENSORS * EXPERTS; i++)
        use_unit(i, true);
    cpu_units_begin(&units);
    cpu_units_scan(&units, 0, part);
    cpu_units_set_room(&units, 3 * SIZE);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < part; i++) {
            before += k == 2 && units.list[i].state == UNIT_PRESENT;
            n += use_unit(i, false) && k == 2;
        }
    ok(before >= EXPERTS - 1 && n == part - before,
       "as much of them stays as there is room for");
    n = 0;
    for (int i = part; i < TENSORS * EXPERTS; i++)
        n += units.list[i].state == UNIT_PRESENT;
    is(n, 0, "and nothing else");
}

static void
test_at(void)
{
    start_units(SIZE);
    ok(cpu_units_at(&units, memory) == &units.list[0] &&
           cpu_units_at(&units, memory + UNIT) == &units.list[1] &&
           cpu_units_at(&units, memory + SIZE - 1) ==
               &units.list[EXPERTS - 1] &&
           cpu_units_at(&units, memory + SIZE) == &units.list[EXPERTS],
       "the unit of a byte");
    ok(!cpu_units_at(&units, memory + TENSORS * SIZE), "a byte of none");
}

/* A unit that is not read after all takes no room; nor does one that passes
 * through memory which was taken before. */
static void
test_withdrawn(void)
{
    struct weight_victims v;

    start_units(3 * SIZE);
    cpu_units_admit(&units, 1, false, &v);
    cpu_units_withdraw(&units, 1);
    for (int i = 0; i < 8; i++) {
        units.list[i].chosen = true;
        cpu_units_admit(&units, i, false, &v);
        cpu_units_withdraw(&units, i);
        units.list[i].chosen = false;
    }
    ok(units.kept == 0 && units.passing == 0 && units.oldest < 0,
       "a unit is withdrawn");
    units.slots = 3 * SIZE;
    ok(cpu_units_admit(&units, 1, false, &v), "one passes through slots");
    units.list[2].chosen = true;
    ok(!cpu_units_admit(&units, 2, false, &v), "which leave room for no other");
    units.list[2].chosen = false;
    units.slots = 0;
}

/* Reading ahead waits for room; what somebody waits for is read anyway. */
static void
test_ahead(void)
{
    struct weight_victims v;
    int n = 0, all = TENSORS * EXPERTS;

    start_units(3 * SIZE);
    for (; n < all && cpu_units_admit(&units, n, false, &v); n++)
        units.list[n].state = UNIT_PRESENT;
    ok(n >= 2 * EXPERTS && n <= 3 * EXPERTS,
       "as much is read ahead as there is room for");
    ok(cpu_units_admit(&units, n, true, &v), "what is needed is read anyway");
    for (int i = 0; i < n; i++)
        if (cpu_units_expire(&units, i))
            units.list[i].state = UNIT_ABSENT;
    ok(units.passing <= UNIT, "what passes makes room");
    ok(cpu_units_admit(&units, n + 1, false, &v), "so that more can be read");
}

/* ---- single ids ---------------------------------------------------------- */

static void
test_chosen(void)
{
    int n = 2 * EXPERTS, again = 0;

    start_units((uint64_t)n * UNIT);
    for (int i = 0; i < n; i++)
        use_unit(i, true);
    for (int i = 0; i < n; i++)
        again += use_unit(i, true);
    is(again, 0, "what was chosen stays, as long as there is room");
    use_unit(0, true);
    ok(use_unit(n, true) && units.list[0].state == UNIT_PRESENT &&
           units.list[1].state == UNIT_ABSENT,
       "what was chosen least recently gives way");
    cpu_units_use(&units, 2, true);
    use_unit(n + 1, true);
    ok(units.list[2].state == UNIT_PRESENT &&
           units.list[3].state == UNIT_ABSENT,
       "but not what is used now");
    cpu_units_release(&units, 2);
    scan_units();
    is(units.kept + units.passing <= units.room, 1,
       "a prompt after that keeps to the room");
}

static void
test_whole(void)
{
    struct weight_tensor t = expert_tensor(TENSORS, true);
    int first, again = 0;

    start_units(3 * SIZE);
    first = cpu_units_tensor(&units, &t)->first;
    cpu_units_set_room(&units, 3 * SIZE);
    for (int i = 0; i < EXPERTS; i++)
        use_unit(first + i, false);
    for (int k = 0; k < 3; k++)
        scan_units();
    for (int i = 0; i < EXPERTS; i++)
        again += use_unit(first + i, false);
    is(again, 0, "what every graph needs whole stays");
    ok(units.kept + units.passing <= 2 * SIZE, "and the rest has the rest");
    cpu_units_set_room(&units, SIZE);
    is((long)units.always, 0, "unless it leaves too little");
}

/* ---- all of it ----------------------------------------------------------- */

static uint64_t
count_unit_bytes(void)
{
    uint64_t n = 0;

    for (size_t i = 0; i < units.n; i++)
        n += units.list[i].count != UNIT_UNCOUNTED ? units.list[i].n : 0;
    return n;
}

static void
test_random_uses(void)
{
    bool good = true;
    int all = TENSORS * EXPERTS;

    srand(7);
    start_units(SIZE);
    for (int i = 0; i < 20000 && good; i++) {
        int what = rand() % 1000;

        if (what == 0)
            cpu_units_set_room(&units, (uint64_t)(rand() % (3 * SIZE)));
        else if (what == 1)
            cpu_units_forget(&units);
        else
            use_unit(rand() % all, what % 3 > 0);
        good = count_unit_bytes() == units.kept + units.passing &&
               units.passing == 0;
    }
    ok(good, "bytes are counted");
    for (int i = 0; i < all; i++)
        use_unit(i, true);
    ok(units.kept <= units.room, "and in the end there is room for them");
}

int
main(void)
{
    test_tensors();
    test_scanned();
    test_scanned_part();
    test_at();
    test_withdrawn();
    test_ahead();
    test_chosen();
    test_whole();
    test_random_uses();
    cpu_units_clear(&units);
    return tap_done();
}
