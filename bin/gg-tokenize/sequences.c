/* sequences.c - the numbered sequences whose text is not written yet */
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
    if (all->n_open == all->n_buckets)
        make_buckets(all);
    s = cli_alloc(NULL, 1, sizeof(*s));
    *s = (struct sequence){ .number = number };
    put(all, s);
    if (all->last)
        all->last->later = s;
    else
        all->first = s;
    all->last = s;
    all->n_open++;
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
sequences_end(struct sequences *all, struct sequence *s)
{
    struct sequence **p = bucket(all, s->number);

    while (*p != s)
        p = &(*p)->next;
    *p = s->next;
    s->ended = true;
    all->n_open--;
}

void
sequences_drop_first(struct sequences *all)
{
    struct sequence *s = all->first;

    all->first = s->later;
    if (!all->first)
        all->last = NULL;
    all->held -= s->cap + sizeof(*s);
    free(s->text);
    free(s);
}
