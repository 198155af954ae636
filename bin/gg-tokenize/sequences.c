/* sequences.c - the numbered sequences whose text is not complete yet */
#include <config.h>

#include "common/cli.h"
#include "gg-tokenize/sequences.h"

#include <stdlib.h>

static struct sequence **
bucket(const struct sequences *all, uint64_t number)
{
    uint64_t h = number * UINT64_C(0x9e3779b97f4a7c15);

    return &all->buckets[(h >> 32) & (all->n_buckets - 1)];
}

static void
put(struct sequences *all, struct sequence *s)
{
    struct sequence **b = bucket(all, s->number);

    s->next = *b;
    *b = s;
}

/* As many buckets as sequences, or more. */
static void
make_buckets(struct sequences *all)
{
    struct sequences old = *all;

    all->n_buckets = old.n_buckets ? 2 * old.n_buckets : 64;
    all->buckets = cli_alloc(NULL, all->n_buckets, sizeof(*all->buckets));
    for (size_t i = 0; i < all->n_buckets; i++)
        all->buckets[i] = NULL;
    for (size_t i = 0; i < old.n_buckets; i++)
        for (struct sequence *s = old.buckets[i], *next; s; s = next) {
            next = s->next;
            put(all, s);
        }
    free(old.buckets);
}

struct sequence *
sequences_open(struct sequences *all, uint64_t number)
{
    struct sequence *s = all->n_buckets ? *bucket(all, number) : NULL;

    while (s && s->number != number)
        s = s->next;
    if (s)
        return s;
    if (all->n == all->n_buckets)
        make_buckets(all);
    s = cli_alloc(NULL, 1, sizeof(*s));
    *s = (struct sequence){ .number = number };
    put(all, s);
    all->n++;
    all->held += sizeof(*s);
    return s;
}

void
sequences_reserve(struct sequences *all, struct sequence *s, size_t n)
{
    size_t cap = s->cap;

    if (n <= s->cap - s->len)
        return;
    while (n > cap - s->len)
        cap = cap ? 2 * cap : 32;
    s->text = cli_alloc(s->text, cap, 1);
    all->held += cap - s->cap;
    s->cap = cap;
}

void
sequences_close(struct sequences *all, struct sequence *s)
{
    struct sequence **p = bucket(all, s->number);

    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    all->n--;
    all->held -= s->cap + sizeof(*s);
    free(s->text);
    free(s);
}

static int
by_number(const void *a, const void *b)
{
    uint64_t x = (*(struct sequence *const *)a)->number;
    uint64_t y = (*(struct sequence *const *)b)->number;

    return (x > y) - (x < y);
}

struct sequence **
sequences_sorted(const struct sequences *all)
{
    struct sequence **sorted = cli_alloc(NULL, all->n + 1, sizeof(*sorted));
    size_t n = 0;

    for (size_t i = 0; i < all->n_buckets; i++)
        for (struct sequence *s = all->buckets[i]; s; s = s->next)
            sorted[n++] = s;
    sorted[n] = NULL;
    qsort(sorted, n, sizeof(struct sequence *), by_number);
    return sorted;
}
