/* sequences.c - what has to be remembered of numbered sequences */
#include <config.h>

#include "gg-sample/sequences.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

/* The index of the first range that ends at `number` or behind it. */
static size_t
find(const struct ranges *set, uint64_t number)
{
    size_t low = 0, high = set->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (set->r[middle].last < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool
ranges_have(const struct ranges *set, uint64_t number)
{
    size_t i = find(set, number);

    return i < set->n && set->r[i].first <= number;
}

static void
insert(struct ranges *set, size_t i, struct range range)
{
    if (set->n == set->cap) {
        set->cap = set->cap ? 2 * set->cap : 16;
        set->r = cli_alloc(set->r, set->cap, sizeof(*set->r));
    }
    memmove(set->r + i + 1, set->r + i, (set->n - i) * sizeof(*set->r));
    set->r[i] = range;
    set->n++;
}

static void
drop(struct ranges *set, size_t i)
{
    set->n--;
    memmove(set->r + i, set->r + i + 1, (set->n - i) * sizeof(*set->r));
}

void
ranges_add(struct ranges *set, uint64_t number)
{
    size_t i = find(set, number);
    bool before, behind;

    if (i < set->n && set->r[i].first <= number)
        return;
    before = i > 0 && set->r[i - 1].last + 1 == number;
    behind = i < set->n && set->r[i].first - 1 == number;
    if (before && behind) {
        set->r[i - 1].last = set->r[i].last;
        drop(set, i);
    } else if (before) {
        set->r[i - 1].last = number;
    } else if (behind) {
        set->r[i].first = number;
    } else {
        insert(set, i, (struct range){ number, number });
    }
}

void
ranges_remove(struct ranges *set, uint64_t number)
{
    size_t i = find(set, number);
    struct range *r;

    if (i == set->n || set->r[i].first > number)
        return;
    r = &set->r[i];
    if (r->first == r->last) {
        drop(set, i);
    } else if (r->first == number) {
        r->first++;
    } else if (r->last == number) {
        r->last--;
    } else {
        struct range front = { r->first, number - 1 };

        r->first = number + 1;
        insert(set, i, front);
    }
}

/* Where the sequence's count is, or belongs. */
static size_t
probe(const struct counts *c, uint64_t sequence)
{
    size_t i = (size_t)((sequence * UINT64_C(0x9e3779b97f4a7c15)) >> 32);

    for (i &= c->mask; c->slots[i].used && c->slots[i].sequence != sequence;)
        i = (i + 1) & c->mask;
    return i;
}

static void
grow(struct counts *c)
{
    struct counts bigger = { .mask = c->slots ? 2 * c->mask + 1 : 63 };
    size_t bytes = (bigger.mask + 1) * sizeof(*bigger.slots);

    bigger.slots = memset(cli_alloc(NULL, bytes, 1), 0, bytes);
    for (size_t i = 0; c->slots && i <= c->mask; i++)
        if (c->slots[i].used)
            bigger.slots[probe(&bigger, c->slots[i].sequence)] = c->slots[i];
    bigger.used = c->used;
    free(c->slots);
    *c = bigger;
}

struct count *
counts_of(struct counts *c, uint64_t sequence)
{
    struct count *slot;

    if (!c->slots || c->used > c->mask / 2)
        grow(c);
    slot = &c->slots[probe(c, sequence)];
    if (!slot->used) {
        *slot = (struct count){ .sequence = sequence, .used = true };
        c->used++;
    }
    return slot;
}

void
counts_remove(struct counts *c, uint64_t sequence)
{
    size_t i;

    if (!c->slots)
        return;
    i = probe(c, sequence);
    if (!c->slots[i].used)
        return;
    gg_history_free(c->slots[i].history);
    c->slots[i].used = false;
    c->used--;
    /* Those behind that had to give way to it go to where they belong. */
    for (i = (i + 1) & c->mask; c->slots[i].used; i = (i + 1) & c->mask) {
        struct count moved = c->slots[i];

        c->slots[i].used = false;
        c->slots[probe(c, moved.sequence)] = moved;
    }
}

void
sequences_clear(struct sequences *s)
{
    struct counts *c = &s->counts;

    for (size_t i = 0; c->slots && i <= c->mask; i++)
        if (c->slots[i].used)
            gg_history_free(c->slots[i].history);
    free(s->ended.r);
    free(s->passed.r);
    free(c->slots);
    *s = (struct sequences){ 0 };
}
