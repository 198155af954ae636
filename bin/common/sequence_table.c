/* sequence_table.c - numbered sequences by number, and in an order */
#include <config.h>

#include "common/sequence_table.h"

#include <stdlib.h>

#include "common/cli.h"

/* ---- by number ---------------------------------------------------------- */

static struct numbered **
bucket_of(const struct sequence_table *t, uint64_t number)
{
    uint64_t h = number * UINT64_C(0x9e3779b97f4a7c15);

    return &t->buckets[h >> 32 & (t->n_buckets - 1)];
}

static void
put_in_bucket(const struct sequence_table *t, struct numbered *one)
{
    struct numbered **b = bucket_of(t, one->number);

    one->next = *b;
    *b = one;
}

static void
grow_buckets(struct sequence_table *t)
{
    struct sequence_table old = *t;

    t->n_buckets = old.n_buckets ? 2 * old.n_buckets : 64;
    t->buckets = cli_alloc(NULL, t->n_buckets, sizeof(struct numbered *));
    for (size_t i = 0; i < t->n_buckets; i++)
        t->buckets[i] = NULL;
    for (size_t i = 0; i < old.n_buckets; i++)
        for (struct numbered *one = old.buckets[i], *next; one; one = next) {
            next = one->next;
            put_in_bucket(t, one);
        }
    free(old.buckets);
}

void
sequence_table_clear(struct sequence_table *t)
{
    free(t->buckets);
    *t = (struct sequence_table){ 0 };
}

void *
sequence_table_find(const struct sequence_table *t, uint64_t number)
{
    struct numbered *one = t->n_buckets ? *bucket_of(t, number) : NULL;

    while (one && one->number != number)
        one = one->next;
    return one;
}

void
sequence_table_forget(struct sequence_table *t, struct numbered *one)
{
    struct numbered **p = bucket_of(t, one->number);

    while (*p != one)
        p = &(*p)->next;
    *p = one->next;
    t->n--;
}

/* ---- by age ------------------------------------------------------------- */

void
sequence_table_unlink(struct sequence_table *t, struct numbered *one)
{
    *(one->newer ? &one->newer->older : &t->newest) = one->older;
    *(one->older ? &one->older->newer : &t->oldest) = one->newer;
}

static void
link_newest(struct sequence_table *t, struct numbered *one)
{
    one->newer = NULL;
    one->older = t->newest;
    *(t->newest ? &t->newest->newer : &t->oldest) = one;
    t->newest = one;
}

void
sequence_table_touch(struct sequence_table *t, struct numbered *one)
{
    sequence_table_unlink(t, one);
    link_newest(t, one);
}

void
sequence_table_add(struct sequence_table *t, struct numbered *one)
{
    if (t->n == t->n_buckets)
        grow_buckets(t);
    put_in_bucket(t, one);
    link_newest(t, one);
    t->n++;
}
