/* sequences.c - what gg-eval remembers of the sequences that it has seen */
#include <config.h>

#include "gg-eval/sequences.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "gg-eval/forgotten.h"

enum {
    OVERHEAD = 32, /* what a sequence costs beside its ids, in ids */
};

struct sequences {
    struct sequence **buckets;
    size_t n_buckets; /* a power of two */
    size_t n;
    struct sequence *newest, *oldest;
    struct sequence **owners; /* of the slots */
    int32_t n_slots;
    size_t kept, max_ids;
    struct forgotten forgotten;
};

struct sequences *
sequences_new(int32_t n_slots, size_t max_ids)
{
    struct sequences *s = cli_alloc(NULL, 1, sizeof(*s));

    *s = (struct sequences){
        .n_buckets = 64,
        .n_slots = n_slots,
        .max_ids = max_ids,
    };
    s->buckets = cli_alloc(NULL, s->n_buckets, sizeof(*s->buckets));
    memset(s->buckets, 0, s->n_buckets * sizeof(*s->buckets));
    s->owners = cli_alloc(NULL, (size_t)n_slots, sizeof(*s->owners));
    memset(s->owners, 0, (size_t)n_slots * sizeof(*s->owners));
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

/* ---- slots -------------------------------------------------------------- */

void
sequences_drop_slot(struct sequences *s, struct sequence *q)
{
    if (q->slot >= 0)
        s->owners[q->slot] = NULL;
    q->slot = -1;
}

void
sequences_take_slot(struct sequences *s, struct sequence *q)
{
    struct sequence *loser = s->oldest;
    int32_t slot = 0;

    if (q->slot >= 0)
        return;
    while (slot < s->n_slots && s->owners[slot])
        slot++;
    if (slot == s->n_slots) {
        while (loser->slot < 0) /* q, without one, is the newest of all */
            loser = loser->newer;
        slot = loser->slot;
        sequences_drop_slot(s, loser);
    }
    q->slot = slot;
    s->owners[slot] = q;
}

/* ---- birth and death ---------------------------------------------------- */

struct sequence *
sequences_use(struct sequences *s, uint64_t number)
{
    struct sequence *q = find_sequence(s, number);

    if (q) {
        unlink_use(s, q);
        link_newest(s, q);
        return q;
    }
    if (forgotten_has(&s->forgotten, number))
        return NULL;
    grow_table(s);
    q = cli_alloc(NULL, 1, sizeof(*q));
    *q = (struct sequence){ .number = number, .slot = -1 };
    insert(s, q);
    link_newest(s, q);
    s->n++;
    s->kept += OVERHEAD;
    return q;
}

static void
destroy(struct sequences *s, struct sequence *q)
{
    struct sequence **b = bucket(s, q->number);

    while (*b != q)
        b = &(*b)->next;
    *b = q->next;
    unlink_use(s, q);
    sequences_drop_slot(s, q);
    s->kept -= q->n_ids + OVERHEAD;
    s->n--;
    free(q->ids);
    free(q);
}

void
sequences_add_ids(struct sequences *s, struct sequence *q, const int32_t *ids,
                  size_t n)
{
    if (q->cap - q->n_ids < n) {
        q->cap = 2 * (q->n_ids + n);
        q->ids = cli_alloc(q->ids, q->cap, sizeof(*q->ids));
    }
    memcpy(q->ids + q->n_ids, ids, n * sizeof(*ids));
    q->n_ids += n;
    s->kept += n;
    while (s->kept - q->n_ids > s->max_ids && s->oldest != q) {
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
sequences_free(struct sequences *s)
{
    while (s->oldest)
        destroy(s, s->oldest);
    free(s->buckets);
    free(s->owners);
    forgotten_clear(&s->forgotten);
    free(s);
}
