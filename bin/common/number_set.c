/* number_set.c - a set of numbers, kept as ranges */
#include <config.h>

#include "common/number_set.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

/* The first range that ends at `number` or after it. */
static size_t
find_range(const struct number_set *set, uint64_t number)
{
    size_t from = 0, to = set->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (set->list[middle].last < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool
number_set_has(const struct number_set *set, uint64_t number)
{
    size_t i = find_range(set, number);

    return i < set->n && set->list[i].first <= number;
}

static void
remove_range(struct number_set *set, size_t i)
{
    set->n--;
    memmove(&set->list[i], &set->list[i + 1],
            (set->n - i) * sizeof(*set->list));
}

static void
insert_range(struct number_set *set, size_t i, uint64_t first, uint64_t last)
{
    if (set->n == set->cap) {
        set->cap = 2 * set->cap + 16;
        set->list = cli_alloc(set->list, set->cap, sizeof(*set->list));
    }
    memmove(&set->list[i + 1], &set->list[i],
            (set->n - i) * sizeof(*set->list));
    set->list[i] = (struct gg_state_range){ first, last };
    set->n++;
}

/* Range i with the one after it. */
static void
join_ranges(struct number_set *set, size_t i)
{
    set->list[i].last = set->list[i + 1].last;
    remove_range(set, i + 1);
}

static void
keep_limit(struct number_set *set)
{
    size_t best = 0;
    uint64_t least = UINT64_MAX;

    if (set->max == 0 || set->n <= set->max)
        return;
    for (size_t i = 0; i + 1 < set->n; i++) {
        uint64_t gap = set->list[i + 1].first - set->list[i].last;

        if (gap < least) {
            least = gap;
            best = i;
        }
    }
    join_ranges(set, best);
}

void
number_set_add(struct number_set *set, uint64_t number)
{
    size_t i = find_range(set, number);

    if (i < set->n && set->list[i].first <= number)
        return;
    if (i > 0 && set->list[i - 1].last + 1 == number) {
        set->list[--i].last = number;
        if (i + 1 < set->n && set->list[i + 1].first == number + 1)
            join_ranges(set, i);
    } else if (i < set->n && set->list[i].first - 1 == number) {
        set->list[i].first = number;
    } else {
        insert_range(set, i, number, number);
        keep_limit(set);
    }
}

void
number_set_append(struct number_set *set, uint64_t first, uint64_t last)
{
    insert_range(set, set->n, first, last);
    keep_limit(set);
}

void
number_set_remove(struct number_set *set, uint64_t number)
{
    size_t i = find_range(set, number);
    struct gg_state_range *r;

    if (!number_set_has(set, number))
        return;
    r = &set->list[i];
    if (r->first == r->last) {
        remove_range(set, i);
    } else if (r->first == number) {
        r->first++;
    } else if (r->last == number) {
        r->last--;
    } else if (set->max == 0 || set->n < set->max) {
        insert_range(set, i, r->first, number - 1);
        set->list[i + 1].first = number + 1;
    }
}

void
number_set_clear(struct number_set *set)
{
    free(set->list);
    *set = (struct number_set){ .max = set->max };
}
