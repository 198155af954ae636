/* forgotten.c - a set of numbers in bounded memory */
#include <config.h>

#include "gg-eval/forgotten.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

/* The first interval that ends at `number` or after it. */
static size_t
find(const struct forgotten *f, uint64_t number)
{
    size_t from = 0, to = f->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (f->list[middle].last < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool
forgotten_has(const struct forgotten *f, uint64_t number)
{
    size_t i = find(f, number);

    return i < f->n && f->list[i].first <= number;
}

static void
remove_at(struct forgotten *f, size_t i)
{
    f->n--;
    memmove(&f->list[i], &f->list[i + 1], (f->n - i) * sizeof(*f->list));
}

static void
insert_at(struct forgotten *f, size_t i, struct interval new)
{
    if (!f->list)
        f->list = cli_alloc(NULL, FORGOTTEN_MAX + 1, sizeof(*f->list));
    memmove(&f->list[i + 1], &f->list[i], (f->n - i) * sizeof(*f->list));
    f->list[i] = new;
    f->n++;
}

/* Joins interval i with the one after it. */
static void
join(struct forgotten *f, size_t i)
{
    f->list[i].last = f->list[i + 1].last;
    remove_at(f, i + 1);
}

static void
join_closest(struct forgotten *f)
{
    size_t best = 0;
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i + 1 < f->n; i++) {
        uint64_t gap = f->list[i + 1].first - f->list[i].last;

        if (gap < least) {
            least = gap;
            best = i;
        }
    }
    join(f, best);
}

void
forgotten_add(struct forgotten *f, uint64_t number)
{
    size_t i = find(f, number);

    if (i > 0 && f->list[i - 1].last + 1 == number) {
        f->list[--i].last = number;
        if (i + 1 < f->n && f->list[i + 1].first == number + 1)
            join(f, i);
    } else if (i < f->n && f->list[i].first - 1 == number) {
        f->list[i].first = number;
    } else {
        insert_at(f, i, (struct interval){ number, number });
        if (f->n > FORGOTTEN_MAX)
            join_closest(f);
    }
}

void
forgotten_append(struct forgotten *f, uint64_t first, uint64_t last)
{
    insert_at(f, f->n, (struct interval){ first, last });
    if (f->n > FORGOTTEN_MAX)
        join_closest(f);
}

void
forgotten_remove(struct forgotten *f, uint64_t number)
{
    size_t i = find(f, number);
    struct interval *v;

    if (!forgotten_has(f, number))
        return;
    v = &f->list[i];
    if (v->first == v->last) {
        remove_at(f, i);
    } else if (v->first == number) {
        v->first++;
    } else if (v->last == number) {
        v->last--;
    } else if (f->n < FORGOTTEN_MAX) {
        insert_at(f, i, (struct interval){ v->first, number - 1 });
        f->list[i + 1].first = number + 1;
    }
}

void
forgotten_clear(struct forgotten *f)
{
    free(f->list);
    *f = (struct forgotten){ 0 };
}
