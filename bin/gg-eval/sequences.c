/* sequences.c - what gg-eval remembers of the sequences that it has seen */
#include <config.h>

#include "gg-eval/sequences.h"

#include <stdlib.h>

#include "common/engine.h"

enum {
    OVERHEAD = 32,        /* cost of a sequence besides its ids, in ids */
    MAX_FORGOTTEN = 16384 /* ranges of numbers */
};

void
sequences_init(struct sequences *s, struct gg_engine *engine, size_t max_ids)
{
    *s = (struct sequences){ .engine = engine,
                             .max_ids = max_ids,
                             .forgotten.max = MAX_FORGOTTEN };
}

static struct sequence *
add_sequence(struct sequences *s, uint64_t number)
{
    struct sequence *q = cli_alloc(NULL, 1, sizeof(*q));
    struct gg_error err;

    *q = (struct sequence){ .key.number = number };
    cli_check(gg_sequence_new(s->engine, &q->its, &err), &err);
    sequence_table_add(&s->table, &q->key);
    s->kept += OVERHEAD;
    return q;
}

struct sequence *
sequences_use(struct sequences *s, uint64_t number)
{
    struct sequence *q = sequence_table_find(&s->table, number);

    if (q) {
        sequence_table_touch(&s->table, &q->key);
        return q;
    }
    return number_set_has(&s->forgotten, number) ? NULL
                                                 : add_sequence(s, number);
}

static void
free_sequence(struct sequence *q)
{
    gg_sequence_free(q->its);
    free(q);
}

/* It is no longer known by its number. */
static void
destroy(struct sequences *s, struct sequence *q)
{
    sequence_table_forget(&s->table, &q->key);
    sequence_table_unlink(&s->table, &q->key);
    s->kept -= q->n_counted + OVERHEAD;
    if (q->pinned) {
        q->key.next = s->dead;
        s->dead = &q->key;
    } else {
        free_sequence(q);
    }
}

void
sequences_changed(struct sequences *s, struct sequence *q)
{
    size_t n = engine_count_ids(q->its);

    s->kept = s->kept - q->n_counted + n;
    q->n_counted = n;
    while (s->kept - n > s->max_ids && s->table.oldest != &q->key) {
        number_set_add(&s->forgotten, s->table.oldest->number);
        destroy(s, (struct sequence *)s->table.oldest);
    }
}

void
sequences_close(struct sequences *s, uint64_t number)
{
    struct sequence *q = sequence_table_find(&s->table, number);

    if (q)
        destroy(s, q);
    else
        number_set_remove(&s->forgotten, number);
}

void
sequences_settle(struct sequences *s)
{
    while (s->dead) {
        struct numbered *q = s->dead;

        s->dead = q->next;
        free_sequence((struct sequence *)q);
    }
}

void
sequences_clear(struct sequences *s)
{
    sequences_settle(s);
    while (s->table.oldest)
        destroy(s, (struct sequence *)s->table.oldest);
    sequence_table_clear(&s->table);
    number_set_clear(&s->forgotten);
}
