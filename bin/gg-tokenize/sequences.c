/* sequences.c - the numbered sequences whose text is not written yet */
#include <config.h>

#include "common/cli.h"
#include "gg-tokenize/sequences.h"

#include <stdlib.h>

struct sequence *
sequences_first(const struct sequences *all)
{
    return (struct sequence *)all->table.oldest;
}

struct sequence *
sequences_open(struct sequences *all, uint64_t number)
{
    struct sequence *s = sequence_table_find(&all->table, number);

    if (s)
        return s;
    s = cli_alloc(NULL, 1, sizeof(*s));
    *s = (struct sequence){ .key.number = number };
    sequence_table_add(&all->table, &s->key);
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
    sequence_table_forget(&all->table, &s->key);
    s->ended = true;
}

void
sequences_drop_first(struct sequences *all)
{
    struct sequence *s = sequences_first(all);

    sequence_table_unlink(&all->table, &s->key);
    all->held -= s->cap + sizeof(*s);
    free(s->text);
    free(s);
}
