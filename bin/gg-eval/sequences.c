/* sequences.c - what gg-eval remembers of the sequences that it has seen */
#include <config.h>

#include "gg-eval/sequences.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"

enum {
    OVERHEAD = 32, /* what a sequence costs beside its ids, in ids */
};

struct sequences {
    struct gg_engine *engine;
    struct sequence **buckets;
    size_t n_buckets; /* a power of two */
    size_t n;
    struct sequence *newest, *oldest;
    struct sequence *dead; /* but pinned */
    size_t kept, max_ids;
    struct forgotten forgotten;
};

struct sequences *
sequences_new(struct gg_engine *engine, size_t max_ids)
{
    struct sequences *s = cli_alloc(NULL, 1, sizeof(*s));

    *s = (struct sequences){ .engine = engine,
                             .n_buckets = 64,
                             .max_ids = max_ids };
    s->buckets = cli_alloc(NULL, s->n_buckets, sizeof(*s->buckets));
    memset(s->buckets, 0, s->n_buckets * sizeof(*s->buckets));
    return s;
}

/* ---- table by number ---------------------------------------------------- */

static struct sequence **
bucket(const struct sequences *s, uint64_t number)
{
    uint64_t h = number * UINT64_C(0x9e3779b97f4a7c15);

    return &s->buckets[(h ^ h >> 32) & (s->n_buckets - 1)];
}

static struct sequence *
find_sequence(const struct sequences *s, uint64_t number)
{
    struct sequence *q = *bucket(s, number);

    while (q && q->number != number)
        q = q->next;
    return q;
}

static void
insert(struct sequences *s, struct sequence *q)
{
    struct sequence **b = bucket(s, q->number);

    q->next = *b;
    *b = q;
}

static void
grow_table(struct sequences *s)
{
    if (s->n < s->n_buckets)
        return;
    free(s->buckets);
    s->n_buckets *= 2;
    s->buckets = cli_alloc(NULL, s->n_buckets, sizeof(*s->buckets));
    memset(s->buckets, 0, s->n_buckets * sizeof(*s->buckets));
    for (struct sequence *q = s->oldest; q; q = q->newer)
        insert(s, q);
}

/* ---- order of use ------------------------------------------------------- */

static void
unlink_use(struct sequences *s, struct sequence *q)
{
    *(q->newer ? &q->newer->older : &s->newest) = q->older;
    *(q->older ? &q->older->newer : &s->oldest) = q->newer;
}

static void
link_newest(struct sequences *s, struct sequence *q)
{
    q->newer = NULL;
    q->older = s->newest;
    *(s->newest ? &s->newest->newer : &s->oldest) = q;
    s->newest = q;
}

/* ---- birth and death ---------------------------------------------------- */

static struct sequence *
add_sequence(struct sequences *s, uint64_t number)
{
    struct sequence *q = cli_alloc(NULL, 1, sizeof(*q));
    struct gg_error err;

    *q = (struct sequence){ .number = number };
    cli_check(gg_sequence_new(s->engine, &q->its, &err), &err);
    grow_table(s);
    insert(s, q);
    link_newest(s, q);
    s->n++;
    s->kept += OVERHEAD;
    return q;
}

struct sequence *
sequences_use(struct sequences *s, uint64_t number)
{
    struct sequence *q = find_sequence(s, number);

    if (q) {
        unlink_use(s, q);
        link_newest(s, q);
        return q;
    }
    return forgotten_has(&s->forgotten, number) ? NULL
                                                : add_sequence(s, number);
}

static void
bury(struct sequence *q)
{
    gg_sequence_free(q->its);
    free(q);
}

/* It is no longer known by its number. */
static void
destroy(struct sequences *s, struct sequence *q)
{
    struct sequence **b = bucket(s, q->number);

    while (*b != q)
        b = &(*b)->next;
    *b = q->next;
    unlink_use(s, q);
    s->kept -= q->n_counted + OVERHEAD;
    s->n--;
    if (q->pinned) {
        q->next = s->dead;
        s->dead = q;
    } else {
        bury(q);
    }
}

void
sequences_changed(struct sequences *s, struct sequence *q)
{
    size_t n;

    (void)gg_sequence_ids(q->its, &n);
    s->kept = s->kept - q->n_counted + n;
    q->n_counted = n;
    while (s->kept - n > s->max_ids && s->oldest != q) {
        forgotten_add(&s->forgotten, s->oldest->number);
        destroy(s, s->oldest);
    }
}

void
sequences_close(struct sequences *s, uint64_t number)
{
    struct sequence *q = find_sequence(s, number);

    if (q)
        destroy(s, q);
    else
        forgotten_remove(&s->forgotten, number);
}

void
sequences_forget(struct sequences *s, uint64_t first, uint64_t last)
{
    forgotten_append(&s->forgotten, first, last);
}

const struct forgotten *
sequences_forgotten(const struct sequences *s)
{
    return &s->forgotten;
}

struct sequence *
sequences_newest(const struct sequences *s)
{
    return s->newest;
}

struct sequence *
sequences_oldest(const struct sequences *s)
{
    return s->oldest;
}

void
sequences_settle(struct sequences *s)
{
    while (s->dead) {
        struct sequence *q = s->dead;

        s->dead = q->next;
        bury(q);
    }
}

void
sequences_free(struct sequences *s)
{
    sequences_settle(s);
    while (s->oldest)
        destroy(s, s->oldest);
    free(s->buckets);
    forgotten_clear(&s->forgotten);
    free(s);
}
