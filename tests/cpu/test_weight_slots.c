/* test_weight_slots.c - memory for units of weights that only pass: the bytes
 * of a file, and what happens where it ends too early */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu/exec/weight_slots.h"
#include "harness/scratch.h"
#include "harness/tap.h"

enum {
    SIZE = 300001,
    UNIT = 10007,
    UNITS = SIZE / UNIT,
    SLOTS = 7,
};

static char path[SCRATCH_PATH];
static struct file_map map;
static unsigned char bytes[SIZE];

static bool
make_file(void)
{
    int fd;

    strcpy(path, scratch_file("slots"));
    fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0600);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251);
    return fd >= 0 && write(fd, bytes, SIZE) == SIZE && !fsync(fd) &&
           !close(fd) && file_map(path, &map, NULL) == GG_OK;
}

static const char *
unit_at(int i)
{
    return (const char *)map.data + (size_t)i * UNIT;
}

static bool
is_right(const struct weight_slots *s, int slot, int unit)
{
    return memcmp(cpu_slots_at(s, slot, unit_at(unit)),
                  bytes + (size_t)unit * UNIT, UNIT) == 0;
}

static void
test_counts(struct weight_slots *s)
{
    int slots[SLOTS], size = (int)s->size;

    ok(s->n == SLOTS && s->n_free == SLOTS, "as many slots as fit");
    is((long)cpu_slots_used(s), 0, "which take nothing yet");
    for (int i = 0; i < SLOTS; i++)
        slots[i] = cpu_slots_take(s);
    is(cpu_slots_take(s), -1, "no more than there are");
    is((long)cpu_slots_used(s), SLOTS * size, "all are counted");
    cpu_slots_discard(s);
    is((long)cpu_slots_used(s), SLOTS * size, "none goes back in use");
    cpu_slots_make(s, UNIT, 100 * s->size);
    is(s->n, SLOTS, "nor are others made");
    for (int i = 0; i < SLOTS; i++)
        cpu_slots_give(s, slots[i]);
    cpu_slots_discard(s);
    is((long)cpu_slots_used(s), 0, "then they do");
    cpu_slots_give(s, cpu_slots_take(s));
    is((long)cpu_slots_used(s), size, "one is counted again");
    cpu_slots_make(s, UNIT, 3 * s->size);
    is(s->n, 0, "a few are of no use");
    cpu_slots_make(s, UNIT, SLOTS * s->size);
    is(s->n, SLOTS, "others are made");
}

static void
test_bytes(struct weight_slots *s)
{
    bool same = true;
    int slot = 0;

    for (int i = 0; i < UNITS; i++) {
        slot = cpu_slots_take(s);
        same &= cpu_slots_read(s, slot, &map, unit_at(i), UNIT) &&
                is_right(s, slot, i);
        if (i % 3)
            cpu_slots_give(s, slot);
        else if (s->n_free == 0)
            break;
    }
    ok(same, "units are read wherever they begin");
    ok(cpu_slots_read(s, slot, &map, (char *)map.data + SIZE - 5, 5) &&
           memcmp(cpu_slots_at(s, slot, (char *)map.data + SIZE - 5),
                  bytes + SIZE - 5, 5) == 0,
       "and at the end of the file");
}

/* The last unit is missing in part. */
static void
test_cut(struct weight_slots *s)
{
    int slot = cpu_slots_take(s);

    ok(truncate(path, SIZE / 2) == 0 &&
           !cpu_slots_read(s, slot, &map, unit_at(UNITS - 1), UNIT),
       "a file that was cut cannot be read");
    ok(truncate(path, (off_t)UNIT * 5 - 1) == 0 &&
           !cpu_slots_read(s, slot, &map, unit_at(4), UNIT),
       "nor a byte less than a unit");
    ok(cpu_slots_read(s, slot, &map, unit_at(3), UNIT) && is_right(s, slot, 3),
       "what is left can");
}

static void
test_none(void)
{
    struct file_map memory;
    struct weight_slots s;

    if (file_map_memory(SIZE, &memory, NULL) != GG_OK) {
        ok(false, "memory");
        return;
    }
    ok(cpu_slots_init(&s, &memory, 1), "a map of memory");
    cpu_slots_make(&s, UNIT, SIZE);
    ok(!cpu_slots_serve(&s, &memory), "cannot be read");
    cpu_slots_clear(&s);
    file_unmap(&memory);
}

int
main(void)
{
    struct weight_slots s;

    ok(make_file(), "a file");
    ok(cpu_slots_init(&s, &map, 1), "slots");
    ok(!cpu_slots_serve(&s, &map), "none are made yet");
    cpu_slots_make(&s, UNIT, 1);
    size_t size = s.size;
    cpu_slots_make(&s, UNIT, SLOTS * size);
    test_none();
    if (cpu_slots_serve(&s, &map)) {
        test_counts(&s);
        test_bytes(&s);
        cpu_slots_clear(&s);
        cpu_slots_init(&s, &map, 1);
        cpu_slots_make(&s, UNIT, SLOTS * size);
        test_cut(&s);
    }
    cpu_slots_clear(&s);
    ok(!cpu_slots_serve(&s, &map), "none are left");
    file_unmap(&map);
    return tap_done();
}
