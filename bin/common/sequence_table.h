/* sequence_table.h - numbered sequences by number, and in an order
 *
 * The sequences are their owner's, and each begins with a struct numbered. */
#ifndef COMMON_SEQUENCE_TABLE_H
#define COMMON_SEQUENCE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct numbered {
    uint64_t number;
    struct numbered *next;          /* of the same bucket */
    struct numbered *older, *newer; /* by appearance, or last use */
};

/* All zero: it is empty. */
struct sequence_table {
    struct numbered **buckets;
    size_t n_buckets; /* a power of two */
    size_t n;         /* sequences that are known by their numbers */
    struct numbered *oldest, *newest;
};

/* Its sequences are not touched. */
void
sequence_table_clear(struct sequence_table *t);

/* NULL: there is none of that number. */
void *
sequence_table_find(const struct sequence_table *t, uint64_t number);

/* Adds one whose number is new; it is the newest. */
void
sequence_table_add(struct sequence_table *t, struct numbered *one);

/* It becomes the newest. */
void
sequence_table_touch(struct sequence_table *t, struct numbered *one);

/* It is no longer known by its number, which is free, and keeps its place in
 * the order. */
void
sequence_table_forget(struct sequence_table *t, struct numbered *one);

/* It has no place in the order any more. */
void
sequence_table_unlink(struct sequence_table *t, struct numbered *one);

#endif
