/* sequences.c - what gg-eval remembers of the sequences that it has seen */
#include <config.h>

#include "gg-eval/sequences.h"

#include <stdlib.h>
#include <string.h>

#include "common/cli.h"
#include "common/shift.h"

enum {
    OVERHEAD = 32, /* what a sequence costs beside its ids, in ids */
};

struct slot {
    struct sequence *owner; /* or, NULL: */
    int32_t *ids;           /* what it still holds of one that has ended */
    float *logprobs;        /* theirs, where ids are scored */
    size_t n_ids;
    uint64_t used; /* when */
};

struct sequences {
    struct sequence **buckets;
    size_t n_buckets; /* a power of two */
    size_t n;
    struct sequence *newest, *oldest;
    struct sequence *dead; /* but pinned */
    struct slot *slots;
    int32_t n_slots;
    uint64_t clock; /* of the slots' use */
    size_t kept, max_ids;
    bool scored;
    struct forgotten forgotten;
};

struct sequences *
sequences_new(int32_t n_slots, size_t max_ids, bool scored)
{
    struct sequences *s = cli_alloc(NULL, 1, sizeof(*s));

    *s = (struct sequences){
        .n_buckets = 64,
        .n_slots = n_slots,
        .max_ids = max_ids,
        .scored = scored,
    };
    s->buckets = cli_alloc(NULL, s->n_buckets, sizeof(*s->buckets));
    memset(s->buckets, 0, s->n_buckets * sizeof(*s->buckets));
    s->slots = cli_alloc(NULL, (size_t)n_slots, sizeof(*s->slots));
    memset(s->slots, 0, (size_t)n_slots * sizeof(*s->slots));
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

/* Of those that no sequence owns the empty ones first, then the one that was
 * used least recently; -1: there is none. */
static int32_t
free_slot(const struct sequences *s)
{
    int32_t best = -1;

    for (int32_t i = 0; i < s->n_slots; i++) {
        if (s->slots[i].owner)
            continue;
        if (s->slots[i].n_ids == 0)
            return i;
        if (best < 0 || s->slots[i].used < s->slots[best].used)
            best = i;
    }
    return best;
}

/* Of the sequence that was used least recently, which loses it. */
static int32_t
take_from_owner(struct sequences *s)
{
    struct sequence *loser = s->oldest;
    int32_t slot;

    while (loser->slot < 0 || loser->pinned)
        loser = loser->newer;
    slot = loser->slot;
    loser->slot = -1;
    loser->n_held = 0;
    return slot;
}

void
sequences_take_slot(struct sequences *s, struct sequence *q)
{
    struct slot *slot;

    q->pinned = true;
    if (q->slot >= 0)
        return;
    q->slot = free_slot(s);
    if (q->slot < 0)
        q->slot = take_from_owner(s);
    slot = &s->slots[q->slot];
    free(slot->ids);
    free(slot->logprobs);
    *slot = (struct slot){ .owner = q };
    q->n_held = 0;
}

/* Where q stops, what its slot holds stays until somebody needs the slot. */
static void
leave_slot(struct sequences *s, struct sequence *q)
{
    if (q->slot < 0)
        return;
    s->slots[q->slot] = (struct slot){
        .ids = q->ids,
        .logprobs = q->logprobs,
        .n_ids = q->n_held,
        .used = ++s->clock,
    };
    q->ids = NULL;
    q->logprobs = NULL;
}

/* How many of the first n ids are the same; `least`: fewer count as none. */
static size_t
common_prefix(const int32_t *a, const int32_t *b, size_t n, size_t least)
{
    size_t i = 0;

    if (n < least || (least && a[least - 1] != b[least - 1]))
        return 0;
    while (i < n && a[i] == b[i])
        i++;
    return i < least ? 0 : i;
}

int32_t
sequences_find_prefix(struct sequences *s, const int32_t *ids, size_t n,
                      size_t *common)
{
    int32_t found = -1;

    *common = 0;
    for (int32_t i = 0; i < s->n_slots && *common < n; i++) {
        const struct slot *slot = &s->slots[i];
        const int32_t *its = slot->owner ? slot->owner->ids : slot->ids;
        size_t held = slot->owner ? slot->owner->n_held : slot->n_ids;
        size_t same = common_prefix(its, ids, held < n ? held : n, *common + 1);

        if (same) {
            *common = same;
            found = i;
        }
    }
    if (found >= 0)
        s->slots[found].used = ++s->clock;
    return found;
}

void
sequences_copy_known(struct sequences *s, struct sequence *q, int32_t slot,
                     size_t n)
{
    const struct slot *from = &s->slots[slot];
    const float *its = from->owner ? from->owner->logprobs : from->logprobs;

    if (q->n_known >= n)
        return;
    memcpy(q->logprobs, its, n * sizeof(*its));
    q->n_known = n;
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
bury(struct sequences *s, struct sequence *q)
{
    leave_slot(s, q);
    free(q->ids);
    free(q->logprobs);
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
    s->kept -= q->n_ids + OVERHEAD;
    s->n--;
    if (q->pinned) {
        q->next = s->dead;
        s->dead = q;
    } else {
        bury(s, q);
    }
}

void
sequences_put(struct sequences *s, struct sequence *q, const int32_t *ids,
              size_t n)
{
    if (q->cap - q->n_ids < n) {
        q->cap = 2 * (q->n_ids + n);
        q->ids = cli_alloc(q->ids, q->cap, sizeof(*q->ids));
        if (s->scored)
            q->logprobs = cli_alloc(q->logprobs, q->cap, sizeof(*q->logprobs));
    }
    memcpy(q->ids + q->n_ids, ids, n * sizeof(*ids));
}

void
sequences_add(struct sequences *s, struct sequence *q, size_t n)
{
    q->n_ids += n;
    s->kept += n;
    while (s->kept - q->n_ids > s->max_ids && s->oldest != q) {
        forgotten_add(&s->forgotten, s->oldest->number);
        destroy(s, s->oldest);
    }
}

void
sequences_shift(struct sequences *s, struct sequence *q, size_t kept,
                size_t count)
{
    shift_ids(q->ids, q->n_ids, kept, count);
    q->n_ids -= count;
    q->n_dropped += count;
    q->n_held = q->n_known = 0;
    s->kept -= count;
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
    for (int32_t i = 0; i < s->n_slots; i++) {
        struct sequence *q = s->slots[i].owner;

        if (!q || !q->pinned)
            continue;
        q->pinned = false;
        q->n_held = q->n_ids - s->scored;
        q->n_known = q->n_ids;
    }
    while (s->dead) {
        struct sequence *q = s->dead;

        s->dead = q->next;
        bury(s, q);
    }
}

void
sequences_free(struct sequences *s)
{
    sequences_settle(s);
    while (s->oldest)
        destroy(s, s->oldest);
    for (int32_t i = 0; i < s->n_slots; i++)
        free(s->slots[i].ids), free(s->slots[i].logprobs);
    free(s->slots);
    free(s->buckets);
    forgotten_clear(&s->forgotten);
    free(s);
}
